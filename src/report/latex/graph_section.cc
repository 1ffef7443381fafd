// The ranks as a graph: near each other where they exchange messages, or as the program's own grid.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/latex/cells.h"
#include "report/latex/pairs.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostNodes = 64;
constexpr double kSize_mm = 100, kStep_mm = 15;  // of the picture; of a small one by its nodes

struct Layout {
  std::vector<double> x, y;              // of each node in mm, y upwards
  std::vector<std::vector<int64_t>> at;  // on the grid; empty for other layouts
  std::string how;
};

// Places on the program's grid: rows down, columns across, further dimensions obliquely.
bool on_grid(const PageData& data, size_t nodes, Layout& out) {
  const Json& grid = data.json["grid"];
  const auto& ranks = data.columns.numbers("grid.rank");
  if (!grid.is_object() || whole(data.json["graph"]["block"]) != 1 || ranks.size() != nodes)
    return false;
  if (text(grid["source"]) != "MPI_Cart_create") return false;
  const auto dims = grid["dims"].get<std::vector<int64_t>>();
  out.x.assign(nodes, 0), out.y.assign(nodes, 0), out.at.assign(nodes, {});
  std::set<int64_t> seen;
  for (size_t cell = 0; cell < nodes; ++cell) {
    if (ranks[cell] < 0 || static_cast<size_t>(ranks[cell]) >= nodes) return false;
    const auto rank = static_cast<size_t>(ranks[cell]);
    if (!seen.insert(ranks[cell]).second) return false;
    auto rest = static_cast<int64_t>(cell);
    for (size_t d = dims.size(), level = 0; d-- > 0; ++level) {
      if (dims[d] <= 0) return false;
      const auto c = static_cast<double>(rest % dims[d]);
      out.at[rank].push_back(rest % dims[d]);
      rest /= dims[d];
      if (level == 0) out.x[rank] += c;
      if (level == 1) out.y[rank] -= c;
      if (level >= 2) {
        out.x[rank] += c * 0.37 / static_cast<double>(level - 1);
        out.y[rank] += c * 0.31 / static_cast<double>(level - 1);
      }
    }
  }
  out.how = "Laid out as the program's own Cartesian grid; edges round its ends are dashed.";
  return true;
}

void scale(Layout& layout) {
  const auto [left, right] = std::minmax_element(layout.x.begin(), layout.x.end());
  const auto [low, high] = std::minmax_element(layout.y.begin(), layout.y.end());
  const double x0 = *left, y0 = *low, size = std::max({*right - x0, *high - y0, 1e-9});
  const double size_mm =
      std::min(kSize_mm, kStep_mm * std::sqrt(static_cast<double>(layout.x.size())));
  for (double& x : layout.x) x = (x - x0) / size * size_mm;
  for (double& y : layout.y) y = (y - y0) / size * size_mm;
}

Layout layout_of(const PageData& data, size_t nodes) {
  Layout out;
  if (!on_grid(data, nodes, out)) {
    const auto &x = data.columns.numbers("graph.x"), &y = data.columns.numbers("graph.y");
    out = {};
    const std::string how = text(data.json["graph"]["layout"]);
    for (size_t i = 0; i < nodes; ++i) {
      out.x.push_back(i < x.size() ? static_cast<double>(x[i]) : 0);
      out.y.push_back(i < y.size() ? -static_cast<double>(y[i]) : 0);
    }
    out.how = how == "circle" ? "Laid out as a circle: nothing better is known."
                              : "Laid out by Graphviz (" + number(how) + ").";
  }
  scale(out);
  return out;
}

// Between opposite ends of a dimension.
bool wraps(const Layout& layout, size_t a, size_t b) {
  if (layout.at.empty()) return false;
  for (size_t d = 0; d < layout.at[a].size(); ++d)
    if (std::abs(layout.at[a][d] - layout.at[b][d]) > 1) return true;
  return false;
}

std::string draw_edges(const PairLoads& pairs, const Layout& layout, const Weight& weight) {
  const auto [least, most] = range_of(pairs, weight.value);
  std::vector<std::pair<double, std::pair<size_t, size_t>>> edges;
  for (const auto& [ends, pair] : pairs)
    if (ends.first != ends.second)
      edges.push_back({log_level(pair.*weight.value, least, most), ends});
  std::sort(edges.begin(), edges.end());  // the heaviest on top
  std::string out;
  for (const auto& [level, ends] : edges) {
    const auto [a, b] = ends;
    const bool is_wrap = wraps(layout, a, b);
    // Bent, or it would lie on the edges of the row that it goes round.
    const double width = is_wrap ? 0.2 : 0.2 + 0.8 * level;
    const std::string way =
        fmt::format("({:.1f},{:.1f}) {} ({:.1f},{:.1f});\n", layout.x[a], layout.y[a],
                    is_wrap ? "to[bend left=12]" : "--", layout.x[b], layout.y[b]);
    // With an outline: yellow alone is not seen on paper.
    if (!is_wrap) out += fmt::format("\\draw[rfsoft,line width={:.2f}mm] ", width + 0.2) + way;
    out += fmt::format("\\draw[{},line width={:.2f}mm{}] ",
                       is_wrap ? "rfsoft" : amount_name(amount_ink(level)), width,
                       is_wrap ? ",densely dashed" : "") +
           way;
  }
  return out;
}

}  // namespace

void put_graph(const PageData& data, std::string& out) {
  const Json& graph = data.json["graph"];
  out += section("Topology",
                 "Look for the shape: a mesh, a ring, a star. A few heavy edges in a thin mesh, or "
                 "one node that all edges lead to, are worth a question.");
  const auto nodes = static_cast<size_t>(whole(graph["nodes"]));
  if (nodes > kMostNodes) {
    out += fmt::format(
        "A graph of more than {} nodes cannot be read on paper; the page that {} "
        "writes has it.\n",
        kMostNodes, code("refrain report"));
    return;
  }
  const PairLoads pairs = pair_loads(data, text(graph["edges"]), nodes, 1, true);
  if (nodes < 2 || pairs.empty()) {
    out += "No messages from rank to rank.\n";
    return;
  }
  const Layout layout = layout_of(data, nodes);
  const Weight& weight = weights()[0];
  const auto [least, most] = range_of(pairs, weight.value);
  std::string picture = "\\begin{tikzpicture}\n" + draw_edges(pairs, layout, weight);
  for (size_t i = 0; i < nodes; ++i)
    picture += fmt::format(
        "\\node[circle,draw,fill=white,inner sep=0.4mm,minimum size=5.4mm] at ({:.1f},{:.1f}) "
        "{{{}}};\n",
        layout.x[i], layout.y[i], i * whole(graph["block"]));
  picture += "\\end{tikzpicture}\\par\\smallskip{\\footnotesize " +
             (most > 0 ? amount_legend(weight.text(least), weight.text(most)) : "no bytes") + "}";
  std::string caption = "Ranks that exchange messages; width and colour by bytes, both ways. ";
  caption += layout.how;
  if (whole(graph["block"]) > 1)
    caption += " Each node stands for " + count(graph["block"]) + " ranks.";
  out += figure(picture, caption);
}

}  // namespace refrain::report::latex
