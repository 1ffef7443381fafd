// ClockRounds: comparisons of the clocks while the program runs, for `record --clock-interval`.
// They correct clocks whose drift changes.
//
//   a call ends that all ranks count --the round's number--> rank 0 says along the tree: measure or
//                                          not, and after which of these calls the next round is
//
// times/round_calls.h selects the calls that all ranks count alike. Rank 0 decides, and its answer
// also says at which call the next round is. There are about kRoundsPerInterval rounds per
// interval.
//
// Laws: uses only the communicators of ClockSync, with a tag of its own. A rank takes part in a
// round inside a call that all other ranks have entered. If a rank does not come within kPatienceNs
// (it counts differently, because its recording was paused or has ended), the ranks that waited
// take part in no further round; MPI_Finalize still measures.
#pragma once

#include <cstdint>
#include <mutex>

#include "mpi_runtime/clocks/clock_sync.h"
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
