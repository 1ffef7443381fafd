// The ranks over time, as one figure: stretches of time coloured by the class of call that took
// most of them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/call_class.h"
#include "report/info_text.h"
#include "report/latex/cells.h"
#include "report/latex/sections.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostRows = 64;
constexpr size_t kMostColumns = 240;
constexpr double kWidth_mm = 158, kMostHeight_mm = 84;
// Below the first a stretch counts as the program's.
constexpr std::array kShares = {0.1, 0.4, 0.7};

constexpr std::array kClassTitles = {"in the program", "send",      "receive", "completion",
                                     "collective",     "one-sided", "file",    "other"};
static_assert(kClassTitles.size() == analysis::kCallClasses);

struct Picture {
  Cells cells{0, 0};
  size_t block = 1;  // locations a row
  std::array<bool, analysis::kCallClasses> is_used{};
};

Picture resampled(const PageData& data) {
  const std::string& share = data.columns.raw("table.share");
  const std::string& classes = data.columns.raw("table.class");
  const auto bins = static_cast<size_t>(whole(data.json["timeline"]["bins"]));
  const size_t rows = bins == 0 ? 0 : share.size() / bins;
  Picture out;
  if (rows == 0 || classes.size() < rows * bins) return out;
  out.block = (rows + kMostRows - 1) / kMostRows;
  const size_t columns = std::min(bins, kMostColumns);
  out.cells = Cells(columns, (rows + out.block - 1) / out.block);
  for (size_t y = 0; y < out.cells.rows; ++y)
    for (size_t x = 0; x < columns; ++x) {
      std::array<uint64_t, analysis::kCallClasses> sum{};
      uint64_t all = 0, area = 0;
      for (size_t row = y * out.block; row < std::min(rows, (y + 1) * out.block); ++row)
        for (size_t b = x * bins / columns; b < (x + 1) * bins / columns; ++b) {
          const auto part = static_cast<uint8_t>(share[row * bins + b]);
          sum[static_cast<uint8_t>(classes[row * bins + b]) % sum.size()] += part;
          all += part;
          area += 255;
        }
      const double in_mpi = area == 0 ? 0 : static_cast<double>(all) / static_cast<double>(area);
      if (in_mpi < kShares[0]) continue;
      const auto most = std::max_element(sum.begin(), sum.end()) - sum.begin();
      out.cells.at(x, y) = state_ink(static_cast<int>(most), in_mpi < kShares[1]   ? 0
                                                             : in_mpi < kShares[2] ? 1
                                                                                   : 2);
      out.is_used[static_cast<size_t>(most)] = true;
    }
  return out;
}

// 1, 2 or 5 times a power of ten, so that there are four to nine of them.
double tick_step(double length) {
  double step = std::pow(10, std::floor(std::log10(std::max(length, 1.0) / 4)));
  while (length / step > 9) step *= length / step > 20 ? 5 : 2;
  return std::max(step, 1.0);
}

std::string time_axis(double begin, double end) {
  std::string out;
  const double length = std::max(end - begin, 1.0), step = tick_step(length);
  double first = std::ceil(begin / step);
  // A run that begins a moment after 0 begins at 0 as far as the eye can tell.
  if ((first - 1) * step > begin - length / 100) --first;
  for (int i = 0; (first + i) * step <= end && i < 50; ++i) {
    const double at = (first + i) * step;
    out += fmt::format("\\draw ({0:.2f},0)--({0:.2f},-1.2) node[below] {{{1}}};\n",
                       kWidth_mm * std::max(0.0, at - begin) / length,
                       number(duration_text(static_cast<uint64_t>(std::max(0.0, at)))));
  }
  return out;
}

std::string row_labels(const PageData& data, const Picture& picture, double height) {
  const auto& ranks = data.columns.numbers("row.rank");
  const auto& threads = data.columns.numbers("row.thread");
  const bool has_threads =
      std::any_of(threads.begin(), threads.end(), [](int64_t t) { return t > 0; });
  const auto every = static_cast<size_t>(std::ceil(3.0 / height));
  std::string out;
  for (size_t y = 0; y < picture.cells.rows; y += every) {
    const size_t row = y * picture.block;
    if (row >= ranks.size() || row >= threads.size()) break;
    const double at = (static_cast<double>(picture.cells.rows - y) - 0.5) * height;
    out += fmt::format(
        "\\node[left] at (0,{:.2f}) {{{}}};\n", at,
        has_threads ? fmt::format("{}.{}", ranks[row], threads[row]) : std::to_string(ranks[row]));
  }
  return out;
}

std::string legend(const Picture& picture) {
  std::string out = key("white", kClassTitles[0]);
  for (size_t c = 1; c < kClassTitles.size(); ++c)
    if (picture.is_used[c])
      out += "\\quad " + key(state_name(state_ink(static_cast<int>(c), 2)), kClassTitles[c]);
  return "\\par\\smallskip{\\small " + out + "}";
}

// Without times: what is known of each rank is how long it was in MPI.
void put_totals(const PageData& data, std::string& out) {
  const Json& ranks = data.json["profile"]["ranks"];
  const size_t block = std::max<size_t>(1, (ranks.size() + kMostRows - 1) / kMostRows);
  constexpr size_t kSteps = 200;
  Cells cells(kSteps, (ranks.size() + block - 1) / block);
  for (size_t y = 0; y < cells.rows; ++y) {
    double in_mpi = 0, all = 0;
    for (size_t r = y * block; r < std::min(ranks.size(), (y + 1) * block); ++r) {
      in_mpi += real(ranks[r]["in_mpi_ns"]);
      all += real(ranks[r]["in_mpi_ns"]) + real(ranks[r]["outside_ns"]);
    }
    const auto steps =
        static_cast<size_t>(all > 0 ? std::min(1.0, in_mpi / all) * kSteps + 0.5 : 0);
    for (size_t x = 0; x < steps; ++x) cells.at(x, y) = state_ink(7, 2);
  }
  if (cells.rows == 0) return;
  const double height = std::clamp(kMostHeight_mm / 2 / static_cast<double>(cells.rows), 0.8, 5.0);
  const double total = height * static_cast<double>(cells.rows);
  std::string picture = "\\begin{tikzpicture}\n";
  picture += draw_cells(cells, kWidth_mm / kSteps, height, state_name);
  picture += fmt::format("\\draw[rfsoft] (0,0) rectangle ({},{:.2f});\n", kWidth_mm, total);
  for (int i = 0; i <= 4; ++i)
    picture += fmt::format("\\draw ({0},0)--({0},-1.2) node[below] {{{1}\\,\\%}};\n",
                           kWidth_mm * i / 4, 25 * i);
  const auto every = static_cast<size_t>(std::ceil(3.0 / height));
  for (size_t y = 0; y < cells.rows; y += every)
    picture += fmt::format("\\node[left] at (0,{:.2f}) {{{}}};\n",
                           (static_cast<double>(cells.rows - y) - 0.5) * height, y * block);
  picture += "\\end{tikzpicture}";
  out += figure(picture, "Share of each rank's time that was in MPI, by rank" +
                             (block > 1 ? fmt::format("; each row is {} ranks", block) : "") + ".");
}

}  // namespace

void put_timeline(const PageData& data, std::string& out) {
  const Json& timeline = data.json["timeline"];
  out +=
      section("Timeline",
              "Look for stripes that repeat, and for ranks whose colours differ from the others': "
              "long stretches of completion or collective calls are time in which a rank waits.");
  const Picture picture = resampled(data);
  if (!timeline["has_times"].get<bool>() || picture.cells.rows == 0) {
    out +=
        "This trace has no times of single calls, so there is no order in time to be shown; "
        "record with " +
        code("--timing exact") + " or " + code("--timing bins:0.02") + " to have it.\n\n";
    put_totals(data, out);
    return;
  }
  const auto rows = static_cast<double>(picture.cells.rows);
  const double height = std::min(7.0, kMostHeight_mm / rows);
  std::string text = "\\begin{tikzpicture}\n";
  text += draw_cells(picture.cells, kWidth_mm / static_cast<double>(picture.cells.columns), height,
                     state_name);
  text += fmt::format("\\draw[rfsoft] (0,0) rectangle ({},{:.2f});\n", kWidth_mm, rows * height);
  text += time_axis(real(timeline["begin_ns"]), real(timeline["end_ns"]));
  text += row_labels(data, picture, height) + "\\end{tikzpicture}" + legend(picture);
  std::string caption =
      "The run over time, by rank. A stretch of time has the colour of the calls that took most of "
      "its time in MPI, the stronger the larger their share (from 10, 40 and 70\\,\\%).";
  if (picture.block > 1)
    caption += fmt::format(" Each row is {} neighbouring locations, labelled by the first.",
                           picture.block);
  out += figure(text, caption);
  if (whole(timeline["damaged_rows"]) > 0)
    out +=
        "The times of " + count(timeline["damaged_rows"]) + " rows cannot be read to their end.\n";
}

}  // namespace refrain::report::latex
