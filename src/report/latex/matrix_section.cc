// Who sent how much to whom: rows send, columns receive.

#include <fmt/format.h>

#include <algorithm>

#include "report/latex/cells.h"
#include "report/latex/pairs.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostCells = 64;  // a side
constexpr double kSide_mm = 48;

std::string axes(size_t cells, size_t block) {
  const double cell = kSide_mm / static_cast<double>(cells);
  const double label_mm = 2.5 + 1.5 * static_cast<double>(std::to_string(cells * block).size());
  size_t every = 1;
  while (static_cast<double>(cells / every) * label_mm > kSide_mm) every *= 2;
  std::string out;
  for (size_t i = 0; i < cells; i += every) {
    const double at = (static_cast<double>(i) + 0.5) * cell;
    out += fmt::format("\\node[above] at ({:.2f},{}) {{{}}};\n", at, kSide_mm, i * block);
    out += fmt::format("\\node[left] at (0,{:.2f}) {{{}}};\n", kSide_mm - at, i * block);
  }
  return out;
}

// Every rank or block that is in the matrix, most bytes first.
std::string largest(const PairLoads& pairs, size_t block, size_t most) {
  std::vector<PairLoads::const_iterator> order;
  for (auto it = pairs.begin(); it != pairs.end(); ++it) order.push_back(it);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a->second.bytes > b->second.bytes; });
  const auto name = [&](size_t i) {
    return block == 1 ? std::to_string(i) : fmt::format("{}--{}", i * block, (i + 1) * block - 1);
  };
  TexTable table({{"from", 0}, {"to", 0}, {"messages", 0}, {"bytes", 0}, {"time", 0}});
  table.first(most, order.size(), "pairs", [&](size_t i) {
    const auto& [ends, pair] = *order[i];
    table.row({name(ends.first), name(ends.second), count(pair.messages), bytes(pair.bytes),
               duration(pair.ns)});
  });
  return table.text();
}

}  // namespace

std::string matrix_picture(const PairLoads& pairs, size_t side, size_t block,
                           const Weight& weight) {
  const auto [least, most] = range_of(pairs, weight.value);
  Cells cells(side, side);
  for (const auto& [ends, pair] : pairs)
    if (pair.*weight.value > 0)
      cells.at(ends.second, ends.first) = amount_ink(log_level(pair.*weight.value, least, most));
  const double cell = kSide_mm / static_cast<double>(side);
  std::string out = fmt::format(
      "\\begin{{minipage}}[t]{{57mm}}\\centering \\textbf{{\\strut {}}}\\\\\n", weight.title);
  out += "\\begin{tikzpicture}\n" + draw_cells(cells, cell, cell, amount_name);
  out += fmt::format("\\draw[rfsoft] (0,0) rectangle ({0},{0});\n", kSide_mm);
  out += axes(side, block) + "\\end{tikzpicture}\\\\\n{\\footnotesize ";
  out += most > 0 ? amount_legend(weight.text(least), weight.text(most)) : "none";
  return out + "}\\end{minipage}";
}

void put_matrix(const PageData& data, std::string& out, const Detail& detail) {
  const Json& json = data.json["matrix"];
  out +=
      section("Communication matrix",
              "Look for rows or columns that stand out, which are ranks that send or receive more "
              "than others, and for pairs far from the diagonal.");
  out += counted(json["messages"], "message") + " of " + bytes(json["bytes"]) + " between " +
         counted(json["pairs"], "pair") + " of ranks.";
  if (whole(json["other_world_messages"]) > 0)
    out += " Besides, " + count(json["other_world_messages"]) + " messages to other worlds.";
  if (whole(json["unsized_messages"]) > 0)
    out += " Of " + count(json["unsized_messages"]) + " messages the size is not known.";
  out += "\n\n";
  const auto ranks = std::max<size_t>(1, whole(json["ranks"]));
  const auto known = std::max<size_t>(1, whole(json["block"]));  // ranks in a cell of the page
  const size_t on_page = (ranks + known - 1) / known;
  const size_t join = (on_page + kMostCells - 1) / kMostCells;
  const size_t side = (on_page + join - 1) / join, block = known * join;
  const PairLoads pairs = pair_loads(data, "matrix", side, join, false);
  if (pairs.empty()) {
    out += "No messages from rank to rank.\n";
    return;
  }
  std::string pictures;
  for (const Weight& weight : weights())
    pictures += matrix_picture(pairs, side, block, weight) + "\\hfill\n";
  std::string caption =
      "From each rank (row) to each rank (column); logarithmic colours, white is nothing. Time is "
      "that of sends and receives and of their completions, from means.";
  if (block > 1) caption += fmt::format(" Each cell is {0} by {0} neighbouring ranks.", block);
  out += figure(pictures, caption);
  out += largest(pairs, block, detail.pairs);
}

}  // namespace refrain::report::latex
