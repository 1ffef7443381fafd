// PredictedTrace: the recorded trace with the times of a simulation, as a file that all verbs read.
//
// Times are exact, in ns since the end of MPI_Init, on one clock. Statistics of durations, totals
// of ranks and the duration of the run are those of the new times; what the recorder did, and gaps,
// are gone. Calls before the end of MPI_Init are at 0; MPI_Finalize and what follows takes no time
// and is at the end of its thread. The run's text says `predicted_on`, the machine.
//
// Memory: the coded times, and some blocks of calls of each thread. Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "refrain/trace.h"
#include "sim/engine/action.h"

namespace refrain::sim {

class PredictedTrace {
 public:
  // `machine`: its name, for people.
  PredictedTrace(const Trace& trace, std::string machine);
  ~PredictedTrace();
  PredictedTrace(const PredictedTrace&) = delete;

  // When call number `seq` of a thread began and ended. In the order of a thread's calls, but for
  // those inside of other ones.
  void add(Rank rank, uint32_t thread, uint64_t seq, Time begin, Time end);
  // Once, at the end. Replaces a file of that name.
  base::Status write(const std::string& path);

 private:
  struct Thread;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace refrain::sim
