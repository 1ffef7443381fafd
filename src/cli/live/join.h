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

// A rank of an analyser that cannot begin. The programs of its job wait for it in MPI_Init, so it
// ends the job, with the error's line and status. Returns, as report(), only where it cannot.
int refuse_in_job(const base::Error& error, const MpiChoice& choice, const std::string& mpi);

// The same for a command line that is none: where these words are those of such a rank.
int refuse_words(const base::Error& error, const Words& words);

}  // namespace refrain::cli
