// Names of traces.
#pragma once

#include <string>

namespace refrain::tracer {

bool is_there(const std::string& path);

// run.rfn and ".1" -> run.1.rfn
std::string marked_path(const std::string& path, const std::string& mark);

}  // namespace refrain::tracer
