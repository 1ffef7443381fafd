// Becomes a program of Refrain that is built for an MPI: refrain-replay-mpich,
// refrain-calibrate-smpi.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/launch/launch_line.h"

namespace refrain::cli {

// Executes <name>-<mpi> with these words after its name. Under SMPI it is a library, which the
// words of `smpi_line` (smpi_line.h) start. Returns only when there is no such program.
base::Error become_companion(const std::string& name, const std::string& mpi,
                             const Words& smpi_line, const Words& words);

}  // namespace refrain::cli
