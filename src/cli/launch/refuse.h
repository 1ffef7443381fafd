// What a job does not begin with, said once: every rank of it starts `refrain`, and all of them
// find the same mistake.
#pragma once

#include "base/result.h"
#include "cli/launch/find_mpi.h"

namespace refrain::cli {

// Rank 0 prints the error; the others leave it the time for that, as some launchers end the whole
// job with the first rank that fails. Returns the exit status, the same on each rank.
int refuse(const base::Error& error, const Launcher& launcher);

// The same, with the launcher that the environment tells of.
int refuse(const base::Error& error);

}  // namespace refrain::cli
