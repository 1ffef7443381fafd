// Matrices of each kind of point-to-point call: who it was for, by hits, bytes and time.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mpi/call_name.h"
#include "report/latex/pairs.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

using analysis::TopologyEdge;
using analysis::TopologyOfCall;

constexpr size_t kMostMessageKinds = 16;
constexpr size_t kMostKindCells = 64;  // a side

const std::vector<Weight>& weights_of_calls() {
  static const std::vector<Weight> kWeights = {{"calls", &PairLoad::messages, count},
                                               {"bytes", &PairLoad::bytes, bytes},
                                               {"time", &PairLoad::ns, duration}};
  return kWeights;
}

PairLoads loads_of(const TopologyOfCall& kind, size_t block) {
  PairLoads out;
  for (const TopologyEdge& edge : kind.edges) {
    PairLoad& pair =
        out[{static_cast<size_t>(edge.source) / block, static_cast<size_t>(edge.dest) / block}];
    pair.messages += static_cast<double>(edge.hits);
    pair.bytes += static_cast<double>(edge.bytes);
    pair.ns += edge.time_ns;
  }
  return out;
}

double time_of(const TopologyOfCall& kind) {
  double ns = 0;
  for (const TopologyEdge& edge : kind.edges) ns += edge.time_ns;
  return ns;
}

}  // namespace

void put_kinds(const std::vector<TopologyOfCall>& kinds, Rank ranks, std::string& out) {
  out += section("Matrices of each kind of call",
                 "Look for kinds of calls that only some pairs of ranks use, and for pairs that "
                 "take longer than others with as many bytes.");
  if (kinds.empty()) {
    out += "No messages from rank to rank.\n";
    return;
  }
  const auto all = std::max<size_t>(1, static_cast<size_t>(ranks));
  const size_t block = (all + kMostKindCells - 1) / kMostKindCells,
               side = (all + block - 1) / block;
  out +=
      "From each sender (row) to each receiver (column), logarithmic colours. Bytes are those of "
      "calls that send; time is from means, that of a call for several messages shared evenly.";
  if (block > 1) out += fmt::format(" Each cell is {0} by {0} neighbouring ranks.", block);
  std::vector<const TopologyOfCall*> order;
  for (const TopologyOfCall& kind : kinds) order.push_back(&kind);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return time_of(*a) > time_of(*b); });
  for (size_t k = 0; k < std::min(order.size(), kMostMessageKinds); ++k) {
    const PairLoads pairs = loads_of(*order[k], block);
    std::string pictures;
    for (const Weight& weight : weights_of_calls())
      pictures += matrix_picture(pairs, side, block, weight) + "\\hfill\n";
    out += figure(pictures, code(mpi::call_name(order[k]->call)) + ": " + count(pairs.size()) +
                                (block > 1 ? " cells" : " pairs of ranks"));
  }
  if (order.size() > kMostMessageKinds)
    out += "\\par\\emph{and " + count(order.size() - kMostMessageKinds) + " more kinds}\n";
}

}  // namespace refrain::report::latex
