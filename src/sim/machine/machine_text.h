// A machine file that has measured parameters: a crossbar with as many places as a run asks for.
#pragma once

#include <string>
#include <vector>

#include "sim/machine/machine.h"

namespace refrain::sim {

// The protocols of these distances. `origin`: a line of text that stands in a comment.
std::string machine_text(const Machine& machine, const std::vector<Distance>& distances,
                         const std::string& origin);

// Without line ends and other control characters, which become spaces.
std::string one_line(std::string text);

}  // namespace refrain::sim
