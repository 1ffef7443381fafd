#include "report/call_text.h"

#include <charconv>
#include <utility>

#include "report/json_text.h"

namespace refrain::report {

namespace {

// Longer lines are rendered again each time, so that the cache stays small.
constexpr size_t kMaxCachedBytes = 4096;

void append_number(std::string& out, uint64_t number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

CallFormatter::CallFormatter(const Trace& trace, Style style, SiteName site_name)
    : trace_(trace),
      style_(style),
      site_name_(std::move(site_name)),
      tails_(trace.signature_count()) {}

bool CallFormatter::append(std::string& out, const Call& call) {
  const bool json = style_ == Style::kJson;
  out += json ? "{\"rank\":" : "";
  append_number(out, static_cast<uint64_t>(call.rank));
  out += json ? ",\"thread\":" : ".";
  append_number(out, call.thread);
  out += json ? ",\"seq\":" : " ";
  append_number(out, call.seq);
  std::string& tail = tails_[call.signature->id];
  if (tail.empty()) {
    std::string rendered;
    if (!render(rendered, call)) return false;
    if (rendered.size() > kMaxCachedBytes) {
      out += rendered;
      return true;
    }
    tail = std::move(rendered);
  }
  out += tail;
  return true;
}

bool CallFormatter::append_field(std::string& out, std::string_view key, const Value& value) {
  if (style_ == Style::kJson) {
    out += '"';
    out += key;
    out += "\":";
  } else {
    out += key;
    out += '=';
  }
  return append_value(out, value, trace_, style_);
}

bool CallFormatter::append_arguments(std::string& out, const Signature& signature) {
  const std::string_view comma = style_ == Style::kJson ? "," : ", ";
  bool first = true;
  for (const Argument& arg : signature.args) {
    if (!std::exchange(first, false)) out += comma;
    if (!append_field(out, arg.name, arg.value.at_exit())) return false;
    if (arg.value.kind != ValueKind::kChanged) continue;
    out += comma;
    if (!append_field(out, std::string(arg.name) + "_in", arg.value.at_entry())) return false;
  }
  return true;
}

bool CallFormatter::append_result(std::string& out, const Signature& signature) {
  const std::string_view comma = style_ == Style::kJson ? "," : " ";
  if (signature.result.is_null()) return true;
  out += comma;
  if (!signature.failed()) return append_field(out, "return", signature.result);
  if (!append_field(out, "rc", signature.result)) return false;
  out += comma;
  return append_field(out, "error_class", signature.error_class);
}

bool CallFormatter::render(std::string& out, const Call& call) {
  const Signature& signature = *call.signature;
  const std::string site =
      signature.site == kNoDefinition ? std::string() : site_name_(signature.site);
  if (style_ == Style::kText) {
    out += ' ';
    out += site.empty() ? "-" : site;
    out += ' ';
    out += signature.name;
    out += '(';
    if (!append_arguments(out, signature)) return false;
    out += ')';
    if (!signature.matched.is_null()) {
      out += " matched=";
      if (!append_value(out, signature.matched, trace_, style_)) return false;
    }
    return append_result(out, signature);
  }
  out += ",\"call\":\"";
  out += signature.name;
  out += "\",\"args\":{";
  if (!append_arguments(out, signature)) return false;
  out += "},\"begin_ns\":null,\"end_ns\":null,\"site\":";
  if (site.empty())
    out += "null";
  else
    append_json_string(out, site);
  if (!signature.matched.is_null()) {
    out += ",\"matched\":";
    if (!append_value(out, signature.matched, trace_, style_)) return false;
  }
  if (!append_result(out, signature)) return false;
  out += '}';
  return true;
}

}  // namespace refrain::report
