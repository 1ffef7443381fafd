// The command line of smpimain, which smpirun starts (behind its -wrapper) to run all ranks of a
// program as user-level threads of one process:
//   smpimain PROGRAM --cfg=... --log=... PLATFORM ARGUMENTS
#pragma once

#include <string>

#include "base/result.h"
#include "cli/launch/launch_line.h"

namespace refrain::cli {

bool is_smpimain(const std::string& program);

// PROGRAM and ARGUMENTS; `words` itself when they are none of smpimain's.
Words smpi_program(const Words& words);

// Fails when SMPI would load the program where no preloaded library can stand in front of MPI.
base::Status check_smpi_line(const Words& words);

}  // namespace refrain::cli
