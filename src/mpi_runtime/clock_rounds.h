// ClockRounds: the clocks of the ranks compared while the program runs, for `record
// --clock-interval`: clocks that run unevenly are set right in between as well.
//
//   a call ends that all ranks count --the round's number--> rank 0 says along the tree: measure or
//                                          not, and after which of these calls the next round is
//
// Which calls all ranks count alike is for the caller to say: see times/round_calls.h. Who has
// decided tells the others when to listen next. Rounds are asked for about kRoundsPerInterval times
// in an interval.
//
// Laws: own communicators only (those of ClockSync), with a tag of its own; who has come to a round
// is inside of a call that all others have come to. All the same nobody waits for ever: where a
// rank does not come within kPatienceNs (it counts differently, because its recording was paused or
// has ended), whoever waited takes part in no further round, and MPI_Finalize measures as ever.
#pragma once

#include <cstdint>
#include <mutex>

#include "mpi_runtime/clock_sync.h"
#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

class ClockRounds {
 public:
  explicit ClockRounds(uint64_t interval_ns) : interval_ns_(interval_ns) {}

  bool is_on() const { return kHasManyClocks && interval_ns_ > 0; }
  uint64_t interval_ns() const { return interval_ns_; }
  // No further rounds.
  bool is_over();
  enum class Outcome : uint8_t { kNothing, kMeasured, kNotAllCame };
  // Behind a call that all ranks count. kMeasured: `reading` says what.
  Outcome call_counted(const Clock& clock, const ClockSync& sync, ClockReading* reading);
  // Messages that nobody waited for; before the communicators go.
  static void drain(const ClockSync& sync);

 private:
  friend class ClockRound;
  struct Message {
    uint64_t round = 0, next = 0;
    int64_t value = 0;
    uint64_t kind = 0;
  };
  enum Kind : uint64_t { kVerdict = 1, kPing = 2, kLastPing = 3, kPong = 4, kOffset = 5 };
  Message decide(uint64_t now_ns);

  const uint64_t interval_ns_;
  std::mutex mutex_;
  bool is_over_ = false;
  uint64_t count_ = 0, next_ = 1;
  // Rank 0: the last round, and the last one that measured.
  uint64_t round_count_ = 0, round_ns_ = 0, measured_ns_ = 0;
};

}  // namespace refrain::mpi_runtime
