// Iterations and behaviours for people.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "report/behaviour/iterations_report.h"
#include "report/profile/profile_rows.h"
#include "report/stood_for.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::report {
namespace {

using analysis::Behaviour;
using analysis::BehaviourPattern;
using analysis::BehaviourSegment;
using analysis::IterationLoop;
using analysis::IterationRow;

constexpr size_t kMapRanks = 64, kMapIterations = 100;  // more share a character
constexpr size_t kMostRuns = 6;                         // of numbers in a list

// "0, 3-5, 9"; of a long list its begin.
template <class Number>
std::string list_text(const std::vector<Number>& sorted) {
  std::string out;
  size_t runs = 0;
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    if (++runs > kMostRuns) return out + fmt::format(", ... {} in all", sorted.size());
    out += fmt::format("{}{}", out.empty() ? "" : ", ", sorted[i]);
    if (end > i + 1) out += fmt::format("-{}", sorted[end - 1]);
    i = end;
  }
  return out;
}

std::string title_text(const IterationsView& view, const IterationLoop& loop) {
  const std::string where = busiest_call_text(view.trace, view.symbols, loop.call, loop.path);
  return fmt::format("{}: {} on {}, {}{}", text::printable(loop.name),
                     text::counted_text(loop.rows.size(), "iteration"),
                     text::counted_text(loop.ranks, "rank"), text::time_text(loop.duration_ns.sum),
                     where.empty() ? "" : ", most in " + where);
}

// What is remarkable.
std::string remarks_text(const IterationLoop& loop) {
  if (loop.rows.empty()) return "";
  const auto& d = loop.duration_ns;
  const IterationRow& slowest = loop.rows[loop.slowest];
  std::string out = fmt::format(
      "  mean {}, median {}, from {} to {}; slowest: iteration {}, {:.1f} times the median, rank "
      "{}\n",
      text::time_text(d.mean), text::time_text(d.median), text::time_text(d.min),
      text::time_text(d.max), slowest.number, d.median > 0 ? d.max / d.median : 1,
      slowest.slowest_rank);
  if (!loop.outliers.empty()) {
    std::vector<uint64_t> numbers;
    double more = 0;
    for (const size_t i : loop.outliers) {
      numbers.push_back(loop.rows[i].number);
      more += static_cast<double>(loop.rows[i].longest_ns) - d.median;
    }
    out += fmt::format("  outliers: {} ({}), {} longer than the median in all\n",
                       list_text(numbers), numbers.size(), text::time_text(more));
  }
  if (loop.has_clear_trend())
    out += fmt::format("  trend: {} by {} each iteration, {:.0f} % of the mean over all of them\n",
                       loop.trend_ns > 0 ? "longer" : "shorter",
                       text::time_text(std::abs(loop.trend_ns)), 100 * std::abs(loop.trend_share));
  return out;
}

// The slowest ones, in their order, and what the others add up to.
std::string rows_text(const IterationsView& view, const IterationLoop& loop) {
  std::vector<size_t> order(loop.rows.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t shown = view.top == 0 ? order.size() : std::min(view.top, order.size());
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return loop.rows[a].longest_ns > loop.rows[b].longest_ns;
  });
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown));
  text::Table table(
      {"iteration", "begin", "duration", "<", "mean", "MPI", "waiting", "bytes", "<slowest"});
  table.can_leave_out({"begin", "bytes"});
  const auto add = [&](const std::string& name, const std::string& begin, double longest,
                       const std::string& picture, const IterationRow& sums,
                       const std::string& slowest) {
    table.add({name, begin, text::time_text(longest), picture, text::time_text(sums.mean_ns()),
               text::percent_text(sums.mpi_ns, sums.sum_ns),
               text::percent_text(sums.waiting_ns, sums.sum_ns), text::bytes_text(sums.bytes),
               slowest});
  };
  IterationRow others;
  double others_ns = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const IterationRow& row = loop.rows[order[i]];
    if (i < shown) {
      add(std::to_string(row.number), text::duration_text(row.begin_ns),
          static_cast<double>(row.longest_ns),
          text::bar_text(static_cast<double>(row.longest_ns), loop.duration_ns.max), row,
          fmt::format("rank {}", row.slowest_rank));
      continue;
    }
    others_ns += static_cast<double>(row.longest_ns);
    others.sum_ns += row.sum_ns;
    others.threads += row.threads;
    others.mpi_ns += row.mpi_ns;
    others.waiting_ns += row.waiting_ns;
    others.bytes += row.bytes;
  }
  const size_t more = order.size() - shown;
  if (more > 0) add(text::others_text(more), "", others_ns, "", others, "");
  return table.text() + text::more_text(more, ", which are shorter");
}

// The loops that take longest, in their order; what the others take goes to `others_ns`. Irregular
// programs have hundreds.
std::vector<size_t> longest_loops(const IterationsView& view, double* others_ns) {
  const std::vector<IterationLoop>& loops = view.iterations.loops;
  std::vector<size_t> order(loops.size());
  std::iota(order.begin(), order.end(), 0);
  if (view.top == 0 || view.top >= order.size()) return order;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return loops[a].duration_ns.sum > loops[b].duration_ns.sum;
  });
  for (size_t i = view.top; i < order.size(); ++i) *others_ns += loops[order[i]].duration_ns.sum;
  order.resize(view.top);
  std::sort(order.begin(), order.end());
  return order;
}

std::string behaviours_table(const IterationsView& view) {
  const auto& b = view.iterations.behaviours;
  text::Table table({"<behaviour", "<of", "segments", "ranks", "time", "share", "<", "mean", "min",
                     "max", "MPI", "<most in"});
  table.can_leave_out({"min", "max", "ranks", "segments"});
  double all = 0;
  for (const Behaviour& row : b.rows) all += row.sum_ns;
  const size_t shown = view.top == 0 ? b.rows.size() : std::min(view.top, b.rows.size());
  Behaviour others;
  for (size_t i = 0; i < b.rows.size(); ++i) {
    const Behaviour& row = b.rows[i];
    if (i >= shown) {
      others.segments += row.segments;
      others.sum_ns += row.sum_ns;
      others.mpi_ns += row.mpi_ns;
      continue;
    }
    table.add(
        {row.name,
         row.loop < 0 ? "-"
                      : text::printable(view.iterations.loops[static_cast<size_t>(row.loop)].name),
         text::count_text(row.segments), text::count_text(row.ranks), text::time_text(row.sum_ns),
         text::percent_text(row.sum_ns, all), text::bar_text(row.sum_ns, all),
         text::time_text(row.sum_ns / static_cast<double>(row.segments)),
         text::time_text(row.min_ns), text::time_text(row.max_ns),
         text::percent_text(row.mpi_ns, row.sum_ns),
         busiest_call_text(view.trace, view.symbols, row.call, row.path)});
  }
  const size_t more = b.rows.size() - shown;
  if (more > 0)
    table.add({text::others_text(more), "", text::count_text(others.segments), "",
               text::time_text(others.sum_ns), text::percent_text(others.sum_ns, all), "", "", "",
               "", text::percent_text(others.mpi_ns, others.sum_ns), ""});
  return "\n" + text::heading("Behaviours (" + b.method + "), by time") + "\n" + table.text() +
         text::more_text(more);
}

// What the ranks do at the same time (the thesis' figure 17).
std::string patterns_text(const IterationsView& view, size_t loop) {
  const auto& b = view.iterations.behaviours;
  text::Table table({"iterations", "time", "<which", "<behaviours"});
  size_t count = 0;
  double others_iterations = 0, others_time = 0;
  for (const BehaviourPattern& pattern : b.patterns) {
    if (pattern.loop != loop) continue;
    if (view.top > 0 && ++count > view.top) {
      others_iterations += pattern.share_of_iterations;
      others_time += pattern.share_of_time;
      continue;
    }
    std::string parts;
    for (const auto& part : pattern.parts)
      parts += fmt::format("{}{} on rank {}", parts.empty() ? "" : "; ",
                           b.rows[part.behaviour].name, list_text(part.ranks));
    table.add({text::percent_text(pattern.share_of_iterations, 1),
               text::percent_text(pattern.share_of_time, 1), list_text(pattern.iterations), parts});
  }
  if (view.top > 0 && count > view.top)
    table.add({text::percent_text(others_iterations, 1), text::percent_text(others_time, 1),
               fmt::format("others ({})", count - view.top), ""});
  return "\nWhat the ranks do at the same time, in " +
         text::printable(view.iterations.loops[loop].name) + "\n" + table.text();
}

// A line for a rank, a character for an iteration; where several share one, the first that differs
// from the most frequent behaviour.
std::string map_text(const IterationsView& view, size_t loop) {
  const auto& b = view.iterations.behaviours;
  const IterationLoop& of = view.iterations.loops[loop];
  if (of.rows.empty()) return "";
  const auto ranks = static_cast<size_t>(view.trace.rank_count());
  const size_t per_line = (ranks + kMapRanks - 1) / kMapRanks;
  const size_t per_cell = (of.rows.size() + kMapIterations - 1) / kMapIterations;
  const size_t width = (of.rows.size() + per_cell - 1) / per_cell;
  std::map<uint32_t, size_t> counts;
  for (const BehaviourSegment& s : b.segments)
    if (s.iteration >= 0 && b.rows[s.behaviour].loop == static_cast<int64_t>(loop))
      ++counts[s.behaviour];
  if (counts.empty()) return "";
  const uint32_t usual = std::max_element(counts.begin(), counts.end(), [](auto& x, auto& y) {
                           return x.second < y.second;
                         })->first;
  std::vector<std::string> lines((ranks + per_line - 1) / per_line, std::string(width, ' '));
  for (const BehaviourSegment& s : b.segments) {
    if (s.iteration < 0 || b.rows[s.behaviour].loop != static_cast<int64_t>(loop)) continue;
    const size_t x = static_cast<size_t>(s.iteration) / per_cell;
    if (x >= width) continue;
    char& cell = lines[static_cast<size_t>(s.rank) / per_line][x];
    const std::string& name = b.rows[s.behaviour].name;
    const char letter = name.size() == 1 ? name[0] : '*';
    const bool is_usual = s.behaviour == usual;
    if (cell == ' ' || (!is_usual && cell == b.rows[usual].name[0])) cell = letter;
  }
  std::string out =
      fmt::format("\nRanks (down) and iterations (across) of {}{}{}\n", text::printable(of.name),
                  per_cell > 1 ? fmt::format(", {} a character", per_cell) : "",
                  per_line > 1 ? fmt::format(", {} ranks a line", per_line) : "");
  for (size_t i = 0; i < lines.size(); ++i)
    out += fmt::format("{:>8} |{}|\n", i * per_line, lines[i]);
  return out;
}

}  // namespace

std::string busiest_call_text(const Trace& trace, reader::Symbols& symbols, CallId call,
                              DefinitionId path) {
  if (call == 0) return "";
  std::string out = call_name(call);
  const auto site = trace.site(path);
  if (!site) return out;
  const std::string label = symbols.label(*site), function = symbols.find(*site).function;
  if (!label.empty()) out += " " + label;
  if (!function.empty()) out += " in " + text::shown_name(function);
  return text::printable(out);
}

std::string iterations_text(const IterationsView& view) {
  const auto& all = view.iterations;
  std::string out =
      fmt::format("{}: {}, {} from {}\n", text::printable(view.trace.name()),
                  text::counted_text(static_cast<uint64_t>(view.trace.rank_count()), "rank"),
                  text::counted_text(all.loops.size(), "loop"),
                  all.from_marks ? "marks of the program" : "the grammar of its calls");
  out += stood_for_line(view.trace, MadeOf::kTimes);
  if (view.behaviours) out += behaviours_table(view);
  double others_ns = 0;
  for (const size_t i : longest_loops(view, &others_ns)) {
    out += "\n" + text::heading(text::paragraph(title_text(view, all.loops[i]), 4)) + "\n" +
           text::paragraph(remarks_text(all.loops[i]), 4);
    out += view.behaviours ? patterns_text(view, i) + map_text(view, i)
                           : rows_text(view, all.loops[i]);
  }
  if (const size_t more =
          view.top == 0 ? 0 : all.loops.size() - std::min(view.top, all.loops.size());
      more > 0)
    out += "\n" + text::more_text(
                      more, fmt::format(" loops, {} in all", text::time_text(others_ns)).c_str());
  if (all.untimed > 0)
    out += fmt::format("\n{} without a time, in no iteration\n",
                       text::counted_text(all.untimed, "call"));
  if (all.polling_rounds > 0)
    out +=
        fmt::format("\n{} of loops that only ask in vain (MPI_Test and similar), in no iteration\n",
                    text::counted_text(all.polling_rounds, "round"));
  return out;
}

}  // namespace refrain::report
