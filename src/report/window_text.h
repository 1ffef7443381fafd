// A window of time, as the answers about it name it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/window.h"

namespace refrain::report {

// "from 1.2 s to 1.5 s: times as far as they lie in it, calls and bytes of calls that begin in it".
std::string window_text(const analysis::Window& window);
// {"from_ns", "to_ns"}; to_ns null: to the end.
nlohmann::ordered_json window_json(const analysis::Window& window);

}  // namespace refrain::report
