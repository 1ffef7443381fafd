#include "sim/collectives/collective.h"

namespace refrain::sim {

// Rank r, numbered from the root, is the child of r without its lowest bit, and has the ranks r + 1
// to r + 2^i - 1 below it, where i is the number of that bit.
namespace {

struct Tree {
  explicit Tree(const CollectiveCall& call) : r(call.relative()), n(call.ranks) {
    while (below < n && (r & below) == 0) below *= 2;
    for (int64_t bit = below / 2; bit > 0; bit /= 2) children += r + bit < n ? 1 : 0;
  }
  // The i-th child, the one with most below it first.
  int64_t child(uint32_t i) const {
    for (int64_t bit = below / 2; bit > 0; bit /= 2)
      if (r + bit < n && i-- == 0) return r + bit;
    return -1;
  }
  int64_t parent() const { return r - below; }
  // Ranks of the subtree of a rank.
  int64_t ranks_below(int64_t rank) const {
    int64_t bit = 1;
    while (bit < n && (rank & bit) == 0) bit *= 2;
    return std::min(bit, n - rank);
  }
  int64_t r, n, below = 1;
  uint32_t children = 0;
};

bool downwards(const CollectiveCall& call, uint32_t step, Step& out, bool is_in_order = false) {
  const Tree tree(call);
  const bool scatters = call.what == Collective::kScatter;
  if (tree.r != 0) {
    if (step == 0) {
      out.receive(call.absolute(tree.parent()));
      return true;
    }
    --step;
  }
  if (step >= tree.children) return false;
  const int64_t child = tree.child(is_in_order ? tree.children - 1 - step : step);
  out.send(call.absolute(child),
           scatters ? call.bytes * static_cast<uint64_t>(tree.ranks_below(child)) : call.bytes);
  return true;
}

bool upwards(const CollectiveCall& call, uint32_t step, Step& out) {
  const Tree tree(call);
  const bool gathers = call.what == Collective::kGather;
  if (step < tree.children) {
    out.receive(call.absolute(tree.child(tree.children - 1 - step)));
    if (!gathers) out.reduced = call.bytes;
    return true;
  }
  if (step > tree.children || tree.r == 0) return false;
  out.send(call.absolute(tree.parent()),
           gathers ? call.bytes * static_cast<uint64_t>(tree.ranks_below(tree.r)) : call.bytes);
  return true;
}

}  // namespace

bool binomial(const CollectiveCall& call, uint32_t step, Step& out) {
  if (call.ranks < 2) return false;
  const bool goes_down = call.what == Collective::kBcast || call.what == Collective::kScatter;
  if (call.what != Collective::kAllreduce) {
    return goes_down ? downwards(call, step, out) : upwards(call, step, out);
  }
  CollectiveCall half = call;
  half.root = 0;
  half.what = Collective::kReduce;
  const uint32_t first = count_steps(upwards, half);
  if (step < first) return upwards(half, step, out);
  half.what = Collective::kBcast;
  return downwards(half, step - first, out);
}

// As Open MPI scatters: to the child with fewest below it first.
bool in_order_binomial(const CollectiveCall& call, uint32_t step, Step& out) {
  return call.ranks >= 2 && downwards(call, step, out, true);
}

}  // namespace refrain::sim
