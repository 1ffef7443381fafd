// ClockSync: measures the differences between the clocks of the ranks, for traces with times of
// single calls.
//
//   hosts    A: ranks 0 1 2 3     B: ranks 4 5 6 7     C: ranks 8 9
//            0 <------------------ 4                              round trips, shortest of some
//            0 <------------------------------------- 8
//            each tells the others of its host
//
// Where all ranks run on one system (boot and time namespace tell), there is one clock, and nothing
// is asked. Else ranks of a host share a clock, so only one of each takes part; these ask each
// other along a binomial tree: log2(hosts) rounds, and an error that grows as their sum. MPI may
// report two hosts that are one system with one clock; they count as one clock unless a round trip
// contradicts. Measured at the end of MPI_Init and in MPI_Finalize, and between the two by
// ClockRounds on request. The drift of a clock is assumed to be constant between two measurements.
// After the papers that Pilgrim, section 3.2, cites.
//
// Laws: collective over a communicator of all, called where all ranks are; an MPI error costs the
// correction, not the program. Under SMPI all ranks have one clock, and nothing is measured.
#pragma once

#include <cstdint>

#include "mpi_runtime/clocks/clock.h"
#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

// A moment: what the clock of this rank said, in ticks, and that of rank 0, in ns.
struct ClockReading {
  uint64_t ticks = 0;
  int64_t common_ns = 0;
};

struct ClockComms;
struct RankComm;

class ClockSync {
 public:
  // Finds out who is on which host. `rank`: its place among the ranks of its host. `has_rounds`:
  // ClockRounds will ask for comms().
  void start(const RankComm& all, int rank, bool has_rounds);
  ClockReading measure(const Clock& clock);
  // Before MPI ends.
  void stop();

  // The clock of this rank, which is so far behind rank 0's.
  static ClockReading read(const Clock& clock, int64_t offset);
  // Null: not started, or there is one clock for all.
  const ClockComms* comms() const { return comms_; }

 private:
  ClockComms* comms_ = nullptr;  // ours, until stop()
};

// Whether ranks may have clocks that differ: not those of a simulation.
#ifdef REFRAIN_SMPI
inline constexpr bool kHasManyClocks = false;
#else
inline constexpr bool kHasManyClocks = true;
#endif

}  // namespace refrain::mpi_runtime
