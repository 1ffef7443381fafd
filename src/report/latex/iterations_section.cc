// Iterations of the outermost loops, and behaviours: a picture of how long each took, and the
// longest ones as a table.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "report/latex/cells.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostLoops = 6, kMostIterations = 40, kMostBehaviours = 40;
constexpr size_t kMostBars = 240, kLoopLevels = 40;
constexpr double kLoopWidth_mm = 158, kLoopHeight_mm = 40;

class IterationsWriter {
 public:
  explicit IterationsWriter(const PageData& data) : data_(data), json_(data.json["iterations"]) {}

  void write(std::string& out) const {
    const Json& loops = json_["loops"];
    for (size_t i = 0; i < std::min(loops.size(), kMostLoops); ++i) put_loop(loops[i], out);
    if (loops.size() > kMostLoops)
      out += "\\par\\emph{and " + count(loops.size() - kMostLoops) + " more loops}\n";
    put_behaviours(data_.json["behaviours"], out);
  }

 private:
  double at(const char* name, size_t row) const {
    const auto& all = data_.columns.numbers(std::string("iterations.") + name);
    return row < all.size() ? static_cast<double>(all[row]) : 0;
  }

  void put_loop(const Json& loop, std::string& out) const {
    const auto first = static_cast<size_t>(whole(loop["first"]));
    const auto rows = static_cast<size_t>(whole(loop["count"]));
    out += "\\subsection*{Loop " + code(text(loop["name"]), 80) + "}\n";
    out += counted(loop["iterations"], "iteration") + " of " + counted(loop["ranks"], "rank") +
           ", " + duration(loop["duration_ns"]["mean"]) + " each in the mean (" +
           duration(loop["duration_ns"]["min"]) + " to " + duration(loop["duration_ns"]["max"]) +
           "), with " + duration(loop["mpi_ns"]["mean"]) + " in MPI and " +
           bytes(loop["bytes"]["mean"]) +
           " of all ranks together. The busiest call: " + code(text(loop["label"]), 120) + ". " +
           count(loop["outliers"].size()) + " iterations are far from the others.\n\n";
    if (rows == 0) return;
    out += figure(bars(first, rows),
                  "How long each iteration took on its slowest rank (light), "
                  "and how long ranks were in MPI in it in the mean (dark).");
    put_longest(first, rows, out);
  }

  // Neighbours share a bar, which is as long as the longest of them.
  std::string bars(size_t first, size_t rows) const {
    const size_t columns = std::min(rows, kMostBars);
    std::vector<double> longest(columns), in_mpi(columns);
    double most = 1;
    for (size_t i = 0; i < rows; ++i) {
      const size_t c = i * columns / rows;
      longest[c] = std::max(longest[c], at("duration", first + i));
      in_mpi[c] = std::max(in_mpi[c], at("mpi", first + i));
      most = std::max(most, longest[c]);
    }
    Cells cells(columns, kLoopLevels);
    const auto level = [most](double v) {
      return std::min(kLoopLevels,
                      static_cast<size_t>(v / most * static_cast<double>(kLoopLevels) + 0.5));
    };
    for (size_t c = 0; c < columns; ++c) {
      for (size_t y = 0; y < level(longest[c]); ++y)
        cells.at(c, kLoopLevels - 1 - y) = state_ink(1, 0);
      for (size_t y = 0; y < level(std::min(in_mpi[c], longest[c])); ++y)
        cells.at(c, kLoopLevels - 1 - y) = state_ink(1, 2);
    }
    std::string out = "\\begin{tikzpicture}\n" +
                      draw_cells(cells, kLoopWidth_mm / static_cast<double>(columns),
                                 kLoopHeight_mm / static_cast<double>(kLoopLevels), state_name);
    out += fmt::format("\\draw[rfsoft] (0,0) rectangle ({},{});\n", kLoopWidth_mm, kLoopHeight_mm);
    out += fmt::format("\\node[left] at (0,{}) {{{}}};\n\\node[left] at (0,0) {{0}};\n",
                       kLoopHeight_mm, duration(Json(most)));
    for (int i = 0; i <= 4; ++i) {
      const size_t row = std::min(rows - 1, rows * static_cast<size_t>(i) / 4);
      out +=
          fmt::format("\\draw ({0:.2f},0)--({0:.2f},-1.2) node[below] {{{1:.0f}}};\n",
                      kLoopWidth_mm * (static_cast<double>(row) + 0.5) / static_cast<double>(rows),
                      at("number", first + row));
    }
    return out + "\\end{tikzpicture}";
  }

  void put_longest(size_t first, size_t rows, std::string& out) const {
    std::vector<size_t> order(rows);
    std::iota(order.begin(), order.end(), first);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return at("duration", a) > at("duration", b); });
    TexTable table({{"iteration", 0},
                    {"begin", 0},
                    {"longest", 0},
                    {"on rank", 0},
                    {"mean", 0},
                    {"in MPI", 0},
                    {"waiting", 0},
                    {"bytes", 0}});
    table.first(kMostIterations, rows, "iterations, the longest being above", [&](size_t i) {
      const size_t row = order[i];
      table.row({count(at("number", row)), duration(at("begin", row)),
                 duration(at("duration", row)), count(at("slowest_rank", row)),
                 duration(at("mean", row)), duration(at("mpi", row)), duration(at("waiting", row)),
                 bytes(at("bytes", row))});
    });
    out += table.text();
  }

  static void put_behaviours(const Json& json, std::string& out) {
    if (!json.is_object() || json["rows"].empty()) return;
    const Json& rows = json["rows"];
    TexTable table({{"behaviour", 22},
                    {"busiest call", 66},
                    {"segments", 0},
                    {"ranks", 0},
                    {"mean", 0},
                    {"max", 0},
                    {"in MPI", 0}});
    table.first(kMostBehaviours, rows.size(), "behaviours", [&](size_t i) {
      const Json& r = rows[i];
      table.row({code(text(r["name"]), 40), code(text(r["label"]), 100), count(r["segments"]),
                 count(r["ranks"]), duration(r["duration_ns"]["mean"]),
                 duration(r["duration_ns"]["max"]), share(r["mpi_share"])});
    });
    out += "\\subsection*{Behaviours: segments that are alike}\n" + table.text();
  }

  const PageData& data_;
  const Json& json_;
};

}  // namespace

void put_iterations(const PageData& data, std::string& out) {
  out += section("Iterations",
                 "Look for iterations that take longer than their neighbours, and for a trend: "
                 "each shorter or longer than the one before.");
  if (!data.json["iterations"].is_object()) {
    const std::string why = data.json.contains("no_iterations") ? text(data.json["no_iterations"])
                                                                : std::string("no loop was found");
    out += "Not shown: " + code(why, 300) + ".\n";
    return;
  }
  IterationsWriter(data).write(out);
}

}  // namespace refrain::report::latex
