#include "online/keep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/duration.h"
#include "convert/convert.h"

namespace refrain::online {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "3" or "0-3".
bool take_ranks(std::string_view text, Keep& keep) {
  Rank first = 0, last = 0;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, first);
  last = first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
    read = std::from_chars(read.ptr + 1, end, last);
  if (read.ec != std::errc() || read.ptr != end || first < 0 || last < first) return false;
  keep.ranks.emplace_back(first, last);
  return true;
}

// "10s..20s", "10s.." or "..20s".
bool take_window(std::string_view text, Keep& keep) {
  const size_t dots = text.find("..");
  const std::string_view from = trimmed(text.substr(0, dots)), to = trimmed(text.substr(dots + 2));
  const auto begin = base::parse_duration(from), end = base::parse_duration(to);
  if (keep.has_window || (from.empty() && to.empty()) || (!from.empty() && !begin) ||
      (!to.empty() && !end))
    return false;
  keep.has_window = true;
  keep.from_ns = begin.value_or(0);
  keep.to_ns = end.value_or(UINT64_MAX);
  return keep.from_ns <= keep.to_ns;
}

}  // namespace

std::string Keep::to_string() const {
  std::string out = target;
  for (const auto& [first, last] : ranks) out += fmt::format(" {}-{}", first, last);
  return out + fmt::format(" {}..{}", from_ns, to_ns);
}

base::Result<Keep> parse_keep(const std::string& text, const std::string& target) {
  Keep keep;
  keep.target = target;
  bool is_in_ranks = false;  // a number alone goes on with the list before it
  for (size_t at = 0; at <= text.size() && !text.empty();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string_view item = trimmed(std::string_view(text).substr(at, comma - at));
    at = comma + 1;
    bool is_good = false;
    if (item.find("..") != std::string_view::npos) {
      is_good = take_window(item, keep);
      is_in_ranks = false;
    } else {
      for (const std::string_view word : {"ranks ", "rank "})
        if (item.starts_with(word)) {
          item = trimmed(item.substr(word.size()));
          is_in_ranks = true;
          break;
        }
      is_good = is_in_ranks && take_ranks(item, keep);
    }
    if (!is_good)
      return base::usage("'" + text + "' is not such as 'ranks 0-3,8, 10s..20s'", "--keep");
  }
  return keep;
}

base::Status write_kept(const Keep& keep, const Trace& trace, const std::string& output) {
  convert::Options how;
  how.target = keep.target;
  how.output = output;
  how.force = true;
  how.has_window = keep.has_window;
  how.from_ns = keep.from_ns;
  how.to_ns = keep.to_ns;
  for (const auto& [first, last] : keep.ranks)
    for (Rank rank = first; rank <= std::min(last, trace.rank_count() - 1); ++rank)
      how.ranks.push_back(rank);
  std::sort(how.ranks.begin(), how.ranks.end());
  how.ranks.erase(std::unique(how.ranks.begin(), how.ranks.end()), how.ranks.end());
  if (how.ranks.empty() && !keep.ranks.empty())
    return base::fail("it has none of the ranks of --keep", trace.name());
  const auto done = convert::convert(trace, how, {});
  return done.ok() ? base::Status(base::Done{}) : base::Status(done.error());
}

}  // namespace refrain::online
