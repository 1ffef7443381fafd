// Maps of what each rank did: calls, time and bytes of functions, and waiting.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/latex/cells.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostSide = 64;  // cells of a map
constexpr double kMatrixWidth_mm = 50, kMatrixHeight_mm = 34, kMostCell_mm = 6;

struct MapLayout {
  std::vector<std::pair<size_t, size_t>> place;  // of each cell of the page: column, row
  size_t columns = 1, rows = 1;
  size_t across = 1, down = 1;  // places that share a cell of the picture
  std::string name;
};

// The program's own grid, the slices of a third dimension and more side by side.
bool on_grid(const PageData& data, size_t cells, MapLayout& out) {
  const Json& grid = data.json["grid"];
  const auto& ranks = data.columns.numbers("grid.rank");
  if (!grid.is_object() || grid["dims"].size() < 2 || ranks.size() != cells) return false;
  const auto dims = grid["dims"].get<std::vector<int64_t>>();
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d <= 0; })) return false;
  const auto across = static_cast<size_t>(dims[dims.size() - 1]);
  const auto down = static_cast<size_t>(dims[dims.size() - 2]);
  const size_t slices = std::max<size_t>(1, cells / (across * down));
  const auto a_line = static_cast<size_t>(std::max(
      1L,
      std::lround(std::sqrt(static_cast<double>(slices * down) / static_cast<double>(across)))));
  const size_t wide = across + (slices > 1 ? 1 : 0), tall = down + (slices > 1 ? 1 : 0);
  out.place.assign(cells, {0, 0});
  for (size_t cell = 0; cell < cells; ++cell) {
    if (ranks[cell] < 0 || static_cast<size_t>(ranks[cell]) >= cells) return false;
    const size_t slice = cell / (across * down), inside = cell % (across * down);
    out.place[static_cast<size_t>(ranks[cell])] = {slice % a_line * wide + inside % across,
                                                   slice / a_line * tall + inside / across};
  }
  for (const Json& d : grid["dims"]) out.name += (out.name.empty() ? "" : " $\\times$ ") + count(d);
  out.name += " from " + code(text(grid["source"]));
  return true;
}

MapLayout layout_of(const PageData& data, size_t cells, size_t block) {
  MapLayout out;
  if (block != 1 || !on_grid(data, cells, out)) {
    out = {};
    const auto columns =
        static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(cells) * 1.5)));
    for (size_t cell = 0; cell < cells; ++cell)
      out.place.push_back({cell % columns, cell / columns});
    out.name = "ranks in order, row by row";
  }
  for (const auto& [x, y] : out.place) {
    out.columns = std::max(out.columns, x + 1);
    out.rows = std::max(out.rows, y + 1);
  }
  out.across = (out.columns + kMostSide - 1) / kMostSide;
  out.down = (out.rows + kMostSide - 1) / kMostSide;
  return out;
}

std::string map(const MapLayout& layout, const std::vector<double>& values) {
  const size_t columns = (layout.columns + layout.across - 1) / layout.across;
  const size_t rows = (layout.rows + layout.down - 1) / layout.down;
  std::vector<double> sum(columns * rows, 0);
  std::vector<bool> is_used(columns * rows, false);
  for (size_t i = 0; i < values.size() && i < layout.place.size(); ++i) {
    const auto [x, y] = layout.place[i];
    const size_t at = y / layout.down * columns + x / layout.across;
    sum[at] += values[i];
    is_used[at] = true;
  }
  const double most = *std::max_element(sum.begin(), sum.end());
  Cells cells(columns, rows);
  for (size_t i = 0; i < sum.size(); ++i)
    if (is_used[i]) cells.ink[i] = amount_ink(most > 0 ? sum[i] / most : 0);
  const double cell = std::min({kMatrixWidth_mm / static_cast<double>(columns),
                                kMatrixHeight_mm / static_cast<double>(rows), kMostCell_mm});
  return "\\begin{tikzpicture}\n" + draw_cells(cells, cell, cell, amount_name) +
         fmt::format("\\path (0,0) rectangle ({:.2f},{:.2f});\n",
                     cell * static_cast<double>(columns), cell * static_cast<double>(rows)) +
         "\\end{tikzpicture}";
}

// Of `what`, from the least to the most, with where they are.
std::string labelled(const MapLayout& layout, const std::vector<double>& values, const char* what,
                     std::string (*how)(const Json&), size_t block) {
  std::string out = "\\begin{minipage}[t]{56mm}\\centering\\footnotesize ";
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (values.empty() || !(*most > 0)) return out + "no " + what + "\\end{minipage}";
  if (*least == *most)
    return out + what + ": " + how(*most) + (values.size() > 1 ? ", the same everywhere" : "") +
           "\\end{minipage}";
  const auto rank = [&](auto it) {
    return std::to_string(static_cast<size_t>(it - values.begin()) * block);
  };
  const char* const of = block > 1 ? "from rank " : "rank ";
  return out + map(layout, values) + "\\\\ " + what + ": " + how(*least) + " (" + of + rank(least) +
         ") to " + how(*most) + " (" + of + rank(most) + ")\\end{minipage}";
}

struct Function {
  std::string name;
  std::array<std::vector<double>, 3> values;  // time, calls, bytes
  double ns = 0;
};

std::vector<Function> functions_of(const PageData& data, size_t cells) {
  const Json& names = data.json["density"]["functions"];
  const std::array columns = {&data.columns.numbers("density.ns"),
                              &data.columns.numbers("density.calls"),
                              &data.columns.numbers("density.bytes")};
  std::vector<Function> out;
  for (size_t f = 0; f < names.size(); ++f) {
    Function function{text(names[f]), {}, 0};
    for (size_t m = 0; m < columns.size(); ++m)
      for (size_t c = f * cells; c < std::min((f + 1) * cells, columns[m]->size()); ++c)
        function.values[m].push_back(static_cast<double>((*columns[m])[c]));
    for (const double v : function.values[0]) function.ns += v;
    const auto& calls = function.values[1];
    if (std::any_of(calls.begin(), calls.end(), [](double n) { return n > 0; }))
      out.push_back(std::move(function));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Function& a, const Function& b) { return a.ns > b.ns; });
  return out;
}

Function all_of(const std::vector<Function>& functions, size_t cells) {
  Function out{"", {}, 0};
  for (auto& values : out.values) values.assign(cells, 0);
  for (const Function& f : functions)
    for (size_t m = 0; m < f.values.size(); ++m)
      for (size_t c = 0; c < f.values[m].size(); ++c) out.values[m][c] += f.values[m][c];
  return out;
}

std::string row(const MapLayout& layout, const Function& f, const std::string& title,
                size_t block) {
  std::string out =
      "\\par\\medskip\\noindent\\begin{minipage}{\\textwidth}" + title + "\\\\[1mm]\n";
  out += labelled(layout, f.values[0], "time", duration, block) + "\\hfill\n";
  out += labelled(layout, f.values[1], "calls", count, block) + "\\hfill\n";
  out += labelled(layout, f.values[2], "bytes", bytes, block);
  return out + "\\end{minipage}\n";
}

std::string waiting(const PageData& data, const MapLayout& layout, size_t cells, size_t block) {
  const auto& ranks = data.columns.numbers("waits.rank_waiting");
  if (ranks.empty()) return "";
  std::vector<double> values(cells, 0);
  for (size_t r = 0; r < ranks.size() && r / block < cells; ++r)
    values[r / block] += static_cast<double>(ranks[r]);
  return "\\par\\medskip\\noindent\\begin{minipage}{\\textwidth}\\textbf{Waiting}\\\\[1mm]\n" +
         labelled(layout, values, "waiting", duration, block) + "\\end{minipage}\n";
}

}  // namespace

void put_density(const PageData& data, std::string& out, const Detail& detail) {
  const size_t most = detail.density_functions;
  const Json& density = data.json["density"];
  out += section("Density maps",
                 "Look for ranks that differ from their neighbours: a border, a corner, one node. "
                 "Yellow is the most of each map, dark blue nothing.");
  const auto cells = static_cast<size_t>(whole(density["cells"]));
  const auto block = std::max<size_t>(1, whole(density["block"]));
  const std::vector<Function> functions = functions_of(data, cells);
  if (cells == 0 || functions.empty()) {
    out += "No calls.\n";
    return;
  }
  const MapLayout layout = layout_of(data, cells, block);
  out += "Layout: " + layout.name + ".";
  if (layout.across > 1 || layout.down > 1 || block > 1)
    out += fmt::format(" Each cell of a map is the sum of up to {} ranks.",
                       block * layout.across * layout.down);
  if (!density["time_is_exact"].get<bool>())
    out +=
        " Times of a rank's functions follow from mean durations, and add up to its own time in "
        "MPI.";
  out += "\n" + row(layout, all_of(functions, cells), "\\textbf{All of MPI}", block);
  out += waiting(data, layout, cells, block);
  for (size_t f = 0; f < std::min(functions.size(), most); ++f)
    out += row(layout, functions[f], code(functions[f].name), block);
  if (functions.size() > most)
    out += "\\par\\emph{and " + count(functions.size() - most) + " more functions}\n";
}

}  // namespace refrain::report::latex
