// Iterations and behaviours for programs: JSON and CSV.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/behaviour/iterations_report.h"
#include "report/stood_for.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

using Json = nlohmann::ordered_json;

Json stats_json(const analysis::IterationStats& s) {
  return {{"sum", s.sum}, {"mean", s.mean}, {"median", s.median}, {"min", s.min}, {"max", s.max}};
}

Json row_json(const analysis::IterationRow& row) {
  return {{"number", row.number},
          {"begin_ns", row.begin_ns},
          {"end_ns", row.end_ns},
          {"duration_ns", row.longest_ns},
          {"slowest_rank", row.slowest_rank},
          {"mean_ns", text::rounded(row.mean_ns())},
          {"sum_ns", text::rounded(row.sum_ns)},
          {"mpi_ns", text::rounded(row.mpi_ns)},
          {"waiting_ns", text::rounded(row.waiting_ns)},
          {"bytes", row.bytes},
          {"calls", row.calls},
          {"threads", row.threads}};
}

Json call_json(const IterationsView& view, CallId call, DefinitionId path) {
  const std::string text = busiest_call_text(view.trace, view.symbols, call, path);
  return text.empty() ? Json() : Json(text);
}

Json loop_json(const IterationsView& view, const analysis::IterationLoop& loop) {
  Json out = {{"name", loop.name},
              {"most_in", call_json(view, loop.call, loop.path)},
              {"iterations", loop.rows.size()},
              {"ranks", loop.ranks},
              {"duration_ns", stats_json(loop.duration_ns)},
              {"mpi_ns", stats_json(loop.mpi_ns)},
              {"waiting_ns", stats_json(loop.waiting_ns)},
              {"bytes", stats_json(loop.bytes)},
              {"slowest", loop.rows.empty() ? Json() : Json(loop.rows[loop.slowest].number)},
              {"trend",
               {{"ns_per_iteration", loop.trend_ns},
                {"share", loop.trend_share},
                {"fit", loop.trend_fit},
                {"is_clear", loop.has_clear_trend()}}}};
  out["outliers"] = Json::array();
  for (const size_t i : loop.outliers) out["outliers"].push_back(loop.rows[i].number);
  return out;
}

// As dump() writes it `depth` levels deep.
std::string dumped(const Json& json, size_t depth) {
  std::string out;
  for (const char c : json.dump(2, ' ', false, Json::error_handler_t::replace)) {
    out += c;
    if (c == '\n') out.append(2 * depth, ' ');
  }
  return out;
}

// An array as the last member of an object that is open, whose items are made one at a time: a run
// has millions of iterations, and one takes several times as much memory as a value than as text.
template <class Items, class Write>
void append_array(const char* name, const Items& items, size_t depth, std::string& out,
                  Write&& write) {
  out += fmt::format(",\n{:{}}\"{}\": [", "", 2 * depth, name);
  bool is_first = true;
  for (const auto& item : items) {
    out += fmt::format("{}\n{:{}}", is_first ? "" : ",", "", 2 * (depth + 1));
    is_first = false;
    write(item);
  }
  if (!is_first) out += fmt::format("\n{:{}}", "", 2 * depth);
  out += ']';
}

// Without the end of the object, so that members can follow.
std::string opened(const Json& object, size_t depth) {
  std::string out = dumped(object, depth);
  out.resize(out.rfind('\n'));
  return out;
}

void append_loop(const IterationsView& view, const analysis::IterationLoop& loop,
                 std::string& out) {
  out += opened(loop_json(view, loop), 2);
  append_array("rows", loop.rows, 3, out,
               [&](const analysis::IterationRow& row) { out += dumped(row_json(row), 4); });
  out += "\n    }";
}

Json behaviours_json(const IterationsView& view) {
  const analysis::Behaviours& b = view.iterations.behaviours;
  Json out = {{"method", b.method}};
  const auto loop_of = [&](int64_t loop) {
    return loop < 0 ? Json() : Json(view.iterations.loops[static_cast<size_t>(loop)].name);
  };
  out["rows"] = Json::array();
  for (const analysis::Behaviour& row : b.rows)
    out["rows"].push_back(
        {{"name", row.name},
         {"loop", loop_of(row.loop)},
         {"most_in", call_json(view, row.call, row.path)},
         {"calls", row.calls},
         {"segments", row.segments},
         {"ranks", row.ranks},
         {"first_rank", row.first_rank},
         {"sum_ns", text::rounded(row.sum_ns)},
         {"mean_ns", text::rounded(row.sum_ns / static_cast<double>(row.segments))},
         {"min_ns", text::rounded(row.min_ns)},
         {"max_ns", text::rounded(row.max_ns)},
         {"mpi_ns", text::rounded(row.mpi_ns)},
         {"error_ns", text::rounded(row.error_ns)}});
  out["patterns"] = Json::array();
  for (const analysis::BehaviourPattern& pattern : b.patterns) {
    Json parts = Json::array();
    for (const auto& part : pattern.parts)
      parts.push_back({{"behaviour", b.rows[part.behaviour].name}, {"ranks", part.ranks}});
    out["patterns"].push_back({{"loop", loop_of(pattern.loop)},
                               {"iterations", pattern.iterations},
                               {"share_of_iterations", pattern.share_of_iterations},
                               {"share_of_time", pattern.share_of_time},
                               {"parts", std::move(parts)}});
  }
  out["segments"] = Json::array();
  for (const analysis::BehaviourSegment& s : b.segments)
    out["segments"].push_back({{"rank", s.rank},
                               {"thread", s.thread},
                               {"begin_ns", s.begin_ns},
                               {"end_ns", s.end_ns},
                               {"behaviour", b.rows[s.behaviour].name},
                               {"iteration", s.iteration < 0 ? Json() : Json(s.iteration)}});
  return out;
}

}  // namespace

std::string iterations_json(const IterationsView& view) {
  Json head;
  head["trace"] = view.trace.name();
  head["complete"] = view.trace.info().complete;
  head["rank_count"] = view.trace.rank_count();
  add_stood_for(head, view.trace, MadeOf::kTimes);
  head["source"] = view.iterations.from_marks ? "marks" : "loops";
  head["untimed"] = view.iterations.untimed;
  head["polling_rounds"] = view.iterations.polling_rounds;
  std::string out = opened(head, 0);
  append_array("loops", view.iterations.loops, 1, out,
               [&](const analysis::IterationLoop& loop) { append_loop(view, loop, out); });
  if (view.behaviours) out += ",\n  \"behaviours\": " + dumped(behaviours_json(view), 1);
  return out + "\n}\n";
}

std::string iterations_csv(const IterationsView& view) {
  std::string out;
  if (view.behaviours) {
    const analysis::Behaviours& b = view.iterations.behaviours;
    out = "rank,thread,begin_ns,end_ns,behaviour,loop,iteration\n";
    for (const analysis::BehaviourSegment& s : b.segments) {
      const analysis::Behaviour& row = b.rows[s.behaviour];
      out += fmt::format(
          "{},{},{},{},{},{},{}\n", s.rank, s.thread, s.begin_ns, s.end_ns, row.name,
          row.loop < 0 || s.iteration < 0
              ? ""
              : text::csv_field(view.iterations.loops[static_cast<size_t>(row.loop)].name),
          s.iteration < 0 ? "" : std::to_string(s.iteration));
    }
    return out;
  }
  out =
      "loop,iteration,begin_ns,end_ns,duration_ns,slowest_rank,mean_ns,mpi_ns,waiting_ns,bytes,"
      "calls\n";
  for (const analysis::IterationLoop& loop : view.iterations.loops)
    for (const analysis::IterationRow& row : loop.rows)
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", text::csv_field(loop.name),
                         row.number, row.begin_ns, row.end_ns, row.longest_ns, row.slowest_rank,
                         text::rounded(row.mean_ns()), text::rounded(row.mpi_ns),
                         text::rounded(row.waiting_ns), row.bytes, row.calls);
  return out;
}

}  // namespace refrain::report
