// The picture of `refrain similarity --svg`: no library draws trees and curves that need nothing
// else.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/behaviour/similarity_report.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

using analysis::computation::RankGroup;
using analysis::computation::RankGroups;
using analysis::computation::SequenceGroups;

constexpr double kWidth = 960, kLeft = 90, kRight = 20, kTop = 34, kHeight = 180, kGap = 46;
constexpr size_t kMostPanels = 24;  // more sequences than that are said and not drawn
// Colours that people with any eyes can tell apart (Okabe and Ito).
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#000000"};

const char* colour_of(size_t group) { return kColours[group % std::size(kColours)]; }

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' {}/>\n", x1, y1, x2, y2,
                     style);
}

std::string label(double x, double y, std::string_view anchor, const std::string& what) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n", x, y, anchor,
                     text::escaped(what));
}

// Leaves in the order in which no lines of the tree cross.
std::vector<uint32_t> leaf_order(const similarity::Dendrogram& tree) {
  std::vector<uint32_t> out;
  if (tree.leaves == 0) return out;
  std::vector<uint32_t> open{tree.leaves + static_cast<uint32_t>(tree.merges.size()) - 1};
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (at < tree.leaves) {
      out.push_back(at);
      continue;
    }
    open.push_back(tree.merges[at - tree.leaves].right);
    open.push_back(tree.merges[at - tree.leaves].left);
  }
  return out;
}

// A frame with a scale of times on the left.
class Panel {
 public:
  Panel(double top, double most_ns, const std::string& title) : top_(top), most_(most_ns) {
    if (most_ <= 0) most_ = 1;
    out_ += label(kLeft, top_ - 8, "start", title);
    for (int i = 0; i <= 4; ++i) {
      const double ns = most_ * i / 4;
      out_ += line(kLeft, y(ns), kWidth - kRight, y(ns), "stroke='#ddd'");
      out_ += label(kLeft - 6, y(ns) + 4, "end", text::time_text(ns));
    }
  }
  double y(double ns) const { return top_ + kHeight * (1 - ns / most_); }
  static double x(double part) { return kLeft + (kWidth - kLeft - kRight) * part; }
  void add(const std::string& what) { out_ += what; }
  const std::string& text() const { return out_; }

 private:
  double top_, most_;
  std::string out_;
};

std::string tree_panel(const RankGroups& all, size_t number, double top) {
  const SequenceGroups& s = all.sequences[number];
  const auto& tree = s.dendrogram;
  const double highest = tree.merges.empty() ? 0 : tree.merges.back().height;
  Panel panel(top, std::max(highest, s.height_ns) * 1.05,
              fmt::format("Sequence {}: distances of ranks that are joined", number));
  std::vector<double> x(tree.leaves + tree.merges.size()), height(x.size(), 0);
  const auto order = leaf_order(tree);
  for (size_t i = 0; i < order.size(); ++i) {
    const auto rank = s.sequence.ranks.at(order[i]);
    x[order[i]] = Panel::x((static_cast<double>(i) + 0.5) / static_cast<double>(order.size()));
    if (order.size() <= 64)
      panel.add(label(x[order[i]], panel.y(0) + 14, "middle", std::to_string(rank)));
  }
  for (size_t i = 0; i < tree.merges.size(); ++i) {
    const auto& merge = tree.merges[i];
    const size_t at = tree.leaves + i;
    x[at] = (x[merge.left] + x[merge.right]) / 2;
    height[at] = merge.height;
    const double y = panel.y(merge.height);
    const char* style = merge.height <= s.height_ns ? "stroke='#0072b2'" : "stroke='#333'";
    panel.add(line(x[merge.left], panel.y(height[merge.left]), x[merge.left], y, style));
    panel.add(line(x[merge.right], panel.y(height[merge.right]), x[merge.right], y, style));
    panel.add(line(x[merge.left], y, x[merge.right], y, style));
  }
  panel.add(line(kLeft, panel.y(s.height_ns), kWidth - kRight, panel.y(s.height_ns),
                 "stroke='#d55e00' stroke-dasharray='5 4'"));
  panel.add(label(kWidth - kRight, panel.y(s.height_ns) - 4, "end",
                  "cut at " + text::time_text(s.height_ns)));
  return panel.text();
}

std::string curve_panel(const RankGroups& all, size_t number, double top) {
  const SequenceGroups& s = all.sequences[number];
  uint64_t most = 0;
  for (const auto& curve : s.curves)
    for (const uint64_t ns : curve) most = std::max(most, ns);
  Panel panel(top, static_cast<double>(most) * 1.05,
              fmt::format("Sequence {}: what representatives compute from call to call", number));
  size_t drawn = 0;
  for (size_t g = 0; g < all.groups.size(); ++g) {
    if (all.groups[g].sequence != number) continue;
    const auto& curve = s.curves[drawn];
    std::string points;
    for (size_t i = 0; i < curve.size(); ++i)
      points +=
          fmt::format("{:.1f},{:.1f} ",
                      Panel::x((static_cast<double>(i) + 0.5) / static_cast<double>(curve.size())),
                      panel.y(static_cast<double>(curve[i])));
    panel.add(
        fmt::format("<polyline points='{}' fill='none' stroke='{}'/>\n", points, colour_of(drawn)));
    if (drawn < 12)
      panel.add(fmt::format("<text x='{:.1f}' y='{:.1f}' fill='{}'>rank {}</text>\n",
                            kLeft + 8 + 72 * static_cast<double>(drawn), panel.y(0) + 16,
                            colour_of(drawn), all.groups[g].representative));
    ++drawn;
  }
  return panel.text();
}

}  // namespace

std::string similarity_svg(const RankGroups& all) {
  std::string body;
  double top = kTop;
  const size_t shown = std::min(kMostPanels, all.sequences.size());
  for (size_t i = 0; i < shown; ++i) {
    if (all.sequences[i].dendrogram.leaves > 1) {
      body += tree_panel(all, i, top);
      top += kHeight + kGap;
    }
    body += curve_panel(all, i, top);
    top += kHeight + kGap;
  }
  if (all.sequences.size() > shown) {
    body += label(kLeft, top, "start",
                  fmt::format("{} more sequences are not drawn", all.sequences.size() - shown));
    top += kGap;
  }
  return fmt::format(
             "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' "
             "viewBox='0 0 {0:.0f} {1:.0f}' font-family='sans-serif' font-size='12'>\n"
             "<rect width='100%' height='100%' fill='white'/>\n",
             kWidth, top) +
         body + "</svg>\n";
}

}  // namespace refrain::report
