// The command line after `record`: finds a launcher at the wrong place, and quotes a line for a
// message.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace refrain::cli {

using Words = std::vector<std::string>;

// mpiexec, mpirun.openmpi, srun, ...: something that `record` must stand behind, not in front of.
bool is_launcher(const std::string& program);

// SimGrid's launcher, which takes what stands in front of the program as -wrapper.
bool is_smpirun(const std::string& program);

// What the user meant by `refrain record OPTIONS mpiexec -n 4 ./app`: the same words with
// `refrain record OPTIONS` moved right in front of each program.
Words behind_launcher(const Words& record, const Words& launcher_line);

// One line that a shell reads back as the same words.
std::string shell_line(const Words& words);

// Path of the file that a shell would run for `program`; empty when there is none. `path`: $PATH.
std::string find_program(const std::string& program, const std::string& path);
// The same; a usage error that says what is wrong where there is none.
base::Result<std::string> look_for_program(const std::string& program, const std::string& path);

}  // namespace refrain::cli
