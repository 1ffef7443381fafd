#include "report/trace/plain_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "text/numbers.h"

namespace refrain::report {

namespace {

using nlohmann::ordered_json;

// The number at the begin of `text`, which is cut off.
bool take_number(std::string_view& text, uint64_t& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  text.remove_prefix(word.size());
  return true;
}

ordered_json rank_json(const PlainTrace::Rank& r) {
  return {{"bytes", r.bytes}, {"flushes", r.flushes}, {"write_ns", r.write_ns}};
}

}  // namespace

std::optional<PlainTrace> parse_plain_trace(std::string_view text) {
  PlainTrace p;
  uint64_t write = 0;
  if (!take_word(text, "buffer=") || !take_number(text, p.buffer_bytes) ||
      !take_word(text, " write=") || !take_number(text, write) || !take_word(text, " bytes=") ||
      !take_number(text, p.all.bytes) || !take_word(text, " flushes=") ||
      !take_number(text, p.all.flushes) || !take_word(text, " write_ns=") ||
      !take_number(text, p.all.write_ns))
    return std::nullopt;
  p.write = write != 0;
  if (text.empty()) return p;
  if (!take_word(text, " ranks=")) return std::nullopt;
  do {
    PlainTrace::Rank r;
    if (!take_number(text, r.bytes) || !take_word(text, ":") || !take_number(text, r.flushes) ||
        !take_word(text, ":") || !take_number(text, r.write_ns))
      return std::nullopt;
    p.ranks.push_back(r);
  } while (take_word(text, " "));
  return text.empty() ? std::optional(p) : std::nullopt;
}

ordered_json plain_trace_json(const PlainTrace& p) {
  ordered_json out = {{"buffer_bytes", p.buffer_bytes}, {"write", p.write}};
  out.update(rank_json(p.all));
  out["by_rank"] = ordered_json::array();
  for (size_t rank = 0; rank < p.ranks.size(); ++rank) {
    ordered_json entry = {{"rank", rank}};
    entry.update(rank_json(p.ranks[rank]));
    out["by_rank"].push_back(std::move(entry));
  }
  return out;
}

std::string plain_trace_text(const PlainTrace& p) {
  std::string text =
      fmt::format("{} bytes, flushes of buffers of {}: {}", text::count_text(p.all.bytes),
                  text::bytes_text(p.buffer_bytes), text::count_text(p.all.flushes));
  if (!p.write) return text + ", thrown away";
  const auto longest = std::max_element(
      p.ranks.begin(), p.ranks.end(),
      [](const PlainTrace::Rank& a, const PlainTrace::Rank& b) { return a.write_ns < b.write_ns; });
  text += fmt::format("; writing took {} in all", text::duration_text(p.all.write_ns));
  if (longest != p.ranks.end())
    text += fmt::format(", up to {} (rank {})", text::duration_text(longest->write_ns),
                        longest - p.ranks.begin());
  return text;
}

}  // namespace refrain::report
