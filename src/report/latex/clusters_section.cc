// Ranks that stand for others: the clusters, and what each rank took beside what its lead shows.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/latex/cells.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostClusters = 40;
constexpr double kStripWidth_mm = 150, kStripHeight_mm = 6;

std::string lists(const Json& members) {
  std::string all;
  for (const Json& list : members) all += (all.empty() ? "" : " ") + text(list);
  return code(all, 120);
}

std::string cluster_table(const Json& list) {
  TexTable table({{"lead", 0},
                  {"ranks", 0},
                  {"members", 55},
                  {"calls", 0},
                  {"bytes", 0},
                  {"in MPI", 0},
                  {"outside", 0}});
  table.first(kMostClusters, list.size(), "clusters", [&](size_t i) {
    const Json& c = list[i];
    table.row({count(c["lead"]), count(c["ranks"]), lists(c["members"]), count(c["calls"]),
               bytes(c["bytes"]), duration(c["in_mpi_ns"]), duration(c["outside_ns"])});
  });
  return table.text();
}

// The mean time of a call of each rank: its own in the upper row, what its lead shows in the lower.
std::string strips(const PageData& data) {
  const auto& own = data.columns.numbers("clusters.own_ns");
  const auto& shown = data.columns.numbers("clusters.shown_ns");
  if (own.empty() || own.size() != shown.size()) return {};
  int64_t least = INT64_MAX, most = 1;
  for (const auto* row : {&own, &shown}) {
    for (const int64_t ns : *row) {
      if (ns > 0) least = std::min(least, ns);
      most = std::max(most, ns);
    }
  }
  least = std::min(least, most);
  Cells cells(own.size(), 2);
  for (size_t i = 0; i < own.size(); ++i) {
    const auto ink = [&](int64_t ns) {
      return ns <= 0 ? kPaper
                     : amount_ink(log_level(static_cast<double>(ns), static_cast<double>(least),
                                            static_cast<double>(most)));
    };
    cells.at(i, 0) = ink(own[i]);
    cells.at(i, 1) = ink(shown[i]);
  }
  const double width = kStripWidth_mm / static_cast<double>(own.size());
  return "\\begin{tikzpicture}\n" + draw_cells(cells, width, kStripHeight_mm, amount_name) +
         "\\end{tikzpicture}\\par\\smallskip{\\small " +
         amount_legend(duration(Json(least)), duration(Json(most))) + "}";
}

}  // namespace

void put_clusters(const PageData& data, std::string& out) {
  const auto at = data.json.find("clusters");
  if (at == data.json.end() || !at->contains("list")) return;
  const Json& clusters = *at;
  out +=
      "\\subsection*{Clusters of ranks}\n"
      "\\emph{One rank of each cluster, its lead, stands for all: times of single calls are those "
      "of leads. Look for members whose own mean differs from what the lead shows.}\n\n";
  out += counted(clusters["stood_for_ranks"], "rank") + " of " +
         counted(data.json["info"]["ranks"], "rank") + " have another one's times; " +
         (clusters["endpoints"] == "lead" ? "calls are those of leads. " : "calls are their own. ");
  if (clusters.contains("error"))
    out += "Relative error: " + share(clusters["error"]["predicted"]) + " predicted, " +
           share(clusters["error"]["checked"]) + " checked. ";
  if (clusters.contains("why_not"))
    out += "The trace cannot be replayed: " + code(text(clusters["why_not"])) + ". ";
  out += "\n\n" + cluster_table(clusters["list"]);
  if (const std::string picture = strips(data); !picture.empty())
    out += figure(picture,
                  "Mean time of a call in MPI by rank, from rank 0 at the left: the rank's own "
                  "above, what its lead shows below.");
}

}  // namespace refrain::report::latex
