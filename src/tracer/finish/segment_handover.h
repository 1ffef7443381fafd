// --timing segments:METHOD: communication among the ranks in MPI_Finalize, after rank 0 has merged
// the calls of all ranks:
//
//   rank 0    --plan: what its signatures are called in the trace--> each rank, which matches its
//                                                                    segments (segment_times.h)
//   all       binomial tree, as of the calls: representatives are matched across ranks
//   rank 0    --numbers of its representatives, and their lengths--> each rank, which codes the
//                                                                    starts of its segments
//
// Starts and lengths of segments leave their rank only as blocks of the file.
#pragma once

#include <vector>

#include "base/result.h"
#include "format/segments/reduced.h"
#include "format/trace_data.h"

namespace refrain::tracer {

class Process;

// Rank 0: `clocks` as they stand in a file. Fails where one of the ranks has no segments, for want
// of memory, say; then none has, and their exact times are where they were.
base::Result<format::ReducedTimes> reduce_all(
    Process& process, const format::TraceData& trace,
    const std::vector<std::vector<format::ClockPoint>>& clocks);
// The other ranks, meanwhile.
void take_part_in_reducing(Process& process);

}  // namespace refrain::tracer
