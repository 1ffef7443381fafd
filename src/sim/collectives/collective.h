// Collectives as messages: what one rank sends and receives, step by step.
//
//   Step step;
//   for (uint32_t i = 0; algorithm->step(call, i, step); ++i) ...   // post all, wait for all
//
// An algorithm is a function from a number to a step, without memory, so that thousands of ranks
// can be in the middle of long collectives. Ranks are those of the communicator. Only sends have
// sizes; a receive gets what its sender sends. Each rank makes its steps from its own parameters:
// MPI requires that these are consistent.
//
// Algorithms: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication
// Operations in MPICH", IJHPCA 2005; J. Bruck et al., IEEE TPDS 1997. Threads: any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace refrain::sim {

enum class Collective : uint8_t {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kReduceScatter,
  kScan,
};
// "MPI_Bcast"
std::string_view name_of(Collective what);

// Sizes that differ from rank to rank.
class BlockSizes {
 public:
  virtual ~BlockSizes() = default;
  // Of the block that this rank sends to rank `i` (all-to-all), or that rank `i` contributes or
  // gets (the others); of gather and scatter only the root knows those of others.
  virtual uint64_t bytes(int64_t i) const = 0;
};

struct CollectiveCall {
  Collective what = Collective::kBarrier;
  int64_t ranks = 1, me = 0, root = 0;
  // Of what a bcast or reduction has in all; of one rank's block otherwise.
  uint64_t bytes = 0;
  const BlockSizes* blocks = nullptr;  // nullptr: each of `bytes`
  uint64_t segment = 0;                // 0: messages are not cut

  uint64_t block(int64_t i) const { return blocks != nullptr ? blocks->bytes(i) : bytes; }
  int64_t shifted(int64_t by) const { return ((me + by) % ranks + ranks) % ranks; }
  // Numbered from the root.
  int64_t relative() const { return (me - root + ranks) % ranks; }
  int64_t absolute(int64_t relative) const { return (relative + root) % ranks; }
};

struct Part {
  bool sends = false;
  int64_t peer = 0;
  uint64_t bytes = 0;
};
struct Step {
  std::vector<Part> parts;  // at once; receives are posted first
  uint64_t reduced = 0;     // bytes that are combined afterwards
  void clear() { parts.clear(), reduced = 0; }
  void send(int64_t peer, uint64_t bytes) { parts.push_back({true, peer, bytes}); }
  void receive(int64_t peer) { parts.push_back({false, peer, 0}); }
};

// False: this rank has fewer steps. `out` is cleared before. Steps may be empty.
using StepFunction = bool (*)(const CollectiveCall& call, uint32_t step, Step& out);

struct Algorithm {
  std::string_view name;
  StepFunction step = nullptr;  // nullptr: analytic, a formula
  uint32_t for_calls = 0;       // bits 1 << Collective
  bool cuts = false;            // uses CollectiveCall::segment
  bool takes_blocks = false;    // of different sizes
  bool is_for(Collective what) const { return (for_calls >> static_cast<unsigned>(what) & 1) != 0; }
};

// nullptr: there is no such algorithm.
const Algorithm* find_algorithm(std::string_view name);
const std::vector<Algorithm>& algorithms();
// The one of a name that is for this collective; nullptr: none.
const Algorithm* find_algorithm(std::string_view name, Collective what);

// What MPICH or Open MPI would take, by size and ranks.
const Algorithm& preset_algorithm(std::string_view preset, const CollectiveCall& call,
                                  uint64_t& segment);

// Seconds of no message: the time of a collective by its formula.
struct Hockney {
  double alpha_ns = 0;           // of a message
  double beta_ns_per_byte = 0;   // of a byte
  double gamma_ns_per_byte = 0;  // of a byte that is combined
};
double analytic_ns(const CollectiveCall& call, const Hockney& costs);

// Steps of an algorithm for this rank.
inline uint32_t count_steps(StepFunction algorithm, const CollectiveCall& call) {
  Step step;
  uint32_t count = 0;
  while (step.clear(), algorithm(call, count, step)) ++count;
  return count;
}

inline uint32_t ceil_log2(int64_t n) {
  uint32_t out = 0;
  while (int64_t{1} << out < n) ++out;
  return out;
}
inline int64_t power_below(int64_t n) {
  int64_t out = 1;
  while (2 * out <= n) out *= 2;
  return out;
}

// Reductions that work on a power of two of the ranks: the first 2 * (ranks - power) meet in pairs
// before and after, and the odd one of a pair does the work of both.
struct Folded {
  explicit Folded(const CollectiveCall& call)
      : power(power_below(call.ranks)), rest(call.ranks - power) {
    if (call.me >= 2 * rest)
      number = call.me - rest;
    else
      number = call.me % 2 == 1 ? call.me / 2 : -1;
  }
  // Rank of number i.
  int64_t rank(int64_t i) const { return i < rest ? 2 * i + 1 : i + rest; }
  // The other one of the pair of rank `me` < 2 * rest.
  int64_t partner_of(int64_t me) const { return me % 2 == 0 ? me + 1 : me - 1; }
  int64_t power, rest;
  int64_t number;  // of this rank among those that work; -1: none
};

// The steps of a folded algorithm that are before and behind the `rounds` of those that work: true
// or false as a StepFunction. No value: `step` is the number of the round.
struct FoldSteps {
  int64_t partner = 0;  // of a rank below 2 * rest
  uint32_t rounds = 0;
  uint64_t before = 0;  // bytes of the one that stands aside
  uint64_t after = 0;   // ... that it gets back
  bool gets_back = true;
  std::optional<bool> take(const Folded& folded, int64_t me, uint32_t& step, Step& out) const;
};

// Rank `me` has blocks [first, first + count) of a total that is cut into `of` nearly equal ones.
inline uint64_t share(uint64_t bytes, int64_t of, int64_t first, int64_t count) {
  const auto at = [&](int64_t i) {
    return bytes / static_cast<uint64_t>(of) * static_cast<uint64_t>(i) +
           std::min(static_cast<uint64_t>(i), bytes % static_cast<uint64_t>(of));
  };
  return at(first + count) - at(first);
}

bool dissemination(const CollectiveCall& call, uint32_t step, Step& out);
bool binomial(const CollectiveCall& call, uint32_t step, Step& out);
bool in_order_binomial(const CollectiveCall& call, uint32_t step, Step& out);
bool scatter_allgather(const CollectiveCall& call, uint32_t step, Step& out);
bool chain(const CollectiveCall& call, uint32_t step, Step& out);
bool recursive_doubling(const CollectiveCall& call, uint32_t step, Step& out);
bool recursive_halving(const CollectiveCall& call, uint32_t step, Step& out);
bool rabenseifner(const CollectiveCall& call, uint32_t step, Step& out);
bool ring(const CollectiveCall& call, uint32_t step, Step& out);
bool bruck(const CollectiveCall& call, uint32_t step, Step& out);
bool pairwise(const CollectiveCall& call, uint32_t step, Step& out);
bool linear(const CollectiveCall& call, uint32_t step, Step& out);

}  // namespace refrain::sim
