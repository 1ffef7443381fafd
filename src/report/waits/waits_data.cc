// Wait states for programs: JSON and CSV.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/cores_text.h"
#include "report/json_rows.h"
#include "report/profile/profile_rows.h"
#include "report/stood_for.h"
#include "report/waits/verdict_text.h"
#include "report/waits/waits_rows.h"
#include "report/window_text.h"
#include "text/escape.h"
#include "text/path_names.h"

namespace refrain::report {
namespace {

using analysis::waits::Delay;
using analysis::waits::Explained;
using analysis::waits::WaitStates;
using Json = nlohmann::ordered_json;

double seconds(double ns) { return ns / 1e9; }
double seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

class Writer {
 public:
  explicit Writer(const WaitsView& view) : view_(view), names_(view.trace, view.symbols) {}

  Json all() {
    const WaitStates& w = view_.waits;
    Json out;
    out["trace"] = view_.trace.name();
    out["complete"] = view_.trace.info().complete;
    out["rank_count"] = view_.trace.rank_count();
    if (!view_.window.is_all()) out["window"] = window_json(view_.window);
    add_stood_for(out, view_.trace, MadeOf::kTimes);
    out["total_seconds"] = seconds(w.total_ns);
    out["verdict"] = verdict();
    out["verdict_text"] = verdict_text(view_, names_);
    out["cores"] = cores_json(view_.trace, analysis::core_use(view_.trace));
    out["recorder"] = {{"work_seconds", seconds(w.recorder.work_ns)},
                       {"waiting_seconds", seconds(w.recorder.waiting_ns)},
                       {"critical_path_seconds", seconds(w.recorder.critical_ns)}};
    out["patterns"] = patterns();
    out["delays"] = delays();
    out["critical_path"] = critical_path();
    const auto& e = w.efficiency;
    out["efficiency"] = {{"runtime_seconds", seconds(e.runtime_ns)},
                         {"ideal_runtime_seconds", seconds(e.ideal_ns)},
                         {"useful_mean_seconds", seconds(e.useful_mean_ns)},
                         {"useful_max_seconds", seconds(e.useful_max_ns)},
                         {"parallel", e.parallel},
                         {"load_balance", e.load_balance},
                         {"communication", e.communication},
                         {"serialisation", e.serialisation},
                         {"transfer", e.transfer}};
    out["ranks"] = Json::array();
    for (size_t r = 0; r < w.ranks.size(); ++r)
      out["ranks"].push_back({{"rank", r},
                              {"seconds", seconds(w.ranks[r].total_ns)},
                              {"useful_seconds", seconds(w.ranks[r].useful_ns)},
                              {"waiting_seconds", seconds(w.ranks[r].waiting_ns)},
                              {"recorder_seconds", seconds(w.ranks[r].recorder_ns)}});
    out["counts"] = counts_json(view_.waits.counts);
    if (!w.explained.empty()) {
      out["explained"] = Json::array();
      for (const Explained& row : w.explained) out["explained"].push_back(explained(row));
    }
    return out;
  }

  std::string csv() {
    std::string out = "pattern,parent,rank,call_path,call,seconds,percent,count\n";
    for (const auto& s : view_.waits.severities) {
      if (!is_shown(view_, s.pattern, s.rank)) continue;
      out += fmt::format("{},{},{},{},{},{:.9f},{:.4f},{}\n", name_of(s.pattern),
                         name_of(parent_of(s.pattern)), s.rank,
                         text::csv_field(names_.text(s.path)), call_name(s.call), seconds(s.ns),
                         percent(static_cast<double>(s.ns)), s.count);
    }
    return out;
  }

 private:
  double percent(double ns) const {
    return view_.waits.total_ns > 0 ? 100 * ns / view_.waits.total_ns : 0;
  }
  double percent(uint64_t ns) const { return percent(static_cast<double>(ns)); }

  Json path(DefinitionId id) {
    Json out = Json::array();
    for (const text::PathStep& step : names_.steps(id))
      out.push_back({{"site", step.site == "unknown" ? Json() : Json(step.site)},
                     {"in_function", step.function.empty() ? Json() : Json(step.function)}});
    return out;
  }
  // As place(), with the innermost step beside the path.
  Json line(DefinitionId id, CallId call) {
    if (call == 0)
      return {{"call", Json()}, {"site", Json()}, {"in_function", Json()}, {"path", Json::array()}};
    Json steps = path(id);
    Json out = {{"call", call_name(call)}};
    out["site"] = steps.back()["site"];
    out["in_function"] = steps.back()["in_function"];
    out["path"] = std::move(steps);
    return out;
  }

  Json verdict() {
    const auto all = static_cast<double>(view_.waits.ns_of(analysis::waits::Pattern::kAll));
    Json out = Json::array();
    for (const auto& c : view_.waits.culprits) {
      const double ns = c.stretch.short_term_ns + c.stretch.long_term_ns;
      out.push_back({{"rank", c.stretch.rank},
                     {"kind", kind(c.stretch.is_call)},
                     {"from", line(c.stretch.from_path, c.stretch.from_call)},
                     {"to", line(c.stretch.to_path, c.stretch.to_call)},
                     {"seconds", seconds(ns)},
                     {"share_of_waiting", all > 0 ? ns / all : 0},
                     {"iterations", c.iterations},
                     {"passes", c.passes},
                     {"seconds_each", seconds(c.mean_ns)},
                     {"slow_seconds_each", seconds(c.slow_ns)},
                     {"others_seconds_each", c.others > 0 ? Json(seconds(c.others_ns)) : Json()},
                     {"as_slow_ranks", c.as_slow},
                     {"as_slow_rank_count", c.as_slow_ranks},
                     {"stretch_seconds", seconds(c.group_ns)}});
    }
    return out;
  }

  // Whether it is from the end of one call to the begin of the next, or a call.
  static std::string_view kind(bool is_call) { return is_call ? "call" : "between_calls"; }

  Json place(DefinitionId id, CallId call) {
    if (call == 0) return {};
    return {{"call", call_name(call)}, {"path", path(id)}};
  }

  Json ranks(const std::map<Rank, uint64_t>& of) const {
    Json out = Json::array();
    for (const auto& [rank, ns] : of)
      out.push_back({{"rank", rank}, {"seconds", seconds(ns)}, {"percent", percent(ns)}});
    return out;
  }

  Json patterns() {
    Json out = Json::array();
    for (const WaitPattern& row : wait_patterns(view_)) {
      Json item;
      item["pattern"] = name_of(row.pattern);
      const auto parent = parent_of(row.pattern);
      item["parent"] = parent == row.pattern ? Json() : Json(name_of(parent));
      item["seconds"] = seconds(row.ns);
      item["percent"] = percent(row.ns);
      item["own_seconds"] = seconds(row.own_ns);
      item["count"] = row.count;
      item["ranks"] = ranks(row.ranks);
      item["call_paths"] = Json::array();
      for (const WaitPath& p : row.paths)
        item["call_paths"].push_back({{"path", path(p.path)},
                                      {"call", call_name(p.call)},
                                      {"seconds", seconds(p.ns)},
                                      {"percent", percent(p.ns)},
                                      {"count", p.count},
                                      {"ranks", ranks(p.ranks)}});
      out.push_back(std::move(item));
    }
    return out;
  }

  Json delay(const Delay& d) {
    const double ns = d.short_term_ns + d.long_term_ns;
    return {{"pattern", name_of(d.pattern)},
            {"rank", d.rank < 0 ? Json() : Json(d.rank)},
            {"kind", d.rank < 0 ? Json() : Json(kind(d.is_call))},
            {"from", place(d.from_path, d.from_call)},
            {"to", place(d.to_path, d.to_call)},
            {"seconds", seconds(ns)},
            {"percent", percent(ns)},
            {"short_term_seconds", seconds(d.short_term_ns)},
            {"long_term_seconds", seconds(d.long_term_ns)}};
  }

  Json delays() {
    Json out = Json::array();
    for (const Delay& d : view_.waits.delays)
      if (!view_.pattern || contains(*view_.pattern, d.pattern)) out.push_back(delay(d));
    return out;
  }

  Json critical_path() {
    const WaitStates& w = view_.waits;
    Json parts = Json::array(), ranks = Json::array();
    std::map<Rank, uint64_t> by_rank;
    const auto share = [&](uint64_t ns) {
      return w.critical_ns > 0 ? 100 * static_cast<double>(ns) / static_cast<double>(w.critical_ns)
                               : 0;
    };
    for (const auto& part : w.critical_path) {
      by_rank[part.rank] += part.ns;
      parts.push_back({{"rank", part.rank},
                       {"kind", kind(part.is_call)},
                       {"from", place(part.from_path, part.from_call)},
                       {"to", place(part.to_path, part.to_call)},
                       {"seconds", seconds(part.ns)},
                       {"percent", share(part.ns)}});
    }
    for (const auto& [rank, ns] : by_rank)
      ranks.push_back({{"rank", rank}, {"seconds", seconds(ns)}, {"percent", share(ns)}});
    return {{"seconds", seconds(w.critical_ns)},
            {"ranks", std::move(ranks)},
            {"parts", std::move(parts)}};
  }

  Json explained(const Explained& e) {
    return {{"rank", e.rank},
            {"thread", e.thread},
            {"seq", e.seq},
            {"pattern", name_of(e.pattern)},
            {"call", call_name(e.call)},
            {"path", path(e.path)},
            {"begin_ns", e.begin_ns},
            {"end_ns", e.end_ns},
            {"seconds", seconds(e.wait_ns)},
            {"partner", e.partner < 0 ? Json() : Json(e.partner)},
            {"partner_seq", e.partner < 0 ? Json() : Json(e.partner_seq)},
            {"partner_call", e.partner < 0 ? Json() : place(e.partner_path, e.partner_call)},
            {"delay", e.delay ? delay(*e.delay) : Json()}};
  }

  const WaitsView& view_;
  text::PathNames names_;
};

}  // namespace

Json counts_json(const analysis::waits::Counts& c) {
  return {{"calls", c.calls},
          {"messages", c.messages},
          {"collective_calls", c.collectives},
          {"waits", c.waits},
          {"unmatched_sends", c.unmatched_sends},
          {"unmatched_receives", c.unmatched_receives},
          {"incomplete_collectives", c.incomplete_collectives},
          {"unknown_messages", c.unknown_messages},
          {"other_world", c.other_world},
          {"unknown_requests", c.unknown_requests},
          {"unknown_groups", c.unknown_groups},
          {"unknown_topologies", c.unknown_topologies},
          {"repaired_messages", c.repaired_messages},
          {"repaired_seconds_most", seconds(c.repaired_ns_most)},
          {"backward_times", c.backward_times},
          {"negative_durations", c.negative_durations},
          {"dropped", c.dropped},
          {"unassigned_seconds", seconds(c.unassigned_ns)},
          {"open_messages_most", c.open_messages_most},
          {"log_bytes", c.log_bytes},
          {"spilled_bytes", c.spilled_bytes}};
}

std::string waits_json(const WaitsView& view) { return json_with_rows(Writer(view).all()) + "\n"; }

std::string waits_csv(const WaitsView& view) { return Writer(view).csv(); }

}  // namespace refrain::report
