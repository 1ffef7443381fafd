#include "convert/parameter_text.h"

#include <string_view>

#include "text/escape.h"
#include "text/values.h"

namespace refrain::convert {
namespace {

bool append(Job& job, std::string& out, const Value& value, text::Style style) {
  const size_t before = out.size();
  if (text::append_value(out, value, job.trace, style, before + kMostParameterBytes)) return true;
  out.resize(before);
  job.not_held("parameters that are longer than 16 MiB as text");
  return false;
}

}  // namespace

std::string plain_text(Job& job, const Value& value) {
  if (value.is_null()) return {};
  if (value.kind == ValueKind::kString && text::is_utf8(value.text)) return value.text;
  const bool is_json = value.kind == ValueKind::kArray || value.kind == ValueKind::kStatus ||
                       value.kind == ValueKind::kBytes || value.kind == ValueKind::kString;
  std::string out;
  append(job, out, value, is_json ? text::Style::kJson : text::Style::kText);
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
    if (!append(job, out, value, text::Style::kJson)) out += "null";
  };
  for (const Argument& argument : call.args) {
    add(argument.name, "", argument.value.at_exit());
    if (argument.value.kind == ValueKind::kChanged)
      add(argument.name, "_in", argument.value.at_entry());
  }
  return out + "}";
}

}  // namespace refrain::convert
