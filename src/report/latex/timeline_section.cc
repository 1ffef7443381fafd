// The ranks over time, as one figure: stretches of time coloured by the class of call that took
// most of them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "events/call_class.h"
#include "report/latex/cells.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_text.h"
#include "text/numbers.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostLines = 64;
constexpr size_t kMostColumns = 240;
// A line of the colour of waiting below a row: so thick, in parts of the row, from these shares on.
constexpr size_t kParts = 6;
constexpr std::array kWaits = {0.1, 0.5};
constexpr double kWidth_mm = 158, kMostHeight_mm = 84;
// Below the first a stretch counts as the program's.
constexpr std::array kShares = {0.1, 0.4, 0.7};

constexpr std::array kClassTitles = {"in the program", "send",      "receive", "completion",
                                     "collective",     "one-sided", "file",    "other"};
static_assert(kClassTitles.size() == events::kCallClasses);

struct Picture {
  Cells cells{0, 0};
  size_t block = 1;  // locations a row
  std::array<bool, events::kCallClasses> is_used{};
};

Picture resampled(const PageData& data) {
  const std::string& share = data.columns.raw("table.share");
  const std::string& classes = data.columns.raw("table.class");
  const auto bins = static_cast<size_t>(whole(data.json["timeline"]["bins"]));
  const size_t rows = bins == 0 ? 0 : share.size() / bins;
  Picture out;
  if (rows == 0 || classes.size() < rows * bins) return out;
  out.block = (rows + kMostLines - 1) / kMostLines;
  const size_t columns = std::min(bins, kMostColumns);
  out.cells = Cells(columns, (rows + out.block - 1) / out.block);
  for (size_t y = 0; y < out.cells.rows; ++y)
    for (size_t x = 0; x < columns; ++x) {
      std::array<uint64_t, events::kCallClasses> sum{};
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

struct Waiting {
  Cells cells{0, 0};
  bool is_used = false;
};

Waiting waiting(const PageData& data, const Cells& rows) {
  Waiting out;
  const std::string& share = data.columns.raw("waits.share");
  if (share.size() != rows.rows * rows.columns) return out;
  out.cells = Cells(rows.columns, rows.rows * kParts);
  for (size_t y = 0; y < rows.rows; ++y)
    for (size_t x = 0; x < rows.columns; ++x) {
      const double part = static_cast<uint8_t>(share[y * rows.columns + x]) / 255.0;
      for (size_t k = 0; k < kWaits.size(); ++k)
        if (part >= kWaits[k]) out.cells.at(x, (y + 1) * kParts - 1 - k) = 1, out.is_used = true;
    }
  return out;
}

// From the begin of a send to the end of the call that completed its receive.
struct Arrows {
  std::string text;
  size_t drawn = 0, in_a_row = 0;
  double least_ns = 0;  // the shortest wait of those drawn
};

Arrows arrows(const PageData& data, const Picture& picture, double height) {
  const auto column = [&](const char* name) -> const std::vector<int64_t>& {
    return data.columns.numbers(std::string("late.") + name);
  };
  const auto &from = column("from"), &to = column("to"), &wait = column("wait_ns");
  const auto &sent = column("from_ns"), &received = column("to_ns");
  const double begin = real(data.json["timeline"]["begin_ns"]);
  const double length = std::max(real(data.json["timeline"]["end_ns"]) - begin, 1.0);
  const auto row_of = [&](int64_t location) {
    return std::min(static_cast<size_t>(std::max<int64_t>(location, 0)) / picture.block,
                    picture.cells.rows - 1);
  };
  const auto x_of = [&](int64_t ns) {
    return kWidth_mm * std::clamp((static_cast<double>(ns) - begin) / length, 0.0, 1.0);
  };
  const auto y_of = [&](size_t row) {
    return (static_cast<double>(picture.cells.rows - row) - 0.5) * height;
  };
  Arrows out;
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t sender = row_of(from[i]), receiver = row_of(to[i]);
    if (sender == receiver) {
      ++out.in_a_row;
      continue;
    }
    ++out.drawn;
    out.least_ns = static_cast<double>(wait[i]);
    out.text += fmt::format("\\rfarrow{{{:.2f}}}{{{:.2f}}}{{{:.2f}}}{{{:.2f}}}\n", x_of(sent[i]),
                            y_of(sender), x_of(received[i]), y_of(receiver));
  }
  return out;
}

std::string arrows_caption(const Arrows& drawn, const PageData& data) {
  const Json& waits = data.json["waits"];
  const Json messages = waits.is_object() ? waits["counts"]["messages"] : Json(0);
  if (drawn.drawn + drawn.in_a_row == 0) return "";
  std::string out = fmt::format(
      " Arrows: of {} messages the {} that a rank waited for longest, from the begin of the send "
      "to the end of the call that received it",
      count(messages), drawn.drawn);
  if (drawn.drawn > 0)
    out += " (waits of " + duration(static_cast<uint64_t>(drawn.least_ns)) + " or more)";
  if (drawn.in_a_row > 0)
    out += fmt::format("; {} more lie within one row and are not drawn", drawn.in_a_row);
  return out + ".";
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
                       number(text::duration_text(static_cast<uint64_t>(std::max(0.0, at)))));
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

std::string legend(const Picture& picture, bool has_waiting, bool has_arrows) {
  std::string out = key("white", kClassTitles[0]);
  for (size_t c = 1; c < kClassTitles.size(); ++c)
    if (picture.is_used[c])
      out += "\\quad " + key(state_name(state_ink(static_cast<int>(c), 2)), kClassTitles[c]);
  if (has_waiting) out += "\\quad " + key("rfwaiting", "line below a row: waiting");
  if (has_arrows) out += "\\quad \\mbox{\\rfarrowkey~message}";
  return "\\par\\smallskip{\\small " + out + "}";
}

// Without times: what is known of each rank is how long it was in MPI.
void put_totals(const PageData& data, std::string& out) {
  const Json& ranks = data.json["profile"]["ranks"];
  const size_t block = std::max<size_t>(1, (ranks.size() + kMostLines - 1) / kMostLines);
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
  const Waiting waits = waiting(data, picture.cells);
  if (waits.is_used)
    text += draw_cells(waits.cells, kWidth_mm / static_cast<double>(picture.cells.columns),
                       height / kParts, waiting_name);
  const Arrows messages = arrows(data, picture, height);
  text += messages.text;
  text += fmt::format("\\draw[rfsoft] (0,0) rectangle ({},{:.2f});\n", kWidth_mm, rows * height);
  text += time_axis(real(timeline["begin_ns"]), real(timeline["end_ns"]));
  text += row_labels(data, picture, height) + "\\end{tikzpicture}" +
          legend(picture, waits.is_used, messages.drawn > 0);
  std::string caption =
      "The run over time, by rank. A stretch of time has the colour of the calls that took most of "
      "its time in MPI, the stronger the larger their share (from 10, 40 and 70\\,\\%).";
  if (picture.block > 1)
    caption += fmt::format(" Each row is {} neighbouring locations, labelled by the first.",
                           picture.block);
  if (waits.is_used)
    caption +=
        " The line below a row is time spent waiting for another rank, thicker from half of a "
        "stretch on.";
  caption += arrows_caption(messages, data);
  out += figure(text, caption);
  if (whole(timeline["damaged_rows"]) > 0)
    out +=
        "The times of " + count(timeline["damaged_rows"]) + " rows cannot be read to their end.\n";
}

}  // namespace refrain::report::latex
