// Persistent receives from anybody: each start asks for the message that the recorded one took.
//
// A persistent request has one source and one tag for all of its starts. So beside one that asks
// for anybody stand others, made past a recorder when they are first needed: one for each source
// and tag that starts of it took. A start starts that one, and the recorder is told that the
// request has another handle now.
#include <algorithm>
#include <climits>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/objects/with_nobody.h"
#include "replay/quiet.h"

namespace refrain::replay {
namespace {

// Of MPI_Recv_init.
enum InitPlace : size_t { kBufAt, kCountAt, kTypeAt, kSourceAt, kTagAt, kCommAt };

}  // namespace

// The call has made `request`.
void Engine::note_anybody(const Frame& frame, Request& request) {
  const CallId id = frame.info.id;
  const events::MessageEnd& end = frame.staged.op->receive;
  if ((id != mpi::kMPI_Recv_init && id != mpi::kMPI_Recv_init_c) || end.is_known() ||
      end.peer == events::kNobody)
    return;
  const Arguments& a = *frame.arguments;
  auto anybody = std::make_unique<RankState::Anybody>();
  anybody->buffer = a.slot(kBufAt).address;
  anybody->count = a.slot(kCountAt).number;
  anybody->source = static_cast<int>(a.slot(kSourceAt).number);
  anybody->tag = static_cast<int>(a.slot(kTagAt).number);
  anybody->comm = static_cast<uint64_t>(a.slot(kCommAt).number);
  const Value& comm = events::argument(frame.signature, static_cast<int>(kCommAt));
  if (comm.is_object() && predefined(comm.definition()) == 0)
    anybody->comm_name = object_key(mpi::ParamKind::kComm, comm);
  // The program may free its datatype now.
  MPI_Datatype type = MPI_DATATYPE_NULL;
  REFRAIN_QUIET(MPI_Type_dup)
  (mpi_runtime::handle_of<MPI_Datatype>(static_cast<uint64_t>(a.slot(kTypeAt).number)), &type);
  anybody->type = mpi_runtime::handle_key(type);
  anybody->current = {anybody->source, anybody->tag};
  anybody->made[anybody->current] = request.key;
  request.anybody = std::move(anybody);
}

// 0: cannot be made any more, as the communicator is no longer there.
uint64_t Engine::receive_from(RankState::Anybody& all, int source, int tag) {
  const auto known = all.made.find({source, tag});
  if (known != all.made.end()) return known->second;
  if (all.comm_name) {
    const auto& objects = made_with(*all.comm_name).objects;
    const auto comm = objects.find(*all.comm_name);
    if (comm == objects.end() || comm->second != all.comm) return 0;
  }
  const auto type = mpi_runtime::handle_of<MPI_Datatype>(all.type);
  const auto comm = mpi_runtime::handle_of<MPI_Comm>(all.comm);
  MPI_Request request = MPI_REQUEST_NULL;
  int rc = MPI_ERR_COUNT;
  if (all.count <= INT_MAX)
    rc = REFRAIN_QUIET(MPI_Recv_init)(all.buffer, static_cast<int>(all.count), type, source, tag,
                                      comm, &request);
#if MPI_VERSION >= 4
  else
    rc = REFRAIN_QUIET(MPI_Recv_init_c)(all.buffer, static_cast<MPI_Count>(all.count), type, source,
                                        tag, comm, &request);
#endif
  if (rc != MPI_SUCCESS) return 0;
  return all.made[{source, tag}] = mpi_runtime::handle_key(request);
}

void Engine::ask_for_recorded(const Frame& frame, const Waited& started) {
  Request& request = *started.request;
  RankState::Anybody& all = *request.anybody;
  std::pair<int, int> wanted = {all.source, all.tag};
  const auto& taken = frame.staged.taken;
  const auto found = std::find_if(taken.begin(), taken.end(), [&](const events::RequestUse& use) {
    return use.request == started.id;
  });
  int64_t source = 0, tag = 0;
  if (found != taken.end())
    wanted = {static_cast<int>(found->source), static_cast<int>(tag_of(found->tag))};
  else if (taken_by_another(frame, started.id, source, tag))
    wanted = {static_cast<int>(source), static_cast<int>(tag)};
  else if (!state_.has_threads && frame.staged.open == 0)
    wanted.second = static_cast<int>(unused_tag());  // it took nothing: it was cancelled
  const uint64_t key = receive_from(all, wanted.first, wanted.second);
  if (key == 0) return;
  all.current = wanted;
  ++counts_.masked;
  if (key == request.key) return;
  tell_handle(request.key, key);
  request.key = key;
}

// The program frees a request: the one of its handles that is in use is freed by that call.
void Engine::let_others_go(Request& request) {
  if (request.anybody == nullptr) return;
  for (const auto& [which, key] : request.anybody->made) {
    if (which == request.anybody->current) continue;
    auto other = mpi_runtime::handle_of<MPI_Request>(key);
    REFRAIN_QUIET(MPI_Request_free)(&other);
  }
  auto type = mpi_runtime::handle_of<MPI_Datatype>(request.anybody->type);
  REFRAIN_QUIET(MPI_Type_free)(&type);
  request.anybody.reset();
}

base::Status Engine::start_requests(Frame& frame) {
  const std::vector<Waited> waited = waited_for(frame);
  const auto requests = std::find_if(
      frame.info.params.begin(), frame.info.params.end(),
      [](const mpi::ParamInfo& param) { return param.kind == mpi::ParamKind::kRequest; });
  for (size_t i = 0; i < waited.size() && requests != frame.info.params.end(); ++i) {
    const Waited& one = waited[i];
    if (one.request == nullptr) continue;
    if (one.request->is_active && !frame.signature.failed()) end_if_complete(one.request->key);
    if (one.request->anybody == nullptr) continue;
    ask_for_recorded(frame, one);
    Slot& slot = frame.arguments->slot(static_cast<size_t>(requests - frame.info.params.begin()));
    const auto key = static_cast<int64_t>(one.request->key);
    if (slot.numbers.empty())
      slot.number = key;
    else if (i < slot.numbers.size())
      slot.numbers[i] = key;
  }
  // Those that a filter left out are not there, and MPI starts no null handle: others that end at
  // once stand for them.
  std::vector<MPI_Request> idle;
  for (size_t i = 0; i < waited.size() && requests != frame.info.params.end(); ++i) {
    Slot& slot = frame.arguments->slot(static_cast<size_t>(requests - frame.info.params.begin()));
    if (waited[i].request != nullptr || i >= slot.numbers.size()) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    REFRAIN_QUIET(MPI_Send_init)(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, own_comm(), &request);
    slot.numbers[i] = static_cast<int64_t>(mpi_runtime::handle_key(request));
    idle.push_back(request);
  }
  if (auto good = call(frame); !good.ok()) return good;
  for (MPI_Request& request : idle) {
    REFRAIN_QUIET(MPI_Wait)(&request, MPI_STATUS_IGNORE);
    REFRAIN_QUIET(MPI_Request_free)(&request);
  }
  for (const Waited& one : waited)
    if (one.request != nullptr) one.request->is_active = true;
  return base::Done{};
}

}  // namespace refrain::replay
