// One-sided communication and files in OTF2.
//
// An access is complete where MPI says so: at the flush, unlock, fence or complete behind it, not
// where its call returns.

#include <algorithm>
#include <string_view>

#include "convert/otf2_events.h"
#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::convert {

using events::argument;

namespace {

// -1: none, or all.
int64_t target_of(const Signature& call, std::string_view name) {
  return argument(call, name).integer_or(-1);
}

OTF2_LockType lock_type(const Signature& call) {
  return argument(call, "lock_type").name() == "MPI_LOCK_EXCLUSIVE" ? OTF2_LOCK_EXCLUSIVE
                                                                    : OTF2_LOCK_SHARED;
}

bool makes_window(CallId call) {
  const mpi::CallMeaning& meaning = mpi::meaning_of(call);
  return meaning.flow == mpi::Flow::kWindow && meaning.does_any(mpi::kDoesMake);
}

bool flushes(CallId call) {
  return call == mpi::kMPI_Win_flush || call == mpi::kMPI_Win_flush_local ||
         call == mpi::kMPI_Win_flush_all || call == mpi::kMPI_Win_flush_local_all;
}

// `plain`: the function without a request.
OTF2_RmaAtomicType atomic_type(CallId plain) {
  switch (plain) {
    case mpi::kMPI_Compare_and_swap: return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
    case mpi::kMPI_Fetch_and_op: return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD;
    case mpi::kMPI_Get_accumulate: return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
    default: return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
  }
}

OTF2_IoAccessMode access_mode(const Value& amode) {
  bool reads = false, writes = false;
  for (const Value& bit : amode.items) {
    reads = reads || bit.name() == "MPI_MODE_RDONLY" || bit.name() == "MPI_MODE_RDWR";
    writes = writes || bit.name() == "MPI_MODE_WRONLY" || bit.name() == "MPI_MODE_RDWR";
  }
  return reads && writes ? OTF2_IO_ACCESS_MODE_READ_WRITE
         : writes        ? OTF2_IO_ACCESS_MODE_WRITE_ONLY
                         : OTF2_IO_ACCESS_MODE_READ_ONLY;
}

}  // namespace

uint64_t OtfEvents::bytes_of(SignatureId call) {
  uint64_t sum = 0;
  for (const events::Transfer& transfer : transfers_.transfers(call))
    sum = events::add(sum, transfer.bytes);
  return sum;
}

void OtfEvents::complete_accesses(OTF2_EvtWriter* out, uint64_t ns, Window& window,
                                  int64_t target) {
  const auto is_done = [&](const std::pair<uint64_t, int64_t>& open) {
    if (target >= 0 && open.second != target) return false;
    check(OTF2_EvtWriter_RmaOpCompleteNonBlocking(out, nullptr, ns, window.id, open.first));
    return true;
  };
  window.open.erase(std::remove_if(window.open.begin(), window.open.end(), is_done),
                    window.open.end());
}

void OtfEvents::access(OTF2_EvtWriter* out, const events::Event& call, Window& window) {
  const CallId plain = mpi::plain_call(call.call->call);
  const int64_t target = target_of(*call.call, "target_rank");
  const auto remote = static_cast<uint32_t>(target);
  const uint64_t bytes = bytes_of(call.call->id), id = next_match_++;
  window.open.emplace_back(id, target);
  if (plain == mpi::kMPI_Put)
    check(OTF2_EvtWriter_RmaPut(out, nullptr, call.begin_ns, window.id, remote, bytes, id));
  else if (plain == mpi::kMPI_Get)
    check(OTF2_EvtWriter_RmaGet(out, nullptr, call.begin_ns, window.id, remote, bytes, id));
  else
    check(OTF2_EvtWriter_RmaAtomic(out, nullptr, call.begin_ns, window.id, remote,
                                   atomic_type(plain), bytes,
                                   call.call->find("result_addr") != nullptr ? bytes : 0, id));
}

void OtfEvents::enter_window(OTF2_EvtWriter* out, const events::Event& call) {
  const CallId plain = mpi::plain_call(call.call->call);
  const auto known = windows_.find(argument(*call.call, "win").number);
  if (known == windows_.end() || !argument(*call.call, "win").is_object()) return;
  Window& window = known->second;
  const int64_t target = target_of(*call.call, "target_rank");
  if (target >= 0) return access(out, call, window);
  if (plain == mpi::kMPI_Win_fence)
    check(OTF2_EvtWriter_RmaCollectiveBegin(out, nullptr, call.begin_ns));
  if (plain == mpi::kMPI_Win_lock)
    check(OTF2_EvtWriter_RmaRequestLock(out, nullptr, call.begin_ns, window.id,
                                        static_cast<uint32_t>(target_of(*call.call, "rank")), 0,
                                        lock_type(*call.call)));
  if (plain == mpi::kMPI_Win_post || plain == mpi::kMPI_Win_start)
    job_.not_held("epochs of MPI_Win_post and MPI_Win_start: their groups");
}

void OtfEvents::leave_window(OTF2_EvtWriter* out, const events::Event& call) {
  const CallId plain = mpi::plain_call(call.call->call);
  const uint64_t ns = call.end_ns;
  if (makes_window(plain)) {
    const Value* made = call.call->find("win");
    if (made == nullptr || !made->at_exit().is_object()) return;
    Window window;
    window.comm = view(*call.call, "comm");
    uint64_t& count = windows_made_[{window.comm.key, window.comm.is_self}];
    window.id = definitions_.window(window.comm, call.rank, count++);
    check(OTF2_EvtWriter_RmaWinCreate(out, nullptr, ns, window.id));
    windows_[made->at_exit().number] = std::move(window);
    return;
  }
  const auto known = windows_.find(argument(*call.call, "win").number);
  if (known == windows_.end() || !argument(*call.call, "win").is_object()) return;
  Window& window = known->second;
  const int64_t target = target_of(*call.call, "rank");
  const auto remote = static_cast<uint32_t>(target);
  if (plain == mpi::kMPI_Win_fence) {
    complete_accesses(out, ns, window, -1);
    check(OTF2_EvtWriter_RmaCollectiveEnd(out, nullptr, ns, OTF2_COLLECTIVE_OP_BARRIER,
                                          OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY,
                                          window.id, OTF2_UNDEFINED_UINT32, 0, 0));
  } else if (plain == mpi::kMPI_Win_lock) {
    check(OTF2_EvtWriter_RmaAcquireLock(out, nullptr, ns, window.id, remote, 0,
                                        lock_type(*call.call)));
  } else if (plain == mpi::kMPI_Win_unlock) {
    complete_accesses(out, ns, window, target);
    check(OTF2_EvtWriter_RmaReleaseLock(out, nullptr, ns, window.id, remote, 0));
  } else if (plain == mpi::kMPI_Win_complete || flushes(plain) ||
             plain == mpi::kMPI_Win_unlock_all) {
    complete_accesses(
        out, ns, window,
        plain == mpi::kMPI_Win_flush || plain == mpi::kMPI_Win_flush_local ? target : -1);
  } else if (plain == mpi::kMPI_Win_free) {
    complete_accesses(out, ns, window, -1);
    check(OTF2_EvtWriter_RmaWinDestroy(out, nullptr, ns, window.id));
    windows_.erase(known);
  }
}

void OtfEvents::enter_file(OTF2_EvtWriter* out, const events::Event& call) {
  const mpi::CallMeaning& meaning = mpi::meaning_of(call.call->call);
  const auto known = files_.find(argument(*call.call, "fh").number);
  if (known == files_.end() || !argument(*call.call, "fh").is_object()) return;
  if (call.call->call == mpi::kMPI_File_close)
    check(OTF2_EvtWriter_IoDestroyHandle(out, nullptr, call.begin_ns, known->second));
  if (mpi::find_call(call.call->call)->traffic != mpi::Traffic::kIo) return;
  const bool writes = meaning.buffers[0].is_read;  // what the program hands in
  const bool is_collective = meaning.does_any(mpi::kDoesCollective);
  const bool is_nonblocking = call.call->find("request") != nullptr;
  if (is_nonblocking)
    job_.not_held("nonblocking accesses to files: complete where they were begun");
  check(OTF2_EvtWriter_IoOperationBegin(
      out, nullptr, call.begin_ns, known->second,
      writes ? OTF2_IO_OPERATION_MODE_WRITE : OTF2_IO_OPERATION_MODE_READ,
      is_nonblocking  ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING
      : is_collective ? OTF2_IO_OPERATION_FLAG_COLLECTIVE
                      : OTF2_IO_OPERATION_FLAG_NONE,
      bytes_of(call.call->id), call.seq));
}

void OtfEvents::leave_file(OTF2_EvtWriter* out, const events::Event& call) {
  const mpi::CallInfo* info = mpi::find_call(call.call->call);
  if (call.call->call == mpi::kMPI_File_open) {
    const Value* made = call.call->find("fh");
    const Value* name = call.call->find("filename");
    if (made == nullptr || name == nullptr || !made->at_exit().is_object()) return;
    const OTF2_IoHandleRef id = definitions_.file(view(*call.call, "comm"), name->text);
    files_[made->at_exit().number] = id;
    check(OTF2_EvtWriter_IoCreateHandle(out, nullptr, call.end_ns, id,
                                        access_mode(argument(*call.call, "amode")),
                                        OTF2_IO_CREATION_FLAG_NONE, OTF2_IO_STATUS_FLAG_NONE));
    return;
  }
  const auto known = files_.find(argument(*call.call, "fh").number);
  if (known == files_.end() || !argument(*call.call, "fh").is_object()) return;
  if (info->traffic == mpi::Traffic::kIo)
    check(OTF2_EvtWriter_IoOperationComplete(out, nullptr, call.end_ns, known->second,
                                             bytes_of(call.call->id), call.seq));
  if (call.call->call == mpi::kMPI_File_close) files_.erase(known);
}

}  // namespace refrain::convert
