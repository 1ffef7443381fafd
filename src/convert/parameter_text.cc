#include "convert/parameter_text.h"

#include <string_view>

#include "report/json_text.h"
#include "report/value_text.h"

namespace refrain::convert {
namespace {

bool append(Job& job, std::string& out, const Value& value, report::Style style) {
  const size_t before = out.size();
  if (report::append_value(out, value, job.trace, style, before + kMostParameterBytes)) return true;
  out.resize(before);
  job.not_held("parameters that are longer than 16 MiB as text");
  return false;
}

}  // namespace

std::string plain_text(Job& job, const Value& value) {
  if (value.is_null()) return {};
  if (value.kind == ValueKind::kString && report::is_utf8(value.text)) return value.text;
  const bool is_json = value.kind == ValueKind::kArray || value.kind == ValueKind::kStatus ||
                       value.kind == ValueKind::kBytes || value.kind == ValueKind::kString;
  std::string out;
  append(job, out, value, is_json ? report::Style::kJson : report::Style::kText);
  return out;
}

std::string arguments_json(Job& job, const Signature& call) {
  std::string out = "{";
  const auto add = [&](std::string_view name, std::string_view suffix, const Value& value) {
    if (out.size() > 1) out += ',';
    out += '"';
    out += name;
    out += suffix;
    out += "\":";
    if (!append(job, out, value, report::Style::kJson)) out += "null";
  };
  for (const Argument& argument : call.args) {
    add(argument.name, "", argument.value.at_exit());
    if (argument.value.kind == ValueKind::kChanged)
      add(argument.name, "_in", argument.value.at_entry());
  }
  return out + "}";
}

}  // namespace refrain::convert
