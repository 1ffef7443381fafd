// The table of algorithms, and what the presets take of it.
#include "sim/collectives/collective.h"

namespace refrain::sim {
namespace {

template <class... Calls>
constexpr uint32_t bits(Calls... calls) {
  return ((1U << static_cast<unsigned>(calls)) | ...);
}

using C = Collective;

struct Choice {
  StepFunction step;
  uint64_t segment = 0;
};

uint64_t total(const CollectiveCall& call) {
  if (call.blocks == nullptr) return call.bytes * static_cast<uint64_t>(call.ranks);
  uint64_t sum = 0;
  for (int64_t i = 0; i < call.ranks; ++i) sum += call.block(i);
  return sum;
}

// MPICH 3 and 4 without hints: the limits are the defaults of its control variables
// (MPIR_CVAR_BCAST_SHORT_MSG_SIZE and the like).
Choice mpich(const CollectiveCall& call) {
  const int64_t n = call.ranks;
  const bool is_power = power_below(n) == n;
  const uint64_t bytes = call.bytes;
  switch (call.what) {
    case C::kBarrier: return {dissemination};
    case C::kBcast: return {bytes < 12288 || n < 8 ? binomial : scatter_allgather};
    case C::kReduce: return {bytes <= 2048 ? binomial : rabenseifner};
    case C::kAllreduce: return {bytes <= 2048 ? recursive_doubling : rabenseifner};
    case C::kGather:
    case C::kScatter: return {call.blocks != nullptr ? linear : binomial};
    case C::kAllgather:
      if (total(call) < 524288 && is_power) return {recursive_doubling};
      return {total(call) < 81920 ? bruck : ring};
    case C::kAlltoall:
      if (call.blocks != nullptr) return {linear};
      if (bytes <= 256 && n >= 8) return {bruck};
      return {bytes <= 32768 ? linear : pairwise};
    case C::kReduceScatter: return {total(call) < 524288 ? recursive_halving : pairwise};
    case C::kScan: return {recursive_doubling};
  }
  return {linear};
}

// Open MPI 4: the fixed rules of its component "tuned", with the nearest of the algorithms above
// where it has others (split binary trees, neighbour exchange).
Choice openmpi(const CollectiveCall& call) {
  const int64_t n = call.ranks;
  const bool is_power = power_below(n) == n;
  const uint64_t bytes = call.bytes;
  switch (call.what) {
    case C::kBarrier: return {is_power ? recursive_doubling : dissemination};
    case C::kBcast:
      if (bytes < 2048) return {binomial};
      if (bytes < 370728) return {scatter_allgather};
      return {chain, 131072};
    case C::kReduce:
      if (n < 8 && bytes < 512) return {linear};
      if (bytes < 2048 || (n < 8 && bytes < 20480)) return {binomial};
      return {chain, bytes > 524288 ? uint64_t{65536} : uint64_t{32768}};
    case C::kAllreduce: return {bytes < 10000 ? recursive_doubling : ring};
    case C::kGather:
      if (call.blocks != nullptr) return {linear};
      return {n > 60 || (n > 10 && bytes < 1024) ? binomial : linear};
    case C::kScatter:
      if (call.blocks != nullptr) return {linear};
      return {n > 10 && bytes < 300 ? in_order_binomial : linear};
    case C::kAllgather:
      if (total(call) >= 50000) return {ring};
      return {is_power ? recursive_doubling : bruck};
    case C::kAlltoall:
      if (call.blocks != nullptr) return {pairwise};
      if (bytes < 200 && n > 12) return {bruck};
      return {bytes < 3000 ? linear : pairwise};
    case C::kReduceScatter: return {total(call) <= 12288 ? recursive_halving : ring};
    case C::kScan: return {chain};
  }
  return {linear};
}

}  // namespace

std::optional<bool> FoldSteps::take(const Folded& folded, int64_t me, uint32_t& step,
                                    Step& out) const {
  if (me >= 2 * folded.rest) return std::nullopt;
  const bool stands_aside = folded.number < 0;
  if (step == 0) {
    if (stands_aside)
      out.send(partner, before);
    else
      out.receive(partner), out.reduced = before;
    return true;
  }
  --step;
  if (stands_aside) {
    if (step > 0 || !gets_back) return false;
    out.receive(partner);
    return true;
  }
  if (step != rounds || !gets_back) return std::nullopt;
  out.send(partner, after);
  return true;
}

std::string_view name_of(Collective what) {
  constexpr std::string_view kNames[] = {
      "MPI_Barrier", "MPI_Bcast",     "MPI_Reduce",   "MPI_Allreduce",      "MPI_Gather",
      "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter", "MPI_Scan"};
  return kNames[static_cast<size_t>(what)];
}

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> kAll = {
      {"dissemination", dissemination, bits(C::kBarrier), false, false},
      {"binomial", binomial, bits(C::kBcast, C::kReduce, C::kAllreduce, C::kGather, C::kScatter),
       false, false},
      {"in_order_binomial", in_order_binomial, bits(C::kScatter), false, false},
      {"scatter_allgather", scatter_allgather, bits(C::kBcast), false, false},
      {"chain", chain, bits(C::kBcast, C::kReduce, C::kScan), true, false},
      {"recursive_doubling", recursive_doubling,
       bits(C::kBarrier, C::kAllreduce, C::kAllgather, C::kScan), false, true},
      {"recursive_halving", recursive_halving, bits(C::kReduceScatter), false, true},
      {"rabenseifner", rabenseifner, bits(C::kReduce, C::kAllreduce), false, false},
      {"ring", ring, bits(C::kAllgather, C::kAllreduce, C::kReduceScatter), false, true},
      {"bruck", bruck, bits(C::kAllgather, C::kAlltoall), false, false},
      {"pairwise", pairwise, bits(C::kAlltoall, C::kReduceScatter), false, true},
      {"linear", linear,
       bits(C::kBcast, C::kReduce, C::kGather, C::kScatter, C::kAllgather, C::kAlltoall), false,
       true},
      {"analytic", nullptr, ~0U, false, true},
  };
  return kAll;
}

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm& one : algorithms())
    if (one.name == name) return &one;
  return nullptr;
}

const Algorithm* find_algorithm(std::string_view name, Collective what) {
  const Algorithm* const found = find_algorithm(name);
  return found != nullptr && found->is_for(what) ? found : nullptr;
}

const Algorithm& preset_algorithm(std::string_view preset, const CollectiveCall& call,
                                  uint64_t& segment) {
  const Choice choice = preset == "openmpi" ? openmpi(call) : mpich(call);
  segment = choice.segment;
  for (const Algorithm& one : algorithms())
    if (one.step == choice.step) return one;
  return algorithms().front();
}

}  // namespace refrain::sim
