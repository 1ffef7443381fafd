// refrain live analyze in a job: mpiexec -n 4 refrain record --live ./app : -n 1 refrain live
// analyze -o live.
#pragma once

#include <string>

#include "cli/launch/companion.h"
#include "cli/live/analyze.h"

namespace refrain::cli {

// Starts the process that analyses, and becomes a rank of the job (refrain-relay-<mpi>). Returns
// only where it cannot: the exit status. `mpi` is choice.name().
int live_join(const AnalyzeOptions& options, const MpiChoice& choice, const std::string& mpi);

}  // namespace refrain::cli
