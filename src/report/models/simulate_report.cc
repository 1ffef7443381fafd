#include "report/models/simulate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "text/escape.h"
#include "text/numbers.h"
#include "text/site_names.h"

namespace refrain::report {
namespace {

constexpr size_t kShownRanks = 16, kShownLinks = 8, kShownWaiting = 4;

uint64_t positive(sim::Time ns) { return ns < 0 ? 0 : static_cast<uint64_t>(ns); }
uint64_t whole(double v) { return text::rounded(v); }
double share_of(double part, sim::Time all) {
  return all > 0 ? part / static_cast<double>(all) : 0;
}

// The busiest first.
std::vector<sim::EngineResult::Link> by_use(std::vector<sim::EngineResult::Link> links) {
  std::stable_sort(links.begin(), links.end(),
                   [](const auto& a, const auto& b) { return a.busy_ns > b.busy_ns; });
  return links;
}

void add_ranks(const sim::Simulation& simulation, std::string& out) {
  out += fmt::format("\n  {:>6}  {:>10}  {:>10}  {:>10}  {:>10}\n", "rank", "time", "comp", "sync",
                     "comm");
  const size_t shown = std::min(kShownRanks, simulation.ranks.size());
  for (size_t r = 0; r < shown; ++r) {
    const sim::RankTimes& rank = simulation.ranks[r];
    const auto part = [&](sim::Time ns) { return text::duration_text(positive(ns)); };
    out += fmt::format("  {:>6}  {:>10}  {:>10}  {:>10}  {:>10}\n", r, part(rank.end - rank.begin),
                       part(rank.computed), part(rank.waited), part(rank.communicated));
  }
  if (shown < simulation.ranks.size())
    out += fmt::format("  ... and {} more ranks; --format json has all\n",
                       simulation.ranks.size() - shown);
}

}  // namespace

std::string deadlock_text(const sim::Simulation& simulation, const Trace& trace) {
  std::string out;
  text::SiteNames sites(trace, true);
  size_t shown = 0;
  for (const sim::WaitingRank& one : simulation.deadlock) {
    if (shown == kShownWaiting) break;
    const std::string& site = sites.name(one.site);
    out += fmt::format("{}rank {} waits in {}{} (call {}) from {} on", shown++ > 0 ? ", " : "",
                       one.rank, one.call.empty() ? "a call" : one.call,
                       site.empty() ? "" : " at " + text::printable(site), one.seq,
                       text::duration_text(positive(one.since_ns)));
  }
  if (shown < simulation.deadlock.size())
    out += fmt::format(", and {} more", simulation.deadlock.size() - shown);
  return out;
}

std::string simulate_text(const sim::Simulation& simulation, const sim::Machine& machine) {
  std::string out = fmt::format(
      "predicted: {} on {}\n", text::duration_text(positive(simulation.predicted_ns)),
      machine.name.empty() ? text::printable(machine.file) : text::printable(machine.name));
  const auto line = [&](std::string_view name, const std::string& value) {
    out += fmt::format("  {:<12} {}\n", name, value);
  };
  line("computation", simulation.compute_from == "statistics"
                          ? "statistics: means of ranks, as the trace has no times of calls"
                          : simulation.compute_from);
  line("contention", simulation.has_contention ? "fair shares of links" : "none");
  if (simulation.matching == sim::Matching::kSimulated)
    line("matching", fmt::format("simulated: {} receives took another message than recorded",
                                 text::count_text(simulation.matching_changed)));
  line("simulated",
       fmt::format("{} calls, {} messages in {:.2f} s", text::count_text(simulation.calls),
                   text::count_text(simulation.messages), simulation.seconds));
  if (simulation.skipped_calls > 0)
    line("skipped", fmt::format("{} of these calls; error at most {}",
                                text::count_text(simulation.skipped_calls),
                                text::duration_text(positive(simulation.skip_error_ns))));
  if (!simulation.not_skipped.empty()) line("not skipped", simulation.not_skipped);
  for (const auto& [what, count] : simulation.not_lowered)
    line("not lowered", fmt::format("{} {}", text::count_text(count), what));
  add_ranks(simulation, out);
  const auto links = by_use(simulation.links);
  if (!links.empty()) out += "\n  busiest links\n";
  for (size_t i = 0; i < std::min(kShownLinks, links.size()); ++i)
    out += fmt::format("  {:>10} busy, {}: {}\n", text::time_text(links[i].busy_ns),
                       text::bytes_text(whole(links[i].bytes)), links[i].name);
  return out;
}

std::string simulate_json(const sim::Simulation& simulation, const sim::Machine& machine) {
  nlohmann::ordered_json out;
  out["machine"] = text::printable(machine.name);
  out["predicted_ns"] = simulation.predicted_ns;
  out["interval_ns"] = nullptr;
  out["ranks"] = nlohmann::json::array();
  for (const sim::RankTimes& rank : simulation.ranks)
    out["ranks"].push_back({{"comp_ns", rank.computed},
                            {"comm_ns", rank.communicated},
                            {"sync_ns", rank.waited},
                            {"calls", rank.calls}});
  out["calls"] = simulation.calls;
  out["messages"] = simulation.messages;
  out["events"] = simulation.events;
  out["seconds"] = simulation.seconds;
  out["events_per_s"] =
      simulation.seconds > 0 ? static_cast<double>(simulation.events) / simulation.seconds : 0.0;
  out["not_lowered"] = nlohmann::json::array();
  for (const auto& [what, count] : simulation.not_lowered)
    out["not_lowered"].push_back({{"what", what}, {"count", count}});
  out["links"] = nlohmann::json::array();
  for (const auto& link : by_use(simulation.links))
    out["links"].push_back({{"name", link.name},
                            {"busy_ns", whole(link.busy_ns)},
                            {"busy", share_of(link.busy_ns, simulation.predicted_ns)},
                            {"bytes", whole(link.bytes)}});
  out["skipped_calls"] = simulation.skipped_calls;
  out["skip_error_ns"] = simulation.skip_error_ns;
  out["not_skipped"] = nullptr;
  if (!simulation.not_skipped.empty()) out["not_skipped"] = simulation.not_skipped;
  out["matching"] = {
      {"mode", simulation.matching == sim::Matching::kSimulated ? "simulated" : "recorded"},
      {"changed", simulation.matching_changed}};
  out["compute_from"] = simulation.compute_from;
  out["contention"] = simulation.has_contention ? "fair" : "none";
  return out.dump(2) + "\n";
}

}  // namespace refrain::report
