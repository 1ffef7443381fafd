// HeldCalls: calls that wait in a queue until the size of a message is known.
//
//   MPI_Irecv --hold--> queue of the location --head decided--> grammar, spool (or left out)
//   MPI_Wait  --bytes of the message-----------^
//
// The size of a nonblocking receive is not known when it is posted. With the filter by size, its
// call waits until the message has arrived. All later calls of the location wait as well, which
// keeps them in order; an unsuccessful test follows the receives that it asked for. If no call
// waits, a call with a known size is recorded at once.
//
// Laws: used under the filter by size only. Thread safe: one thread may complete what another one
// posted, and then decides about a call in its queue; only the location's own thread moves calls
// out of it, and the last one in MPI_Finalize. The lock here is taken before Process::Guard. The
// queue is bounded: beyond that the oldest receive that waits is kept, and counted.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/trace_data.h"
#include "mpi/call_table.h"

namespace refrain::tracer {

class Process;
struct Location;
struct RequestEntry;

enum class Verdict : uint8_t { kUndecided, kKept, kDropped };

// A call, or the same one several times in a row: a program may ask a million times whether a
// message is there. Of these the sum of the durations is exact, and the least and the greatest one.
struct HeldCall {
  uint64_t count = 1;
  uint64_t sum_ticks = 0, min_ticks = 0, max_ticks = 0;
  // Begin and duration of each, where the times of calls or gaps are kept; else empty.
  std::vector<std::pair<uint64_t, uint64_t>> times;
  const RequestEntry* receive = nullptr;  // that this call began
  uint32_t signature = 0;                 // index of Process::left_out
  uint32_t waits_for = 0;                 // receives that are not decided
  mpi::CallId call = 0;
  Verdict verdict = Verdict::kKept;
  bool outermost = false;

  // Visits begin, or 0, and duration of each.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [begin, ticks] : times) visit(begin, ticks);
    if (!times.empty()) return;
    if (count > 1) visit(0, min_ticks);
    for (uint64_t i = 2; i < count; ++i)
      visit(0, (sum_ticks - min_ticks - max_ticks) / (count - 2));
    visit(0, max_ticks);
  }
};

class HeldCalls {
 public:
  // At most that many of a location.
  explicit HeldCalls(size_t limit) : limit_(limit) {}

  // ---- receives ----
  // A receive is under way, from `call` on. `posted`: bytes it has room for, 0 when not known.
  void begin(const RequestEntry* receive, mpi::CallId call, uint64_t posted);
  // Whether it is one whose size decides.
  bool knows(const RequestEntry* request) const;
  // kKept when it is not.
  Verdict verdict(const RequestEntry* receive) const;
  uint64_t posted(const RequestEntry* receive) const;
  // Nothing when it is decided already.
  void decide(const RequestEntry* receive, Verdict verdict);
  // Its size will never be known: it is kept, and counted.
  void give_up(const RequestEntry* receive);
  // It is over.
  void end(const RequestEntry* receive);

  // ---- calls ----
  // What the call under way waits for; its push() takes it. `begins`: it begins these receives.
  void wait_for(const Location& location, std::vector<const RequestEntry*> receives, bool begins);
  // The same for the request that the call is about to make, with room for so many bytes.
  void will_receive(const Location& location, uint64_t posted);
  // The call itself. `made`: its request, if it has made one.
  void push(Location& location, HeldCall call, const RequestEntry* made);
  // Moves on what is decided. True: nothing is held any more.
  bool flush(Location& location);
  // All that is left, as nobody will decide about it. No thread may record meanwhile.
  void flush_all(Process& process);

  // A call is kept though its message's size is not known.
  void count_unknown(mpi::CallId call);
  void add_losses(std::vector<format::LossRecord>& losses, int rank) const;

 private:
  struct Follower {
    uint32_t thread;
    uint64_t number;
  };
  struct Receive {
    uint64_t posted = 0;
    mpi::CallId call = 0;
    Verdict verdict = Verdict::kUndecided;
    std::vector<Follower> followers;
  };
  struct Queue {
    std::deque<HeldCall> calls;
    uint64_t first = 0;  // number of the first one
    uint64_t held = 0;   // calls, repeated ones included
    // Of the call under way.
    std::vector<const RequestEntry*> waits_for;
    bool begins = false, will_receive = false;
    uint64_t posted = 0;
  };

  // All with the lock held.
  Queue& queue_of(const Location& location);
  void begin_locked(const RequestEntry* receive, mpi::CallId call, uint64_t posted);
  void decide_locked(const RequestEntry* receive, Verdict verdict);
  void give_up_locked(const RequestEntry* receive);
  void tell(const Follower& follower, Verdict verdict);
  void judge(HeldCall& call, const std::vector<const RequestEntry*>& receives) const;
  static bool join(HeldCall& last, const HeldCall& call);
  void keep_unknown(HeldCall& call);
  void move_on(Location& location, Queue& queue);

  const size_t limit_;
  mutable std::mutex mutex_;
  std::unordered_map<const RequestEntry*, Receive> receives_;
  std::vector<std::unique_ptr<Queue>> queues_;  // by number of the thread
  std::unordered_map<mpi::CallId, uint64_t> unknown_;
};

}  // namespace refrain::tracer
