// Time of each rank per call path: in the calls there, and in computation before them. Together
// with waiting, these are the measures by which a rebuilt trace is judged (Mohror, section 5.2.2.3:
// `do_work`, and the time in MPI calls).
#pragma once

#include <cstdint>
#include <vector>

#include "refrain/trace.h"

namespace refrain::analysis::reduce {

// What may be compared in two traces, at each call path and of each rank.
enum class Measure : uint8_t {
  kWait,         // in a wait state, by pattern
  kMpi,          // in the calls at the path, waiting included
  kComputation,  // from the end of the call before to the begin of a call at the path, without
                 // the recorder's own work
};
// wait, mpi, computation
const char* measure_name(Measure measure);

// Of one rank, threads together. Never kWait.
struct Activity {
  Measure measure = Measure::kMpi;
  DefinitionId path = kNoDefinition;
  CallId call = 0;
  Rank rank = 0;
  uint64_t ns = 0;
};

// Of all calls that have times, one pass over each location. A call that begins before the one
// before it has ended has no computation before it, one that ends before it begins takes nothing.
// Fails when times cannot be read.
Result<std::vector<Activity>> activities(const Trace& trace);

}  // namespace refrain::analysis::reduce
