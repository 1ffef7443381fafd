#include "report/latex/pairs.h"

#include <algorithm>

#include "report/latex/tex_text.h"

namespace refrain::report::latex {

PairLoads pair_loads(const PageData& data, const std::string& name, size_t nodes, size_t block,
                     bool is_undirected) {
  const auto column = [&](const char* of) -> const std::vector<int64_t>& {
    return data.columns.numbers(name + "." + of);
  };
  const auto &source = column("source"), &dest = column("dest"), &bytes = column("bytes"),
             &messages = column("messages"), &ns = column("ns");
  PairLoads out;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] < 0 || dest[i] < 0) continue;
    auto from = static_cast<size_t>(source[i]) / block, to = static_cast<size_t>(dest[i]) / block;
    if (from >= nodes || to >= nodes) continue;
    if (is_undirected && from > to) std::swap(from, to);
    PairLoad& pair = out[{from, to}];
    pair.bytes += static_cast<double>(bytes[i]);
    pair.messages += static_cast<double>(messages[i]);
    pair.ns += static_cast<double>(ns[i]);
  }
  return out;
}

const std::vector<Weight>& weights() {
  static const std::vector<Weight> kWeights = {{"bytes", &PairLoad::bytes, bytes},
                                               {"messages", &PairLoad::messages, count},
                                               {"time", &PairLoad::ns, duration}};
  return kWeights;
}

std::pair<double, double> range_of(const PairLoads& pairs, double PairLoad::*weight) {
  double least = 0, most = 0;
  for (const auto& [ends, pair] : pairs) {
    const double v = pair.*weight;
    if (!(v > 0)) continue;
    least = least > 0 ? std::min(least, v) : v;
    most = std::max(most, v);
  }
  return {least, most};
}

}  // namespace refrain::report::latex
