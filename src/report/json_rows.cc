#include "report/json_rows.h"

namespace refrain::report {

namespace {

using Json = nlohmann::ordered_json;

std::string in_a_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Of a list: a line for each of its values.
void append(std::string& out, const Json& value) {
  if (!value.is_array() || value.empty() || !value.front().is_structured()) {
    out += in_a_line(value);
    return;
  }
  const char* before = "[\n    ";
  for (const Json& row : value) {
    out += before;
    out += in_a_line(row);
    before = ",\n    ";
  }
  out += "\n  ]";
}

}  // namespace

std::string json_with_rows(const Json& json) {
  if (!json.is_object() || json.empty()) return in_a_line(json);
  std::string out;
  const char* before = "{\n  ";
  for (const auto& [key, value] : json.items()) {
    out += before;
    out += in_a_line(key);
    out += ": ";
    append(out, value);
    before = ",\n  ";
  }
  out += "\n}";
  return out;
}

}  // namespace refrain::report
