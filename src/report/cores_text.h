// The cores of the ranks, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/cores.h"

namespace refrain::report {

// Where ranks had to share cores: one sentence or two, without an end of line, which is to come
// before anything that is said of waiting. Empty where each had one, or nothing is known.
std::string crowding_text(const Trace& trace, const analysis::CoreUse& use);

// "2 of 2, 4 ranks share them"; a line for each kind of hosts, joined by `newline`. Empty where
// nothing is known.
std::string cores_text(const Trace& trace, const analysis::CoreUse& use,
                       const std::string& newline);

// Null where nothing is known.
nlohmann::ordered_json cores_json(const Trace& trace, const analysis::CoreUse& use);

}  // namespace refrain::report
