// ClockSync: how far the clocks of the ranks are apart, for traces with the time of single calls.
//
//   hosts    A: ranks 0 1 2 3     B: ranks 4 5 6 7     C: ranks 8 9
//            0 <------------------ 4                              round trips, shortest of some
//            0 <------------------------------------- 8
//            each tells the others of its host
//
// Ranks of a host share a clock, so only one of each takes part; these ask each other along a
// binomial tree: log2(hosts) rounds, and an error that grows as their sum. What MPI takes for two
// hosts may be one system all the same: its clock is one, if no round trip says otherwise. Measured
// at the end of MPI_Init and in MPI_Finalize, and between the two by ClockRounds, if that is
// wanted: from one to the next a clock is taken to run evenly, which is what its drift is. After
// the papers that Pilgrim section 3.2 names for it.
//
// Laws: collective over Process::comm, called where all ranks are; an MPI error costs the
// correction, not the program. Under SMPI all ranks have one clock, and nothing is measured.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace refrain::tracer {

class Process;

// A moment: what the clock of this rank said, in ticks, and that of rank 0, in ns.
struct ClockReading {
  uint64_t ticks = 0;
  int64_t common_ns = 0;
};

class ClockSync {
 public:
  // Finds out who is on which host.
  void start(Process& process);
  ClockReading measure(Process& process);
  // Before MPI ends.
  void stop();

  // The clock of this rank, which is so far behind rank 0's.
  static ClockReading read(const Process& process, int64_t offset);
  // The ranks that share a clock, the first of them first, and the first of each host, rank 0
  // first: null where there are none, or where this is not the first one.
  MPI_Comm host() const { return host_; }
  MPI_Comm leaders() const { return leaders_; }
  // Of a leader: it and the one that it asks run on one system. Known after start().
  bool is_on_system_of_server() const { return is_on_system_of_server_; }

 private:
  int64_t offset_along_tree() const;
  void compare_systems();

  MPI_Comm host_ = MPI_COMM_NULL;
  MPI_Comm leaders_ = MPI_COMM_NULL;
  bool is_on_system_of_server_ = false;
};

}  // namespace refrain::tracer
