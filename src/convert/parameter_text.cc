#include "convert/parameter_text.h"

#include <string_view>

#include "report/json_text.h"
#include "report/value_text.h"

namespace refrain::convert {

std::string plain_text(const Trace& trace, const Value& value) {
  if (value.is_null()) return {};
  if (value.kind == ValueKind::kString && report::is_utf8(value.text)) return value.text;
  const bool is_json = value.kind == ValueKind::kArray || value.kind == ValueKind::kStatus ||
                       value.kind == ValueKind::kBytes || value.kind == ValueKind::kString;
  std::string out;
  report::append_value(out, value, trace, is_json ? report::Style::kJson : report::Style::kText);
  return out;
}

std::string arguments_json(const Trace& trace, const Signature& call) {
  std::string out = "{";
  const auto add = [&](std::string_view name, std::string_view suffix, const Value& value) {
    if (out.size() > 1) out += ',';
    out += '"';
    out += name;
    out += suffix;
    out += "\":";
    report::append_value(out, value, trace, report::Style::kJson);
  };
  for (const Argument& argument : call.args) {
    add(argument.name, "", argument.value.at_exit());
    if (argument.value.kind == ValueKind::kChanged)
      add(argument.name, "_in", argument.value.at_entry());
  }
  return out + "}";
}

}  // namespace refrain::convert
