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

// smpirun -wrapper "refrain replay OPTIONS" run.rfn starts
//   refrain replay OPTIONS smpimain run.rfn --cfg=... PLATFORM
// which becomes `replay OPTIONS run.rfn`, with the rest in words of the option --smpi-line. `words`
// itself where smpimain is not in it.
Words replay_words(const Words& words);

// The line of smpimain (without the trace) that runs `engine` in the place of the trace, with words
// for it.
Words smpi_engine_line(const Words& smpi_line, const std::string& engine,
                       const Words& engine_words);

// Fails when SMPI would load the program where no preloaded library can stand in front of MPI.
base::Status check_smpi_line(const Words& words);

}  // namespace refrain::cli
