// Maps of when each rank was in which function: a row of three pictures for each function.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mpi/call_name.h"
#include "report/latex/cells.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

using analysis::TemporalCell;
using analysis::TemporalMaps;

constexpr size_t kMostTemporal = 40;
constexpr double kTemporalWidth_mm = 48, kTemporalHeight_mm = 30, kTemporalRow_mm = 3;

struct TemporalQuantity {
  const char* title;
  double (*value)(const TemporalCell&);
  std::string (*text)(const Json&);
};
constexpr TemporalQuantity kTemporalQuantities[] = {
    {"time", [](const TemporalCell& c) { return c.ns; }, duration},
    {"calls", [](const TemporalCell& c) { return static_cast<double>(c.calls); }, count},
    {"bytes", [](const TemporalCell& c) { return static_cast<double>(c.bytes); }, bytes}};

std::string temporal_labels(const TemporalMaps& maps, double height) {
  const auto every = static_cast<size_t>(std::max(1.0, 3.0 / height + 0.999));
  std::string out;
  for (size_t row = 0; row < maps.rows; row += every)
    out += fmt::format("\\node[left] at (0,{:.2f}) {{{}}};\n",
                       (static_cast<double>(maps.rows - row) - 0.5) * height,
                       row * static_cast<size_t>(maps.ranks_a_row));
  return out;
}

std::string temporal_picture(const TemporalMaps& maps, const std::vector<TemporalCell>& all,
                             const TemporalQuantity& what) {
  double most = 0, sum = 0;
  for (const TemporalCell& cell : all) {
    most = std::max(most, what.value(cell));
    sum += what.value(cell);
  }
  std::string out = "\\begin{minipage}[t]{57mm}\\centering\\footnotesize ";
  if (!(most > 0)) return out + "no " + what.title + "\\end{minipage}";
  Cells cells(maps.bins, maps.rows);
  for (size_t row = 0; row < maps.rows; ++row)
    for (size_t bin = 0; bin < maps.bins; ++bin)
      if (const double v = what.value(all[row * maps.bins + bin]); v > 0)
        cells.at(bin, row) = amount_ink(v / most);
  const double height =
      std::min(kTemporalRow_mm, kTemporalHeight_mm / static_cast<double>(maps.rows));
  const double tall = height * static_cast<double>(maps.rows);
  out += "\\begin{tikzpicture}\n" +
         draw_cells(cells, kTemporalWidth_mm / static_cast<double>(maps.bins), height, amount_name);
  out += fmt::format("\\draw[rfsoft] (0,0) rectangle ({},{:.2f});\n", kTemporalWidth_mm, tall);
  return out + temporal_labels(maps, height) + "\\end{tikzpicture}\\\\ " + what.title + ": " +
         what.text(Json(sum)) + ", at most " + what.text(Json(most)) + " in a cell\\end{minipage}";
}

double time_of(const std::vector<TemporalCell>& cells) {
  double ns = 0;
  for (const TemporalCell& cell : cells) ns += cell.ns;
  return ns;
}

}  // namespace

void put_temporal(const TemporalMaps& maps, std::string& out) {
  out += section("Temporal maps",
                 "Look for functions that some ranks call later than others, or for longer: rows "
                 "are ranks, time goes to the right. Yellow is the most of each map.");
  if (maps.functions.empty()) {
    out +=
        "This trace has no times of single calls, so when functions were called is not known; "
        "record with " +
        code("--timing exact") + " or " + code("--timing bins:0.02") + " to have it.\n";
    return;
  }
  out += fmt::format(
      "From {} to {} of the run; a cell is {}{}. A call counts, with its bytes, where it begins.\n",
      duration(maps.begin_ns), duration(maps.end_ns),
      duration((maps.end_ns - maps.begin_ns) / maps.bins),
      maps.ranks_a_row > 1 ? fmt::format(" of {} neighbouring ranks", maps.ranks_a_row) : "");
  std::vector<decltype(maps.functions)::const_iterator> order;
  for (auto it = maps.functions.begin(); it != maps.functions.end(); ++it) order.push_back(it);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return time_of(a->second) > time_of(b->second);
  });
  for (size_t f = 0; f < std::min(order.size(), kMostTemporal); ++f) {
    out += "\\par\\medskip\\noindent\\begin{minipage}{\\textwidth}" +
           code(mpi::call_name(order[f]->first)) + "\\\\[1mm]\n";
    for (const TemporalQuantity& what : kTemporalQuantities)
      out += temporal_picture(maps, order[f]->second, what) + "\\hfill\n";
    out += "\\end{minipage}\n";
  }
  if (order.size() > kMostTemporal)
    out += "\\par\\emph{and " + count(order.size() - kMostTemporal) + " more functions}\n";
}

}  // namespace refrain::report::latex
