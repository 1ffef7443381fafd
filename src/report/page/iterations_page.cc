// Iterations and behaviours: what each of them took as columns, and what is known of them together.

#include <algorithm>
#include <numeric>

#include "report/behaviour/iterations_report.h"
#include "report/page/section.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;
using Numbers = std::vector<int64_t>;

namespace {

Json stats_json(const analysis::IterationStats& s) {
  return {{"mean", s.mean}, {"median", s.median}, {"min", s.min}, {"max", s.max}, {"sum", s.sum}};
}

int64_t rounded(double v) { return static_cast<int64_t>(v + 0.5); }

// The rows that are shown: with too many the longest ones and others evenly, in their order.
std::vector<size_t> shown_rows(const analysis::IterationLoop& loop, size_t most) {
  std::vector<size_t> all(loop.rows.size());
  std::iota(all.begin(), all.end(), 0);
  if (all.size() <= most) return all;
  std::vector<size_t> longest = all;
  const size_t half = std::max<size_t>(most / 2, 1);
  std::nth_element(
      longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(half - 1), longest.end(),
      [&](size_t a, size_t b) { return loop.rows[a].longest_ns > loop.rows[b].longest_ns; });
  longest.resize(half);
  const size_t step = (all.size() + half - 1) / half;
  for (size_t i = 0; i < all.size(); i += step) longest.push_back(i);
  longest.push_back(loop.slowest);
  std::sort(longest.begin(), longest.end());
  longest.erase(std::unique(longest.begin(), longest.end()), longest.end());
  return longest;
}

void put_loops(const PageView& view, PageData& out) {
  const analysis::Iterations& all = *view.answers.iterations;
  Json loops = Json::array();
  Numbers number, begin, end, duration, mean, mpi, waiting, bytes, slowest;
  for (const analysis::IterationLoop& loop : all.loops) {
    const std::vector<size_t> shown = shown_rows(loop, view.options.most_iterations);
    const size_t first = number.size();
    Json outliers = Json::array();
    size_t slowest_row = first;
    for (const size_t i : shown) {
      const analysis::IterationRow& row = loop.rows[i];
      if (i == loop.slowest) slowest_row = number.size();
      if (std::binary_search(loop.outliers.begin(), loop.outliers.end(), i))
        outliers.push_back(number.size());
      number.push_back(static_cast<int64_t>(row.number));
      begin.push_back(static_cast<int64_t>(row.begin_ns));
      end.push_back(static_cast<int64_t>(row.end_ns));
      duration.push_back(static_cast<int64_t>(row.longest_ns));
      mean.push_back(rounded(row.mean_ns()));
      mpi.push_back(rounded(row.mpi_ns));
      waiting.push_back(rounded(row.waiting_ns));
      bytes.push_back(static_cast<int64_t>(row.bytes));
      slowest.push_back(row.slowest_rank);
    }
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    for (const analysis::IterationRow& row : loop.rows) {
      begin_ns = std::min(begin_ns, row.begin_ns);
      end_ns = std::max(end_ns, row.end_ns);
    }
    loops.push_back({{"name", loop.name},
                     {"label", busiest_call_text(view.trace, view.symbols, loop.call, loop.path)},
                     {"first", first},
                     {"count", shown.size()},
                     {"iterations", loop.rows.size()},
                     {"ranks", loop.ranks},
                     {"begin_ns", begin_ns},
                     {"end_ns", end_ns},
                     {"duration_ns", stats_json(loop.duration_ns)},
                     {"mpi_ns", stats_json(loop.mpi_ns)},
                     {"waiting_ns", stats_json(loop.waiting_ns)},
                     {"bytes", stats_json(loop.bytes)},
                     {"slowest", slowest_row},
                     {"outliers", std::move(outliers)},
                     {"trend",
                      {{"ns_per_iteration", loop.trend_ns},
                       {"share", loop.trend_share},
                       {"fit", loop.trend_fit},
                       {"is_clear", loop.has_clear_trend()}}}});
  }
  out.json["iterations"] = {{"source", all.from_marks ? "marks" : "loops"},
                            {"loops", std::move(loops)}};
  out.columns.put("iterations.number", std::move(number));
  out.columns.put("iterations.begin", std::move(begin));
  out.columns.put("iterations.end", std::move(end));
  out.columns.put("iterations.duration", std::move(duration));
  out.columns.put("iterations.mean", std::move(mean));
  out.columns.put("iterations.mpi", std::move(mpi));
  out.columns.put("iterations.waiting", std::move(waiting));
  out.columns.put("iterations.bytes", std::move(bytes));
  out.columns.put("iterations.slowest_rank", std::move(slowest));
}

Json patterns_json(const analysis::Behaviours& b) {
  constexpr size_t kMostPatterns = 200;
  Json out = Json::array();
  for (const analysis::BehaviourPattern& pattern : b.patterns) {
    if (out.size() == kMostPatterns) break;
    Json parts = Json::array();
    for (const auto& part : pattern.parts)
      parts.push_back({{"row", part.behaviour}, {"ranks", part.ranks}});
    out.push_back({{"loop", pattern.loop},
                   {"iterations", pattern.iterations.size()},
                   {"first", pattern.iterations.front()},
                   {"share_of_iterations", pattern.share_of_iterations},
                   {"share_of_time", pattern.share_of_time},
                   {"parts", std::move(parts)}});
  }
  return out;
}

void put_behaviours(const PageView& view, PageData& out) {
  const analysis::Behaviours& b = view.answers.iterations->behaviours;
  Json rows = Json::array();
  for (const analysis::Behaviour& row : b.rows)
    rows.push_back({{"name", row.name},
                    {"loop", row.loop < 0 ? Json() : Json(row.loop)},
                    {"label", busiest_call_text(view.trace, view.symbols, row.call, row.path)},
                    {"calls", row.calls},
                    {"segments", row.segments},
                    {"ranks", row.ranks},
                    {"first_rank", row.first_rank},
                    {"duration_ns",
                     {{"mean", row.sum_ns / static_cast<double>(row.segments)},
                      {"min", row.min_ns},
                      {"max", row.max_ns},
                      {"sum", row.sum_ns}}},
                    {"mpi_share", row.sum_ns > 0 ? row.mpi_ns / row.sum_ns : 0},
                    {"error_ns", row.error_ns}});
  Numbers rank, thread, start, length, of, iteration;
  const size_t most = std::max<size_t>(view.options.most_behaviour_segments, 1);
  const size_t step = (b.segments.size() + most - 1) / most;
  for (size_t i = 0; i < b.segments.size(); i += std::max<size_t>(step, 1)) {
    const analysis::BehaviourSegment& s = b.segments[i];
    rank.push_back(s.rank);
    thread.push_back(s.thread);
    start.push_back(static_cast<int64_t>(s.begin_ns));
    length.push_back(static_cast<int64_t>(s.end_ns - s.begin_ns));
    of.push_back(s.behaviour);
    iteration.push_back(s.iteration);
  }
  out.json["behaviours"] = {{"method", b.method},
                            {"source", view.answers.iterations->from_marks ? "marks" : "loops"},
                            {"segments", b.segments.size()},
                            {"shown", rank.size()},
                            {"rows", std::move(rows)},
                            {"patterns", patterns_json(b)}};
  out.columns.put("behaviours.rank", std::move(rank));
  out.columns.put("behaviours.thread", std::move(thread));
  out.columns.put("behaviours.start", std::move(start));
  out.columns.put("behaviours.length", std::move(length));
  out.columns.put("behaviours.row", std::move(of));
  out.columns.put("behaviours.iteration", std::move(iteration));
}

void put_iterations(const PageView& view, PageData& out) {
  if (!view.answers.iterations) {
    out.json["iterations"] = Json();
    out.json["behaviours"] = Json();
    out.json["no_iterations"] = view.answers.no_iterations;
    return;
  }
  put_loops(view, out);
  put_behaviours(view, out);
}

class IterationsSection : public PageSection {
 public:
  void write(const PageView& view, PageData& out) const override { put_iterations(view, out); }
};

}  // namespace

std::unique_ptr<PageSection> iterations_section() { return std::make_unique<IterationsSection>(); }

}  // namespace refrain::report
