// Efficiencies as factors of each other.
#pragma once

#include <nlohmann/json.hpp>

namespace refrain::report {

// The factors of an efficiency that are known, the product first: [{"name", "title", "value",
// "caption"}]; a value is a share of 1, a caption says what was measured.
nlohmann::ordered_json factors(const nlohmann::ordered_json& efficiency);

}  // namespace refrain::report
