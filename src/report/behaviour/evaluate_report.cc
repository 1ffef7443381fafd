// What `refrain evaluate` says.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/behaviour/reduce_report.h"
#include "report/profile/profile_rows.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/path_names.h"
#include "text/table.h"

namespace refrain::report {

namespace {

using analysis::reduce::Evaluation;
using analysis::reduce::Measure;
using analysis::reduce::Scope;
using analysis::reduce::Trend;
using analysis::reduce::Verdict;
using Json = nlohmann::ordered_json;

double seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string headline(const EvaluateView& view) {
  const Evaluation& e = view.evaluation;
  std::string out =
      fmt::format("{}: {} ranks, {} with times ({}), {} bytes, {} of them times\n",
                  text::printable(view.trace.name()),
                  text::count_text(static_cast<uint64_t>(view.trace.rank_count())),
                  text::counted_text(e.calls, "call"), text::printable(e.timing),
                  text::count_text(e.full_bytes), text::count_text(e.full_times_bytes));
  out += fmt::format("{} of {} waited, {}\n", text::time_text(e.waiting_ns),
                     text::time_text(e.total_ns), text::percent_text(e.waiting_ns, e.total_ns));
  out += fmt::format(
      "trends: waits, computation and MPI time of at least {:.3g} % of the time, severities within "
      "{:.3g} %, those of a rank within {:.3g} % of the longest\n",
      100 * view.retention.least_share, 100 * view.retention.tolerance,
      150 * view.retention.tolerance);
  return out;
}

std::string table_of(const EvaluateView& view, Scope scope) {
  const Evaluation& e = view.evaluation;
  std::vector<const Verdict*> rows;
  for (const Verdict& v : e.verdicts)
    if (v.scope == scope) rows.push_back(&v);
  if (rows.empty()) return {};
  // Those that keep the trends first, the smaller ones before the larger ones.
  std::stable_sort(rows.begin(), rows.end(), [](const Verdict* a, const Verdict* b) {
    if (a->retention.retained() != b->retention.retained()) return a->retention.retained();
    return a->file_bytes < b->file_bytes;
  });
  text::Table table({"<method", "bytes", "of full", "by model", "segments", "kept", "matched",
                     "distance", "score", "<trends"});
  table.can_leave_out({"matched", "kept", "by model", "segments"});
  for (const Verdict* v : rows)
    table.add({text::printable(v->method), text::count_text(v->file_bytes),
               fmt::format("{:.2f} %", e.percent_of(*v)),
               v->model_bytes > 0 ? fmt::format("{:.2f} %", e.model_percent_of(*v)) : "-",
               text::count_text(v->segments.segments),
               text::count_text(v->segments.representatives),
               fmt::format("{:.3f}", v->segments.degree_of_matching()),
               text::duration_text(text::rounded(v->distance_ns)),
               fmt::format("{:.3f}", v->retention.score),
               v->retention.retained() ? "retained" : v->retention.lost});
  return fmt::format("\n{}\n{}", text::heading(scope_name(scope)), table.text());
}

Json trend_json(const EvaluateView& view, text::PathNames& names, const Trend& t) {
  Json path = Json::array();
  for (const text::PathStep& step : names.steps(t.path)) path.push_back(step.label());
  Json ranks = Json::array();
  for (const analysis::reduce::RankTimes& r : t.ranks)
    if (view.by_rank)
      ranks.push_back({{"rank", r.rank},
                       {"seconds", seconds(r.full_ns)},
                       {"rebuilt_seconds", seconds(r.rebuilt_ns)}});
  Json out = {{"measure", measure_name(t.measure)},
              {"pattern", t.measure == Measure::kWait ? std::string(name_of(t.pattern))
                                                      : measure_name(t.measure)},
              {"name", trend_name(t)},
              {"call", call_name(t.call)},
              {"path", path},
              {"seconds", seconds(t.full_ns)},
              {"rebuilt_seconds", seconds(t.rebuilt_ns)},
              {"worst_rank", t.worst_rank},
              {"worst_rank_seconds", seconds(t.worst_full_ns)},
              {"worst_rank_rebuilt_seconds", seconds(t.worst_rebuilt_ns)},
              {"same_severity", t.same_severity},
              {"same_by_rank", t.same_by_rank},
              {"same_ranks", t.same_ranks},
              {"same_disparity", t.same_disparity},
              {"is_new", t.is_new},
              {"kept", t.kept()}};
  if (view.by_rank) out["ranks"] = std::move(ranks);
  return out;
}

}  // namespace

std::string evaluate_text(const EvaluateView& view) {
  std::string out = text::paragraph(headline(view));
  for (const Scope scope : {Scope::kIntra, Scope::kInter, Scope::kCombined})
    out += table_of(view, scope);
  return out;
}

std::string evaluate_json(const EvaluateView& view) {
  const Evaluation& e = view.evaluation;
  text::PathNames names(view.trace, view.symbols);
  Json out;
  out["trace"] = view.trace.name();
  out["timing"] = e.timing;
  out["ranks"] = view.trace.rank_count();
  out["calls"] = e.calls;
  out["full_bytes"] = e.full_bytes;
  out["full_times_bytes"] = e.full_times_bytes;
  out["full_model_bytes"] = e.full_model_bytes;
  out["waiting_seconds"] = e.waiting_ns / 1e9;
  out["total_seconds"] = e.total_ns / 1e9;
  out["tolerance"] = view.retention.tolerance;
  out["least_share"] = view.retention.least_share;
  out["methods"] = Json::array();
  for (const Verdict& v : e.verdicts) {
    Json trends = Json::array();
    for (const Trend& t : v.retention.trends) trends.push_back(trend_json(view, names, t));
    const auto number = [](const std::optional<double>& t) { return t ? Json(*t) : Json(); };
    out["methods"].push_back({{"method", v.method},
                              {"threshold", number(v.threshold)},
                              {"threshold_across_ranks", number(v.inter_threshold)},
                              {"scope", scope_name(v.scope)},
                              {"across_ranks", across_name(v.segments.across)},
                              {"bytes", v.file_bytes},
                              {"times_bytes", v.times_bytes},
                              {"percent", e.percent_of(v)},
                              {"model_bytes", v.model_bytes},
                              {"model_percent", e.model_percent_of(v)},
                              {"start_step_ns", v.segments.step_ns},
                              {"segments", v.segments.segments},
                              {"representatives", v.segments.representatives},
                              {"degree_of_matching", v.segments.degree_of_matching()},
                              {"approximation_distance_ns", v.distance_ns},
                              {"largest_distance_ns", v.largest_ns},
                              {"score", v.retention.score},
                              {"time_score", v.retention.time_score},
                              {"retained", v.retention.retained()},
                              {"lost", v.retention.lost},
                              {"same_dominant", v.retention.same_dominant},
                              {"negative", v.retention.negative},
                              {"trends", std::move(trends)}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string evaluate_csv(const EvaluateView& view) {
  const Evaluation& e = view.evaluation;
  std::string out =
      "method,scope,bytes,times_bytes,percent,model_percent,segments,representatives,"
      "degree_of_matching,approximation_distance_ns,largest_distance_ns,score,retained,lost\n";
  for (const Verdict& v : e.verdicts)
    out += fmt::format("{},{},{},{},{:.4f},{:.4f},{},{},{:.6f},{:.0f},{:.0f},{:.6f},{},{}\n",
                       text::csv_field(v.method), scope_name(v.scope), v.file_bytes, v.times_bytes,
                       e.percent_of(v), e.model_percent_of(v), v.segments.segments,
                       v.segments.representatives, v.segments.degree_of_matching(), v.distance_ns,
                       v.largest_ns, v.retention.score, v.retention.retained() ? 1 : 0,
                       text::csv_field(v.retention.lost));
  return out;
}

}  // namespace refrain::report
