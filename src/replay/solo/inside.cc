// Messages within a group of ranks that runs together: posted again as they were, and completed
// where the trace says that they were complete.

#include "replay/solo/inside.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <string>
#include <thread>

#include "mpi/call_ids.h"
#include "replay/solo/files.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using events::Action;
using mpi::BufferInfo;
using mpi::ParamKind;

constexpr size_t kMostShadows = 1000;  // MPICH has about 2000 contexts
constexpr size_t kMostAhead = 1 << 16;
constexpr std::chrono::milliseconds kTimeToBeRead{200};
constexpr int kTags = 32000;  // every MPI has as many

}  // namespace

void* find_behind(const char* name) { return dlsym(RTLD_NEXT, name); }

// ---- begin and end ----

void Player::open_group(Rank first, Rank last) {
  if (trace_->locations(options_.rank).size() > 1)
    end(5, "rank " + std::to_string(options_.rank) +
               " has several threads that call MPI: it cannot run in a group");
  inside_ = new Inside(*trace_, *reader_, first, last);  // as long as the process
}

// A process that only exits leaves it to chance whether the launcher's status is its own: MPICH's
// may say 0. A launcher that ends a job drops what it has not read yet from the ranks, so the line
// that says why has a moment to get through.
void Player::abort_group(int status) const {
  if (!inside_->is_running) return;
  std::this_thread::sleep_for(kTimeToBeRead);
  REFRAIN_BEHIND(Abort)(MPI_COMM_WORLD, status);
}

// The program's MPI_Init.
void Player::start_group() {
  const OwnFiles own;
  Inside& in = *inside_;
  int given = 0, size = 0;
  if (REFRAIN_BEHIND(Init_thread)(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given) != MPI_SUCCESS)
    end(1, "the MPI of the group could not be started");
  in.is_running = true;
  REFRAIN_BEHIND(Comm_size)(MPI_COMM_WORLD, &size);
  if (size != in.last - in.first + 1)
    end(2, "the job has " + std::to_string(size) + " processes, --group names " +
               std::to_string(in.last - in.first + 1) + " ranks: start as many");
  MPI_Group world = MPI_GROUP_NULL;
  REFRAIN_BEHIND(Comm_group)(MPI_COMM_WORLD, &world);
  // In the order of their definitions, which is the same on all ranks: so none waits for another.
  for (DefinitionId id = DefinitionId(0); id < trace_->definition_count();
       id = DefinitionId(id + 1)) {
    auto original = trace_->communicator(id, options_.rank);
    if (!original || original->is_inter || original->me < 0) continue;
    if (in.shadows.size() >= kMostShadows)
      end(5, "rank " + std::to_string(options_.rank) + " has more than " +
                 std::to_string(kMostShadows) + " communicators: it cannot run in a group");
    Shadow& shadow = in.shadows[id];
    std::vector<int> ranks;
    for (uint64_t i = 0; i < original->size(); ++i)
      if (const Rank r = original->member(static_cast<int64_t>(i)); in.has(r)) {
        shadow.members.push_back(r);
        ranks.push_back(static_cast<int>(r - in.first));
      }
    shadow.is_whole = shadow.members.size() == original->size();
    shadow.original = std::move(*original);
    MPI_Group members = MPI_GROUP_NULL;
    REFRAIN_BEHIND(Group_incl)(world, static_cast<int>(ranks.size()), ranks.data(), &members);
    REFRAIN_BEHIND(Comm_create_group)
    (MPI_COMM_WORLD, members, static_cast<int>(uint32_t{id} % kTags), &shadow.comm);
    REFRAIN_BEHIND(Comm_set_errhandler)(shadow.comm, MPI_ERRORS_RETURN);
    REFRAIN_BEHIND(Group_free)(&members);
  }
  REFRAIN_BEHIND(Group_free)(&world);
}

void Player::end_group() {
  if (!inside_->is_running) return;
  const OwnFiles own;
  for (const auto& request : inside_->pending)
    REFRAIN_BEHIND(Wait)(&request->request, MPI_STATUS_IGNORE);
  REFRAIN_BEHIND(Finalize)();
  inside_->is_running = false;
}

// ---- what a call names ----

namespace {

int index_of(const mpi::CallInfo& info, std::string_view name) {
  for (size_t i = 0; i < info.params.size(); ++i)
    if (info.params[i].name == name) return static_cast<int>(i);
  return -1;
}

// The rank in the shadow; -1: outside of the group.
int shadow_rank(const Shadow& shadow, Rank world_rank) {
  const auto at = std::find(shadow.members.begin(), shadow.members.end(), world_rank);
  return at == shadow.members.end() ? -1 : static_cast<int>(at - shadow.members.begin());
}

}  // namespace

// The buffer that the call sends from or receives into.
std::optional<RealEnd> Player::end_at(const Frame& frame, bool sends) {
  for (const BufferInfo& buffer : frame.meaning.buffers) {
    if (buffer.param < 0 || !(sends ? buffer.is_read : buffer.is_written)) continue;
    RealEnd out;
    out.at = frame.given.address<std::byte>(static_cast<size_t>(buffer.param));
    if (buffer.type_param < 0) return std::nullopt;
    const mpi::TypeMap* const type =
        type_of(frame.given.key(static_cast<size_t>(buffer.type_param)));
    if (type == nullptr) return std::nullopt;
    out.type = *type;
    const int64_t count =
        buffer.count_param < 0 ? 1 : frame.given.number(static_cast<size_t>(buffer.count_param));
    out.count = count > 0 ? static_cast<uint64_t>(count) : 0;
    if (out.bytes() > INT_MAX)
      end(5, "a message within the group has " + std::to_string(out.bytes()) +
                 " bytes: at most 2147483647 can be sent again");
    return out;
  }
  return std::nullopt;
}

const Shadow* Player::shadow_of(const Frame& frame) const {
  const int at = index_of(frame.info, "comm");
  if (at < 0) return nullptr;
  const Value& comm = frame.value(static_cast<size_t>(at)).at_entry();
  return comm.is_object() ? inside_->shadow(comm.definition()) : nullptr;
}

// What a receive took that is complete later: its source in the communicator, and its tag. Nothing:
// it took nothing.
std::optional<std::pair<int64_t, int64_t>> Player::taken_later(const Frame& frame,
                                                               SignatureId request) {
  uint32_t others = inside_->open[request];  // that were posted before it, and end before it
  for (size_t i = 0; i < kMostAhead && fill(frame.thread, i + 1); ++i) {
    const events::Op& op = inside_->decoder.op(*frame.thread.ahead[i].signature);
    if (op.action != Action::kComplete) continue;
    for (const events::RequestUse& use : op.requests) {
      if (use.request != request || others-- > 0) continue;
      if (!use.has_message) return std::nullopt;
      return std::pair(use.source, use.tag);
    }
  }
  return std::nullopt;
}

// ---- messages ----

void Player::post(RealRequest& r) {
  const OwnFiles own;
  const RealEnd& e = r.end;
  const auto bytes = static_cast<size_t>(e.bytes());
  const bool is_copied = !e.type.is_flat() || (r.sends && e.is_buffered);
  if (is_copied) {
    r.packed.resize(bytes);
    if (r.sends) e.type.pack(e.at, e.count, r.packed);
  }
  void* const at = is_copied ? r.packed.data() : e.at;
  const int n = static_cast<int>(bytes);
  if (!r.sends)
    REFRAIN_BEHIND(Irecv)(at, n, MPI_BYTE, e.peer, e.tag, e.comm, &r.request);
  else if (e.is_synchronous)
    REFRAIN_BEHIND(Issend)(at, n, MPI_BYTE, e.peer, e.tag, e.comm, &r.request);
  else
    REFRAIN_BEHIND(Isend)(at, n, MPI_BYTE, e.peer, e.tag, e.comm, &r.request);
}

void Player::wait_for(RealRequest& r) {
  if (r.request == MPI_REQUEST_NULL) return;
  const OwnFiles own;
  MPI_Status status;
  const int rc = REFRAIN_BEHIND(Wait)(&r.request, &status);
  if (r.sends || r.packed.empty() || rc != MPI_SUCCESS) return;
  int came = 0;
  REFRAIN_BEHIND(Get_count)(&status, MPI_BYTE, &came);
  if (came > 0)
    r.end.type.unpack(std::span<const std::byte>(r.packed).first(static_cast<size_t>(came)),
                      r.end.count, r.end.at);
}

// A message to a rank of the group, or from one, on its shadow; null: it is none.
std::shared_ptr<RealRequest> Player::real_message(const Frame& frame, const Shadow* shadow,
                                                  const events::MessageEnd& with, bool sends) {
  if (shadow == nullptr || with.peer == events::kAny) return nullptr;
  const int peer = shadow_rank(*shadow, with.peer);
  if (peer < 0) return nullptr;
  auto found = end_at(frame, sends);
  if (!found) return nullptr;
  auto out = std::make_shared<RealRequest>();
  out->end = std::move(*found);
  out->end.comm = shadow->comm;
  out->end.peer = peer;
  out->end.tag = static_cast<int>(with.tag);
  out->end.is_synchronous = with.is_synchronous;
  out->end.is_buffered = with.is_buffered;
  out->sends = sends;
  return out;
}

// What a receive takes whose call does not say it.
void Player::force(Frame& frame, const Shadow* shadow, SignatureId request,
                   events::MessageEnd& with) {
  if (with.is_known() || shadow == nullptr) return;
  with.peer = events::kNobody;
  if (const auto taken = taken_later(frame, request)) {
    with.peer = shadow->original.peer(taken->first);
    with.tag = taken->second;
    ++inside_->open[request];
  }
}

// A request of the program keeps it; a call that waits for it does so. A send from a buffer of the
// program's is pending until the end.
void Player::begin(Frame& frame, const std::shared_ptr<RealRequest>& real, bool makes_request) {
  if (real == nullptr) return;
  frame.is_inside = true;
  Object* const request = makes_request
                              ? request_at(frame, static_cast<size_t>(frame.plan->request_param), 0)
                              : nullptr;
  if (request != nullptr) request->inside = real;
  if (frame.plan->info->persistent) return;  // when it is started
  post(*real);
  if (real->end.is_buffered && real->sends)
    inside_->pending.push_back(real);
  else if (request == nullptr)
    wait_for(*real);
}

void Player::start_again(const Frame& frame, const events::Op& op) {
  const auto param = static_cast<size_t>(frame.plan->request_param);
  for (size_t k = 0; k < op.requests.size(); ++k) {
    Object* const request = request_at(frame, param, k);
    if (request == nullptr || request->inside == nullptr) continue;
    RealRequest& real = *request->inside;
    post(real);
    if (!real.sends || !real.end.is_buffered) continue;
    inside_->pending.push_back(std::make_shared<RealRequest>(std::move(real)));
    real = RealRequest();
    real.end = inside_->pending.back()->end;
    real.sends = true;
  }
}

// What is sent and received by one call: the send may not wait for the receive of another rank
// that sends first as well.
void Player::exchange(Frame& frame, const events::Op& op, const Shadow* shadow) {
  auto sent = real_message(frame, shadow, op.send, true);
  if (sent != nullptr) {
    if (frame.meaning.plain == mpi::kMPI_Sendrecv_replace) sent->end.is_buffered = true;  // a copy
    post(*sent);
  }
  begin(frame, real_message(frame, shadow, op.receive, false), op.makes_request);
  if (sent == nullptr) return;
  if (op.makes_request)
    inside_->pending.push_back(sent);
  else
    wait_for(*sent);
}

// ---- one call ----

void Player::complete_inside(const Frame& frame) {
  const Plan& plan = *frame.plan;
  if (plan.request_param < 0) return;
  const auto param = static_cast<size_t>(plan.request_param);
  const auto settle = [&](size_t k) {
    Object* const request = request_at(frame, param, k);
    if (request == nullptr || request->inside == nullptr) return;
    wait_for(*request->inside);
    if (auto open = inside_->open.find(SignatureId(static_cast<uint32_t>(request->number)));
        open != inside_->open.end() && request->inside->is_open && open->second > 0)
      --open->second;
  };
  if (plan.meaning->plain == mpi::kMPI_Request_free) {
    Object* const request = request_at(frame, param, 0);
    if (request != nullptr && request->inside != nullptr)
      inside_->pending.push_back(request->inside);
    return;
  }
  if (plan.completes) {
    for (const size_t k : plan.finished) settle(k);
  } else if (frame.info.id == mpi::kMPI_Request_get_status) {
    for (const size_t k : finished(*frame.signature, frame.info, param)) settle(k);
  }
}

void Player::call_inside(Frame& frame) {
  const CallId id = frame.info.id;
  if (id == mpi::kMPI_Init || id == mpi::kMPI_Init_thread) return start_group();
  if (id == mpi::kMPI_Finalize) return end_group();
  if (!inside_->is_running) return;
  const events::Op& op = inside_->decoder.op(*frame.signature);
  const Shadow* const shadow = shadow_of(frame);
  switch (op.action) {
    case Action::kSend:
      if (!op.is_partitioned)
        begin(frame, real_message(frame, shadow, op.send, true), op.makes_request);
      return;
    case Action::kReceive: {
      if (op.is_partitioned) return;
      events::MessageEnd with = op.receive;
      const bool is_forced = !with.is_known() && op.makes_request;
      // Each start of a persistent receive could take another message: what the log lacks of it is
      // said when it is complete.
      if (is_forced && op.is_persistent) return;
      if (is_forced) force(frame, shadow, frame.signature->id, with);
      const auto real = real_message(frame, shadow, with, false);
      if (real != nullptr) real->is_open = is_forced;
      return begin(frame, real, op.makes_request);
    }
    case Action::kSendReceive: return exchange(frame, op, shadow);
    case Action::kMatchedProbe:
      if (op.message_object >= 0)
        inside_->taken[op.message_object] = {shadow, op.receive.peer, op.receive.tag};
      return;
    case Action::kMatchedReceive: {
      const auto taken = inside_->taken.find(op.message_object);
      if (taken == inside_->taken.end()) return;
      events::MessageEnd with;
      with.peer = taken->second.source;
      with.tag = taken->second.tag;
      return begin(frame, real_message(frame, taken->second.shadow, with, false), op.makes_request);
    }
    case Action::kStart: return start_again(frame, op);
    case Action::kCancel: {
      Object* const request = request_at(frame, static_cast<size_t>(frame.plan->request_param), 0);
      const OwnFiles own;
      if (request != nullptr && request->inside != nullptr &&
          request->inside->request != MPI_REQUEST_NULL)
        REFRAIN_BEHIND(Cancel)(&request->inside->request);
      return;
    }
    case Action::kCollective:
      if (shadow != nullptr && shadow->is_whole && frame.ok()) collective_inside(frame, *shadow);
      return;
    default: return complete_inside(frame);
  }
}

}  // namespace refrain::replay::solo
