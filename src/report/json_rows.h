// JSON with a line for each value that stands in a member of the whole, and nothing indented
// deeper: lists of a hundred thousand rows take half of the bytes that they take with a line a
// number.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace refrain::report {

// Strings that are not UTF-8 are repaired as dump() does it with error_handler_t::replace.
std::string json_with_rows(const nlohmann::ordered_json& json);

}  // namespace refrain::report
