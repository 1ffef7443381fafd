#include "report/stood_for.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nested_runs.h"
#include "reader/internal.h"
#include "similarity/ranks/rank_lists.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {

namespace {

using Json = nlohmann::ordered_json;

struct Errors {
  bool calls = false, bytes = false, times = false;  // known to be 0
};

// Exact endpoints keep every call of every rank; leads' calls do not.
Errors errors_of(const Trace& trace, MadeOf what) {
  const bool keeps_calls = !reader::data_of(trace).clusters.has_lead_endpoints;
  switch (what) {
    case MadeOf::kSums: return {keeps_calls, keeps_calls, keeps_calls};
    case MadeOf::kCalls: return {keeps_calls, keeps_calls, false};
    case MadeOf::kTimes: return {keeps_calls, keeps_calls, false};
  }
  return {};
}

Json error_json(bool is_exact) { return is_exact ? Json(0) : Json("unknown"); }

std::string members_text(const base::RunList& members) {
  std::string out;
  const auto lists = similarity::rank_lists(base::NestedRuns(members));
  constexpr size_t kMost = 6;
  for (size_t i = 0; i < std::min(lists.size(), kMost); ++i)
    out += (i == 0 ? "" : " ") + lists[i].to_string();
  return lists.size() > kMost ? out + fmt::format(" and {} more", lists.size() - kMost) : out;
}

}  // namespace

uint64_t ranks_stood_for(const Trace& trace) {
  uint64_t out = 0;
  for (Rank r = 0; r < trace.rank_count(); ++r) out += trace.times_rank(r) != r ? 1 : 0;
  return out;
}

std::string stood_for_note(const Trace& trace) {
  const uint64_t n = ranks_stood_for(trace);
  return n == 0 ? std::string()
                : text::printable(trace.name()) + ": another rank stands for " +
                      text::counted_text(n, "rank");
}

void add_stood_for(Json& out, const Trace& trace, MadeOf what) {
  if (reader::data_of(trace).clusters.empty()) return;
  const Errors errors = errors_of(trace, what);
  out["stood_for"] = static_cast<double>(ranks_stood_for(trace)) /
                     static_cast<double>(std::max<Rank>(trace.rank_count(), 1));
  out["error"] = {{"calls", error_json(errors.calls)},
                  {"bytes", error_json(errors.bytes)},
                  {"times", error_json(errors.times)},
                  {"ranks", "radius"}};
}

std::string stood_for_line(const Trace& trace, MadeOf what) {
  const format::ClusterData& data = reader::data_of(trace).clusters;
  // Nor where each rank stands for itself.
  if (data.empty() || ranks_stood_for(trace) == 0) return {};
  const Errors errors = errors_of(trace, what);
  std::string out =
      fmt::format("  {} of {} stood for by {}: ", text::count_text(ranks_stood_for(trace)),
                  text::counted_text(static_cast<uint64_t>(trace.rank_count()), "rank"),
                  text::counted_text(data.clusters.size(), "other"));
  if (errors.times)
    out += "sums are exact";
  else if (errors.calls)
    out += "calls and bytes are exact, times those of leads";
  else
    out += "calls, bytes and times are those of leads";
  return text::paragraph(out + "\n", 2);
}

Json clustering_json(const Trace& trace) {
  const format::ClusterData& data = reader::data_of(trace).clusters;
  if (data.empty()) return {};
  Json out;
  out["method"] = to_string(data.method);
  out["endpoints"] = data.has_lead_endpoints ? "lead" : "exact";
  out["replayable"] = data.is_replayable;
  if (!data.is_replayable) out["why_not"] = data.why_not;
  out["stood_for_ranks"] = ranks_stood_for(trace);
  if (data.choice == format::ClusterChoice::kAuto)
    out["error"] = {{"metric", to_string(data.metric)},
                    {"asked", data.error_asked},
                    {"predicted", data.error_predicted},
                    {"checked", data.error_checked}};
  out["list"] = Json::array();
  for (const format::Cluster& c : data.clusters) {
    Json one;
    one["lead"] = c.lead;
    one["ranks"] = c.members.size();
    one["members"] = Json::array();
    for (const auto& list : similarity::rank_lists(base::NestedRuns(c.members)))
      one["members"].push_back(list.to_string());
    one["calls"] = c.calls;
    one["bytes"] = c.bytes;
    one["in_mpi_ns"] = c.in_mpi_ns;
    one["outside_ns"] = c.outside_ns;
    for (size_t f = 0; f < c.radius.size(); ++f) {
      std::string name(similarity::to_string(static_cast<similarity::RankFeature>(f)));
      std::replace(name.begin(), name.end(), ' ', '_');
      one["radius"][name] = c.radius[f];
    }
    out["list"].push_back(std::move(one));
  }
  return out;
}

std::string clustering_text(const Trace& trace) {
  const format::ClusterData& data = reader::data_of(trace).clusters;
  if (data.empty()) return {};
  std::string out =
      fmt::format("  {:<12} {} by {}, {} endpoints; {}\n", "clusters",
                  text::counted_text(data.clusters.size(), "lead"), to_string(data.method),
                  data.has_lead_endpoints ? "lead" : "exact",
                  data.is_replayable ? "can be replayed"
                                     : "cannot be replayed: " + text::printable(data.why_not));
  constexpr size_t kShown = 12;
  for (size_t i = 0; i < std::min(data.clusters.size(), kShown); ++i) {
    const format::Cluster& c = data.clusters[i];
    out += fmt::format("  {:<12} rank {} for {}: {}\n", "", c.lead,
                       text::counted_text(c.members.size(), "rank"), members_text(c.members));
  }
  if (data.clusters.size() > kShown)
    out += fmt::format("  {:<12} and {}\n", "",
                       text::counted_text(data.clusters.size() - kShown, "more cluster"));
  return out;
}

}  // namespace refrain::report
