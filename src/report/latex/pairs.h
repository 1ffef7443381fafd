// Bytes and messages per pair of ranks, read from the page's columns.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/page/page.h"

namespace refrain::report::latex {

struct PairLoad {
  double bytes = 0, messages = 0, ns = 0;
};
using PairLoads = std::map<std::pair<size_t, size_t>, PairLoad>;  // by (source, destination)

// Those of the columns `name`.source and so on, with `block` neighbours in one; both directions
// in one, the smaller number first, when `is_undirected`. Pairs beyond `nodes` are left out.
PairLoads pair_loads(const PageData& data, const std::string& name, size_t nodes, size_t block,
                     bool is_undirected);

// The three weights of a pair, with what they are called and how they are written.
struct Weight {
  const char* title;
  double PairLoad::*value;
  std::string (*text)(const nlohmann::ordered_json&);
};
const std::vector<Weight>& weights();

// Least (above 0) and most of a weight.
std::pair<double, double> range_of(const PairLoads& pairs, double PairLoad::*weight);

// A matrix of `side` cells a side with its legend, in 57 mm; each cell is `block` ranks. Below it
// the amounts of its colours.
std::string matrix_picture(const PairLoads& pairs, size_t side, size_t block, const Weight& weight);

}  // namespace refrain::report::latex
