// The texts about a run: see format::Meta::text.
#pragma once

#include <map>
#include <string>

namespace refrain::tracer {

class Process;

// Once per run: MPI may be asked.
std::map<std::string, std::string> run_text(const Process& process);

}  // namespace refrain::tracer
