#include "format/messages/selection.h"

#include <algorithm>
#include <charconv>

#include "base/text_file.h"
#include "format/limits.h"

namespace refrain::format::messages {
namespace {

bool take_number(std::string_view& text, uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || out >= kMaxRanks) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
    line.remove_suffix(1);
  return line;
}

// Behind `"name":`, from `from` on; npos: it is not there.
size_t behind_name(std::string_view text, std::string_view name, size_t from) {
  const std::string quoted = '"' + std::string(name) + '"';
  size_t at = text.find(quoted, from);
  if (at == std::string_view::npos) return at;
  at = text.find_first_not_of(" \t\r\n", at + quoted.size());
  if (at == std::string_view::npos || text[at] != ':') return std::string_view::npos;
  return text.find_first_not_of(" \t\r\n", at + 1);
}

bool number_of(std::string_view text, std::string_view name, size_t& from, uint64_t& out) {
  const size_t at = behind_name(text, name, from);
  if (at == std::string_view::npos) return false;
  std::string_view rest = text.substr(at);
  if (!take_number(rest, out)) return false;
  from = text.size() - rest.size();
  return true;
}

constexpr size_t kMostBytes = size_t{1} << 26;

}  // namespace

std::vector<RankRun> joined(std::vector<RankRun> runs) {
  std::sort(runs.begin(), runs.end(), [](RankRun a, RankRun b) { return a.first < b.first; });
  std::vector<RankRun> out;
  for (const RankRun& run : runs) {
    if (out.empty() || run.first > out.back().first + out.back().count) {
      out.push_back(run);
      continue;
    }
    const uint32_t end = std::max(out.back().first + out.back().count, run.first + run.count);
    out.back().count = end - out.back().first;
  }
  return out;
}

base::Result<std::vector<RankRun>> parse_ranks(std::string_view list) {
  const auto bad = [&] {
    constexpr size_t kMostShown = 60;
    const std::string shown =
        std::string(list.substr(0, kMostShown)) + (list.size() > kMostShown ? "..." : "");
    return base::usage("'" + shown + "' is not a list of ranks such as 0-3,8");
  };
  std::vector<RankRun> runs;
  for (std::string_view rest = list;;) {
    uint64_t first = 0, last = 0;
    if (!take_number(rest, first)) return bad();
    last = first;
    if (!rest.empty() && rest[0] == '-') {
      rest.remove_prefix(1);
      if (!take_number(rest, last) || last < first) return bad();
    }
    runs.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(last - first + 1)});
    if (rest.empty()) return joined(std::move(runs));
    if (rest[0] != ',') return bad();
    rest.remove_prefix(1);
  }
}

std::string ranks_text(const std::vector<RankRun>& ranks) {
  std::string out;
  for (const RankRun& run : ranks) {
    if (!out.empty()) out += ',';
    out += std::to_string(run.first);
    if (run.count > 1) out += '-' + std::to_string(run.first + run.count - 1);
  }
  return out;
}

bool is_among(const std::vector<RankRun>& ranks, uint64_t rank) {
  const auto behind =
      std::upper_bound(ranks.begin(), ranks.end(), rank,
                       [](uint64_t r, const RankRun& run) { return r < run.first; });
  return behind != ranks.begin() && rank - behind[-1].first < behind[-1].count;
}

base::Result<Selection> parse_selection(std::string_view text) {
  constexpr std::string_view kRanks = "ranks:";
  if (text == "all") return Selection{true, {}};
  if (text.substr(0, kRanks.size()) != kRanks)
    return base::usage("'" + std::string(text) +
                       "' is none of all, ranks:LIST, representatives:PLAN");
  auto ranks = parse_ranks(text.substr(kRanks.size()));
  if (!ranks.ok()) return ranks.error();
  return Selection{false, std::move(*ranks)};
}

base::Result<std::vector<std::vector<RankRun>>> parse_map(std::string_view text) {
  std::vector<std::vector<RankRun>> out;
  std::vector<RankRun> all;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    auto ranks = parse_ranks(line);
    if (!ranks.ok())
      return base::usage("line " + std::to_string(number) + ": " + ranks.error().message);
    uint64_t before = 0, after = 0, more = 0;
    for (const RankRun& run : all) before += run.count;
    for (const RankRun& run : *ranks) more += run.count;
    all.insert(all.end(), ranks->begin(), ranks->end());
    all = joined(std::move(all));
    for (const RankRun& run : all) after += run.count;
    if (after != before + more)
      return base::usage("line " + std::to_string(number) + ": a rank that is on another node too");
    out.push_back(std::move(*ranks));
  }
  if (out.empty()) return base::usage("there is no list of ranks in it");
  return out;
}

base::Result<std::vector<std::vector<RankRun>>> read_map(const std::string& path) {
  const auto text = base::read_text_file(path, "map", kMostBytes);
  if (!text.ok()) return base::usage(path + ": " + text.error().message);
  auto map = parse_map(*text);
  if (!map.ok()) return base::usage(path + ": " + map.error().message);
  return map;
}

base::Result<Plan> parse_plan(std::string_view text) {
  Plan plan;
  uint64_t version = 0;
  size_t at = 0, of_ranks = 0;
  if (!number_of(text, "plan", at, version) || version != 1 ||
      !number_of(text, "ranks", of_ranks, plan.ranks))
    return base::usage("this is no plan of `refrain similarity --plan`");
  for (uint64_t rank = 0; number_of(text, "representative", at, rank);) {
    if (rank >= plan.ranks)
      return base::usage("the plan has rank " + std::to_string(rank) + " of " +
                         std::to_string(plan.ranks) + " ranks");
    plan.representatives.push_back(static_cast<uint32_t>(rank));
  }
  if (plan.representatives.empty()) return base::usage("the plan has no representatives");
  return plan;
}

base::Result<Plan> read_plan(const std::string& path) {
  const auto text = base::read_text_file(path, "plan", kMostBytes);
  if (!text.ok()) return base::usage(path + ": " + text.error().message);
  auto plan = parse_plan(*text);
  if (!plan.ok()) return base::usage(path + ": " + plan.error().message);
  return plan;
}

std::vector<RankRun> node_of(uint64_t rank, uint64_t ranks, uint64_t node_size) {
  const uint64_t first = rank / node_size * node_size;
  const uint64_t count = std::min(node_size, ranks - first);
  return {{static_cast<uint32_t>(first), static_cast<uint32_t>(count)}};
}

std::vector<RankRun> node_of(uint64_t rank, const std::vector<std::vector<RankRun>>& map) {
  for (const std::vector<RankRun>& node : map)
    if (is_among(node, rank)) return node;
  return {{static_cast<uint32_t>(rank), 1}};
}

}  // namespace refrain::format::messages
