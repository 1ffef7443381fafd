// Text of JSON that may be missing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace refrain::report {

// null where there is no text.
inline nlohmann::ordered_json nullable(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace refrain::report
