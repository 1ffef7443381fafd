// The output of `refrain info`: the run, its size, and its losses.
#pragma once

#include <string>

#include "refrain/trace.h"

namespace refrain::report {

// One JSON object, indented, with a line end.
std::string info_json(const Trace& trace);
std::string info_text(const Trace& trace);

}  // namespace refrain::report
