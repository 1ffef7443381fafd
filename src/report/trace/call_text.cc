#include "report/trace/call_text.h"

#include <charconv>
#include <utility>

#include "text/escape.h"
#include "text/path_names.h"

namespace refrain::report {

namespace {

// Longer lines are rendered again each time, so that the cache stays small.
constexpr size_t kMaxCachedBytes = 4096;

void append_number(std::string& out, uint64_t number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

CallFormatter::CallFormatter(const Trace& trace, text::Style style, SiteName site_name)
    : trace_(trace),
      style_(style),
      site_name_(std::move(site_name)),
      tails_(trace.signature_count()) {}

bool CallFormatter::append(std::string& out, const Call& call) {
  const bool json = style_ == text::Style::kJson;
  out += json ? "{\"rank\":" : "";
  append_number(out, static_cast<uint64_t>(call.rank));
  out += json ? ",\"thread\":" : ".";
  append_number(out, call.thread);
  out += json ? ",\"seq\":" : " ";
  append_number(out, call.seq);
  Tail& tail = tails_[call.signature->id];
  if (!tail.text.empty()) {
    append_tail(out, tail, call);
    return true;
  }
  Tail rendered;
  if (!render(rendered, call)) return false;
  append_tail(out, rendered, call);
  if (rendered.text.size() <= kMaxCachedBytes) tail = std::move(rendered);
  return true;
}

void CallFormatter::append_tail(std::string& out, const Tail& tail, const Call& call) const {
  out.append(tail.text, 0, tail.times_at);
  append_times(out, call);
  out.append(tail.text, tail.times_at);
}

// In text only where there are times.
void CallFormatter::append_times(std::string& out, const Call& call) const {
  const Rank lead =
      trace_.times_rank(call.rank) == call.rank ? call.rank : trace_.lead_of(call.rank);
  if (style_ == text::Style::kJson) {
    out += ",\"begin_ns\":";
    call.has_time ? append_number(out, call.begin_ns) : void(out += "null");
    out += ",\"end_ns\":";
    call.has_time ? append_number(out, call.end_ns) : void(out += "null");
    if (lead != call.rank) {
      out += ",\"lead\":";
      append_number(out, static_cast<uint64_t>(lead));
    }
  } else if (call.has_time) {
    out += " [";
    append_number(out, call.begin_ns);
    out += ' ';
    append_number(out, call.end_ns);
    if (lead != call.rank) {
      out += " of rank ";
      append_number(out, static_cast<uint64_t>(lead));
    }
    out += ']';
  }
}

bool CallFormatter::append_field(std::string& out, std::string_view key, const Value& value) {
  if (style_ == text::Style::kJson) {
    out += '"';
    out += key;
    out += "\":";
  } else {
    out += key;
    out += '=';
  }
  return text::append_value(out, value, trace_, style_);
}

bool CallFormatter::append_arguments(std::string& out, const Signature& signature) {
  const std::string_view comma = style_ == text::Style::kJson ? "," : ", ";
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
  const std::string_view comma = style_ == text::Style::kJson ? "," : " ";
  if (signature.result.is_null()) return true;
  out += comma;
  if (!signature.failed()) return append_field(out, "return", signature.result);
  if (!append_field(out, "rc", signature.result)) return false;
  out += comma;
  return append_field(out, "error_class", signature.error_class);
}

// In text behind everything else; in JSON with the keys that a profile has for it.
void CallFormatter::append_path(std::string& out, DefinitionId path) {
  const bool json = style_ == text::Style::kJson;
  out += json ? ",\"call_path\":[" : " from ";
  const char* separator = "";
  for (const text::PathStep& step :
       path == kNoDefinition ? std::vector<text::PathStep>() : steps_(path)) {
    out += std::exchange(separator, json ? "," : " > ");
    if (!json) {
      out += step.label();
      continue;
    }
    out += "{\"site\":";
    text::append_json_string(out, step.site);
    out += ",\"in_function\":";
    step.function.empty() ? void(out += "null") : text::append_json_string(out, step.function);
    out += '}';
  }
  out += json ? "]" : *separator == '\0' ? "-" : "";
}

bool CallFormatter::render(Tail& tail, const Call& call) {
  std::string& out = tail.text;
  const Signature& signature = *call.signature;
  const std::string site =
      signature.site == kNoDefinition ? std::string() : site_name_(signature.site);
  if (style_ == text::Style::kText) {
    out += ' ';
    out += site.empty() ? "-" : site;
    out += ' ';
    out += signature.name;
    out += '(';
    if (!append_arguments(out, signature)) return false;
    out += ')';
    if (!signature.matched.is_null()) {
      out += " matched=";
      if (!text::append_value(out, signature.matched, trace_, style_)) return false;
    }
    if (!append_result(out, signature)) return false;
    if (steps_) append_path(out, signature.site);
    return true;
  }
  out += ",\"call\":\"";
  out += signature.name;
  out += "\",\"args\":{";
  if (!append_arguments(out, signature)) return false;
  out += '}';
  tail.times_at = out.size();
  out += ",\"site\":";
  if (site.empty())
    out += "null";
  else
    text::append_json_string(out, site);
  if (!signature.matched.is_null()) {
    out += ",\"matched\":";
    if (!text::append_value(out, signature.matched, trace_, style_)) return false;
  }
  if (!append_result(out, signature)) return false;
  if (steps_) append_path(out, signature.site);
  out += '}';
  return true;
}

}  // namespace refrain::report
