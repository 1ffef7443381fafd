// Requests: what completes them and asks for them.
//
// A test that failed is made with requests that never end in the place of those that are open, and
// one that succeeded waits first. Of several requests the recorded ones are completed: again the
// others are replaced for the call.

#include <algorithm>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/objects/stand_ins.h"
#include "replay/objects/with_nobody.h"
#include "replay/quiet.h"
#include "replay/reissue.h"
#include "replay/threads/touches.h"

namespace refrain::replay {
namespace {

MPI_Request request_of(uint64_t key) { return mpi_runtime::handle_of<MPI_Request>(key); }

int requests_at(const mpi::CallInfo& info) {
  for (size_t i = 0; i < info.params.size(); ++i)
    if (info.params[i].kind == mpi::ParamKind::kRequest) return static_cast<int>(i);
  return -1;
}

bool names_some(CallId plain) {
  return plain == mpi::kMPI_Waitany || plain == mpi::kMPI_Testany || plain == mpi::kMPI_Waitsome ||
         plain == mpi::kMPI_Testsome;
}

// Another request of the call has failed, and this one was left as it was.
bool is_pending(const Signature& s, size_t i) {
  const Value* const statuses = s.find("array_of_statuses");
  if (!s.failed() || statuses == nullptr) return false;
  const Value status = statuses->at_exit().at(i);
  return status.kind == ValueKind::kStatus && status.source().is_null();
}

}  // namespace

MPI_Comm Engine::own_comm() {
  if (quiet_self_ == 0) {
    MPI_Comm own = MPI_COMM_NULL;
    REFRAIN_QUIET(MPI_Comm_dup)(MPI_COMM_SELF, &own);
    quiet_self_ = mpi_runtime::handle_key(own);
  }
  return mpi_runtime::handle_of<MPI_Comm>(quiet_self_);
}

// A receive that nobody sends to, on a communicator of the engine's own.
uint64_t Engine::endless(size_t i) {
  while (endless_.size() <= i) {
    MPI_Request request = MPI_REQUEST_NULL;
    REFRAIN_QUIET(MPI_Irecv)(nullptr, 0, MPI_BYTE, 0, 0, own_comm(), &request);
    endless_.push_back(mpi_runtime::handle_key(request));
  }
  return endless_[i];
}

base::Status Engine::end_endless() {
  for (const uint64_t key : endless_) {
    MPI_Request request = request_of(key);
    REFRAIN_QUIET(MPI_Cancel)(&request);
    REFRAIN_QUIET(MPI_Wait)(&request, MPI_STATUS_IGNORE);
  }
  endless_.clear();
  end_partitioned();
  if (empty_info_ != 0) {
    auto info = mpi_runtime::handle_of<MPI_Info>(empty_info_);
    REFRAIN_QUIET(MPI_Info_free)(&info);
    empty_info_ = 0;
  }
  if (quiet_self_ == 0) return base::Done{};
  auto own = mpi_runtime::handle_of<MPI_Comm>(quiet_self_);
  REFRAIN_QUIET(MPI_Comm_free)(&own);
  quiet_self_ = 0;
  return base::Done{};
}

// A request that is complete: a receive from nobody.
uint64_t Engine::complete_one() {
  MPI_Request request = MPI_REQUEST_NULL;
  REFRAIN_QUIET(MPI_Irecv)(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, own_comm(), &request);
  return mpi_runtime::handle_key(request);
}

base::Status Engine::wait_quietly(uint64_t key) {
  int flag = 0;
  while (flag == 0) {
    if (REFRAIN_QUIET(MPI_Request_get_status)(request_of(key), &flag, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
      return base::Done{};
    if (flag == 0) yield();
  }
  return base::Done{};
}

std::vector<Engine::Waited> Engine::waited_for(const Frame& frame) {
  std::vector<Waited> out;
  const int at = requests_at(frame.info);
  if (at < 0) return out;
  const auto add = [&](const Value& value) {
    Waited one;
    one.is_unknown = value.kind == ValueKind::kRequest;
    if (Request* const known = find_request(value); known != nullptr) {
      one.id = value.request_signature();
      one.request = known;
      one.is_unknown = false;
    }
    out.push_back(one);
  };
  const Value& value = events::argument(frame.signature, at);
  if (value.is_array())
    value.for_each([&](const Value& element) { add(element.at_entry()); });
  else if (!frame.info.params[static_cast<size_t>(at)].is_array)
    add(value);
  return out;
}

void Engine::release(const Waited& waited) {
  if (waited.request == nullptr) return;
  if (waited.request->is_persistent)
    waited.request->is_active = false;
  else
    made_with(request_thing(waited.id)).requests.erase(waited.id);
}

base::Status Engine::complete(Frame& frame) {
  const std::vector<Waited> waited = waited_for(frame);
  bool flag = false;
  const std::vector<size_t> done = completed(frame.signature, waited.size(), flag);
  const bool is_all =
      frame.meaning.plain == mpi::kMPI_Waitall || frame.meaning.plain == mpi::kMPI_Wait;
  const bool is_wait = frame.meaning.how == mpi::How::kWaits;
  const bool asks_only = frame.meaning.does_any(mpi::kDoesLocal);
  const int at = requests_at(frame.info);
  if (at < 0) return call(frame);
  Slot& slot = frame.arguments->slot(static_cast<size_t>(at));
  const auto put = [&](size_t i, uint64_t key) {
    if (slot.numbers.empty())
      slot.number = static_cast<int64_t>(key);
    else
      slot.numbers[i] = static_cast<int64_t>(key);
  };
  WithNobody with_nobody;
  // A call that found nothing to wait for: requests that it named were complete before (SMPI leaves
  // those of sends their handles).
  const bool has_found_none = flag && done.empty() && !asks_only && !frame.signature.failed();
  std::vector<uint8_t> is_done(waited.size());
  for (const size_t i : done) is_done[i] = 1;
  for (size_t i = 0; i < waited.size(); ++i) {
    if (has_found_none) {
      put(i, null_request());
    } else if (waited[i].is_unknown) {
      // The call that made it is not in the trace.
      put(i, is_done[i] != 0 ? complete_one() : endless(i));
      ++counts_.masked;
    } else if (waited[i].request == nullptr) {
      put(i, null_request());
    } else if (is_done[i] != 0) {
      if (!is_wait || !is_all)
        if (auto good = wait_quietly(waited[i].request->key); !good.ok()) return good;
      if (waited[i].request->has_nobody && names_some(frame.meaning.plain) &&
          !WithNobody::are_named(own_comm()))
        put(i, with_nobody.stand_for(waited[i].request->key, own_comm()));
    } else if (waited[i].request->is_active && !(frame.signature.failed() && is_all)) {
      put(i, endless(i));
      slot.is_address = false;
      ++counts_.masked;
    }
  }
  if (const Value* const status = frame.signature.find("status"); status != nullptr) {
    const Value &source = status->at_exit().source(), &tag = status->at_exit().tag();
    const auto from = number_of(frame, source), which = number_of(frame, tag);
    if (!source.is_null() && from.ok()) made_status_.MPI_SOURCE = static_cast<int>(*from);
    if (!tag.is_null() && which.ok()) made_status_.MPI_TAG = static_cast<int>(*which);
  }
  if (auto good = call(frame); !good.ok()) return good;
  note_statuses(frame);
  if (asks_only) return base::Done{};
  for (const size_t i : done) {
    if (!is_pending(frame.signature, i))
      release(waited[i]);
    else if (waited[i].request != nullptr && !slot.is_address)  // another MPI may have ended it
      waited[i].request->key = slot.read_key(i);
  }
  return base::Done{};
}

}  // namespace refrain::replay
