#include "report/behaviour/cluster_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/clusters/mesh_names.h"
#include "base/nested_runs.h"
#include "report/labelled_line.h"
#include "similarity/ranks/rank_lists.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::report {

namespace {

using Json = nlohmann::ordered_json;
using analysis::clusters::Compared;
using analysis::clusters::kCompared;
using similarity::RankFeature;

std::vector<similarity::RankList> lists_of(const base::RunList& ranks) {
  return similarity::rank_lists(base::NestedRuns(ranks));
}

std::string k_text(const format::ClusterData& data) {
  switch (data.choice) {
    case format::ClusterChoice::kKinds: return "one for each structure";
    case format::ClusterChoice::kAuto:
      return fmt::format("auto: error of {} below {:.3g}", to_string(data.metric),
                         data.error_asked);
    case format::ClusterChoice::kNumber: break;
  }
  return data.method == format::ClusterMethod::kNone ? "every rank" : fmt::format("{}", data.k);
}

std::string how_text(const format::ClusterData& data) {
  std::string out(to_string(data.method));
  out += data.is_euclidean ? ", euclidean" : ", manhattan";
  out += data.has_two_steps ? ", two steps" : ", one step";
  out += data.is_by_tree ? ", members by the tree" : ", members by the nearest lead";
  out += data.has_lead_endpoints ? ", endpoints of leads" : ", exact endpoints";
  if (data.is_mixed) out += ", structures mixed";
  return out;
}

std::string features_text(uint32_t bits) {
  std::string out;
  for (size_t f = 0; f < similarity::kRankFeatures; ++f)
    if ((bits >> f & 1) != 0)
      out += (out.empty() ? "" : ", ") + std::string(to_string(static_cast<RankFeature>(f)));
  return out.empty() ? "none" : out;
}

// What a member is off at most, in what ranks differ by.
std::string radius_text(const format::ClusterRadius& radius) {
  std::string out;
  for (size_t f = 0; f < radius.size(); ++f) {
    if (radius[f] == 0) continue;
    const auto feature = static_cast<RankFeature>(f);
    const bool is_time =
        feature == RankFeature::kComputation || feature == RankFeature::kCommunication;
    out += (out.empty() ? "" : ", ") + std::string(to_string(feature)) + " " +
           (is_time ? text::duration_text(radius[f]) : text::count_text(radius[f]));
  }
  return out.empty() ? "0" : out;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string table_text(const ClusterView& view) {
  const std::vector<uint64_t> mesh = analysis::clusters::mesh_of(view.trace, view.data.clusters);
  text::Table table({"lead", "ranks", "calls", "bytes", "time in MPI", "<members",
                     mesh.empty() ? "<place" : "<place in " + analysis::clusters::mesh_size(mesh),
                     "<off by at most"});
  table.can_leave_out({"bytes", "calls"});
  constexpr size_t kMostRows = 64;
  for (size_t i = 0; i < std::min(view.data.clusters.size(), kMostRows); ++i) {
    const format::Cluster& c = view.data.clusters[i];
    table.add({text::count_text(c.lead), text::count_text(c.members.size()),
               text::count_text(c.calls), text::bytes_text(c.bytes),
               text::duration_text(c.in_mpi_ns), rank_set_text(c.members),
               mesh.empty() ? std::string() : analysis::clusters::mesh_place(mesh, c.members),
               radius_text(c.radius)});
  }
  std::string out = table.text();
  if (view.data.clusters.size() > kMostRows)
    out += fmt::format("  and {} more (--format json has them all)\n",
                       text::counted_text(view.data.clusters.size() - kMostRows, "cluster"));
  return out;
}

Json radius_json(const format::ClusterRadius& radius) {
  Json out = Json::object();
  for (size_t f = 0; f < radius.size(); ++f) {
    std::string name(to_string(static_cast<RankFeature>(f)));
    std::replace(name.begin(), name.end(), ' ', '_');
    out[name] = radius[f];
  }
  return out;
}

Json clusters_json(const ClusterView& view) {
  const std::vector<uint64_t> mesh = analysis::clusters::mesh_of(view.trace, view.data.clusters);
  Json all = Json::array();
  for (const format::Cluster& c : view.data.clusters) {
    Json one;
    one["lead"] = c.lead;
    one["ranks"] = c.members.size();
    Json lists = Json::array();
    for (const auto& list : lists_of(c.members)) lists.push_back(list.to_string());
    one["members"] = std::move(lists);
    if (!mesh.empty()) {
      const std::string name = analysis::clusters::mesh_name(mesh, c.members);
      if (!name.empty()) one["place"] = name;
    }
    if (!c.others.empty()) one["of_other_structure"] = c.others.size();
    one["structure"] = fmt::format("{:016x}", c.structure);
    one["calls"] = c.calls;
    one["bytes"] = c.bytes;
    one["in_mpi_ns"] = c.in_mpi_ns;
    one["outside_ns"] = c.outside_ns;
    one["radius"] = radius_json(c.radius);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::string rank_set_text(const base::RunList& ranks) {
  constexpr size_t kMost = 6;
  const auto lists = lists_of(ranks);
  std::string out;
  for (size_t i = 0; i < std::min(lists.size(), kMost); ++i)
    out += (i == 0 ? "" : " ") + lists[i].to_string();
  if (lists.size() > kMost) out += fmt::format(" and {} more", lists.size() - kMost);
  return out;
}

std::string cluster_text(const ClusterView& view) {
  const format::ClusterData& data = view.data;
  std::string out = text::printable(view.output) + "\n";
  add_line(out, "clusters",
           fmt::format("{} for {}, of {}", text::count_text(data.clusters.size()),
                       text::counted_text(static_cast<uint64_t>(view.trace.rank_count()), "rank"),
                       text::counted_text(view.found.structures, "structure")));
  add_line(out, "K", k_text(data));
  if (view.found.raised_from > 0)
    add_line(out, "raised",
             fmt::format("from {} to {}, as ranks of different structure cannot stand for each "
                         "other (--mix lets them)",
                         view.found.raised_from, view.found.structures));
  add_line(out, "method", how_text(data));
  add_line(out, "features", features_text(data.features));
  if (data.choice == format::ClusterChoice::kAuto)
    add_line(
        out, "error",
        fmt::format("{} predicted from radii, {} on {} looked at", percent(data.error_predicted),
                    percent(data.error_checked), text::counted_text(data.sampled.size(), "rank")));
  add_line(out, "stood for",
           fmt::format("{} with {}", text::counted_text(view.found.stood_for, "rank"),
                       text::counted_text(view.found.stood_for_calls, "call")));
  std::string kept;
  for (size_t i = 0; i < kCompared; ++i) {
    const auto what = static_cast<Compared>(i);
    if (view.matching.all[i] > 0)
      kept += (kept.empty() ? "" : ", ") + std::string(to_string(what)) + " " +
              percent(view.matching.share(what));
  }
  add_line(out, "as before", kept);
  add_line(out, "file",
           fmt::format("{} of {} bytes, {}", text::count_text(view.bytes_after),
                       text::count_text(view.bytes_before),
                       text::percent_text(static_cast<double>(view.bytes_after),
                                          static_cast<double>(view.bytes_before))));
  add_line(out, "replay", data.is_replayable ? "can be replayed" : "no: " + data.why_not);
  return fitted_lines(out) + table_text(view);
}

std::string cluster_json(const ClusterView& view) {
  const format::ClusterData& data = view.data;
  Json out;
  out["trace"] = view.trace.name();
  out["output"] = view.output;
  out["ranks"] = view.trace.rank_count();
  out["structures"] = view.found.structures;
  out["cluster_count"] = data.clusters.size();
  out["method"] = to_string(data.method);
  out["choice"] = data.choice == format::ClusterChoice::kNumber  ? "number"
                  : data.choice == format::ClusterChoice::kKinds ? "kinds"
                                                                 : "auto";
  if (data.choice == format::ClusterChoice::kNumber) out["k"] = data.k;
  if (view.found.raised_from > 0) out["raised_from"] = view.found.raised_from;
  out["steps"] = data.has_two_steps ? 2 : 1;
  out["distance"] = data.is_euclidean ? "euclidean" : "manhattan";
  out["assign"] = data.is_by_tree ? "tree" : "nearest";
  out["endpoints"] = data.has_lead_endpoints ? "lead" : "exact";
  out["mixed"] = data.is_mixed;
  Json features = Json::array();
  for (size_t f = 0; f < similarity::kRankFeatures; ++f)
    if ((data.features >> f & 1) != 0) features.push_back(to_string(static_cast<RankFeature>(f)));
  out["features"] = std::move(features);
  if (data.choice == format::ClusterChoice::kAuto)
    out["error"] = {{"metric", to_string(data.metric)},  {"asked", data.error_asked},
                    {"predicted", data.error_predicted}, {"checked", data.error_checked},
                    {"sampled", data.sampled.size()},    {"tried", view.found.tried}};
  out["stood_for_ranks"] = view.found.stood_for;
  out["stood_for_calls"] = view.found.stood_for_calls;
  Json matching = Json::object();
  for (size_t i = 0; i < kCompared; ++i)
    matching[std::string(to_string(static_cast<Compared>(i)))] = {
        {"parameters", view.matching.all[i]},
        {"equal", view.matching.equal[i]},
        {"share", view.matching.share(static_cast<Compared>(i))}};
  out["matching"] = std::move(matching);
  out["replayable"] = data.is_replayable;
  if (!data.is_replayable) out["why_not"] = data.why_not;
  out["bytes_before"] = view.bytes_before;
  out["bytes_after"] = view.bytes_after;
  out["clusters"] = clusters_json(view);
  return out.dump(1) + "\n";
}

}  // namespace refrain::report
