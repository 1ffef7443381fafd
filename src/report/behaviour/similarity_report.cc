#include "report/behaviour/similarity_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::report {
namespace {

using analysis::computation::HowToGroup;
using analysis::computation::RankGroup;
using analysis::computation::RankGroups;
using analysis::computation::SequenceGroups;
using nlohmann::ordered_json;

constexpr size_t kShownRows = 40;

std::string ranks_text(const base::RunList& ranks) { return text::rank_list_text(ranks, 6); }

ordered_json ranks_json(const base::RunList& ranks) {
  ordered_json out = ordered_json::array();
  for (uint64_t i = 0; i < ranks.size(); ++i) out.push_back(ranks.at(i));
  return out;
}

std::string_view name_of(HowToGroup::By by) {
  switch (by) {
    case HowToGroup::By::kLinkage: return "linkage";
    case HowToGroup::By::kClusters: return "clusters";
    case HowToGroup::By::kSequence: return "sequence";
  }
  return "";
}

std::string how_text(const HowToGroup& how) {
  switch (how.by) {
    case HowToGroup::By::kLinkage: return fmt::format("complete linkage cut at {} %", how.percent);
    case HowToGroup::By::kClusters:
      return fmt::format("k-means, {} a sequence", text::counted_text(how.clusters, "cluster"));
    case HowToGroup::By::kSequence: return "one group a sequence";
  }
  return "";
}

std::string sequences_text(const RankGroups& all) {
  std::vector<uint64_t> groups(all.sequences.size());
  for (const RankGroup& group : all.groups) ++groups[group.sequence];
  text::Table table({"sequence", "calls a rank", "groups", "computes a rank", "<ranks"});
  for (size_t i = 0; i < std::min(kShownRows, all.sequences.size()); ++i) {
    const SequenceGroups& s = all.sequences[i];
    const auto ranks = static_cast<double>(s.sequence.ranks.size());
    table.add({std::to_string(i), text::count_text(s.sequence.key.calls),
               text::count_text(groups[i]), text::time_text(s.computation_ns / ranks),
               ranks_text(s.sequence.ranks)});
  }
  std::string out = table.text();
  if (all.sequences.size() > kShownRows)
    out += fmt::format("  ... and {} more\n", all.sequences.size() - kShownRows);
  return out;
}

std::string groups_text(const RankGroups& all) {
  text::Table table(
      {"group", "sequence", "representative", "members", "farthest", "apart", "<ranks"});
  for (size_t i = 0; i < std::min(kShownRows, all.groups.size()); ++i) {
    const RankGroup& g = all.groups[i];
    const auto members = static_cast<double>(g.ranks.size());
    table.add({std::to_string(i), std::to_string(g.sequence), std::to_string(g.representative),
               text::count_text(g.ranks.size()),
               text::percent_text(g.radius_ns, g.computation_ns / members),
               text::percent_text(g.distance_ns, g.computation_ns), ranks_text(g.ranks)});
  }
  std::string out = table.text();
  if (all.groups.size() > kShownRows)
    out += fmt::format("  ... and {} more\n", all.groups.size() - kShownRows);
  return out;
}

}  // namespace

std::string similarity_text(const RankGroups& all, const HowToGroup& how) {
  std::string out =
      text::paragraph(fmt::format("{}: {}, {}, {} of ranks that compute alike ({})\n",
                                  text::printable(fmt::format("{}", fmt::join(all.traces, ", "))),
                                  text::counted_text(static_cast<uint64_t>(all.ranks), "rank"),
                                  text::counted_text(all.sequences.size(), "sequence"),
                                  text::counted_text(all.groups.size(), "group"), how_text(how)),
                      2);
  out += "\nSequences: ranks that call the same functions in the same order\n";
  out += sequences_text(all);
  out += "\nGroups; distances to the representative as a share of what a rank computes\n";
  return out + groups_text(all);
}

std::string similarity_json(const RankGroups& all, const HowToGroup& how) {
  ordered_json out;
  out["traces"] = all.traces;
  out["ranks"] = all.ranks;
  out["by"] = name_of(how.by);
  if (how.by == HowToGroup::By::kLinkage) out["percent"] = how.percent;
  if (how.by == HowToGroup::By::kClusters) {
    out["clusters"] = how.clusters;
    out["seed"] = how.seed;
  }
  out["sequences"] = ordered_json::array();
  for (const SequenceGroups& s : all.sequences) {
    ordered_json merges = ordered_json::array();
    for (const auto& m : s.dendrogram.merges)
      merges.push_back(
          {{"left", m.left}, {"right", m.right}, {"height_ns", m.height}, {"size", m.size}});
    ordered_json one = {{"ranks", ranks_json(s.sequence.ranks)},
                        {"calls", s.sequence.key.calls},
                        {"computation_ns", s.computation_ns}};
    if (how.by == HowToGroup::By::kLinkage) {
      one["cut_ns"] = s.height_ns;
      one["merges"] = std::move(merges);
    }
    out["sequences"].push_back(std::move(one));
  }
  out["groups"] = ordered_json::array();
  for (const RankGroup& g : all.groups)
    out["groups"].push_back({{"sequence", g.sequence},
                             {"representative", g.representative},
                             {"ranks", ranks_json(g.ranks)},
                             {"radius_ns", g.radius_ns},
                             {"distance_ns", g.distance_ns},
                             {"computation_ns", g.computation_ns}});
  return out.dump(2) + "\n";
}

std::string similarity_plan(const RankGroups& all) {
  ordered_json out;
  out["plan"] = 1;
  out["ranks"] = all.ranks;
  out["groups"] = ordered_json::array();
  for (const RankGroup& g : all.groups)
    out["groups"].push_back({{"representative", g.representative},
                             {"ranks", ranks_json(g.ranks)},
                             {"radius_ns", g.radius_ns}});
  return out.dump() + "\n";
}

}  // namespace refrain::report
