#include "analysis/computation/sequences.h"

#include <map>
#include <tuple>

#include "base/wide.h"
#include "format/trace_data.h"
#include "grammar/fold.h"
#include "reader/internal.h"

namespace refrain::analysis::computation {
namespace {

// The sequence as the digits of a number, modulo a prime: what two halves have together follows
// from what each of them has.
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
constexpr uint64_t kBase = 0x0b4711c0ffee5eed;  // any number below the prime

uint64_t times(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  const auto sum = static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

struct Part {
  uint64_t calls = 0;
  uint64_t hash = 0;
  uint64_t shift = 1;  // kBase to the power of `calls`
};

Part joined(const Part& a, const Part& b) {
  uint64_t hash = times(a.hash, b.shift) + b.hash;
  if (hash >= kPrime) hash -= kPrime;
  return {a.calls + b.calls, hash, times(a.shift, b.shift)};
}

// Neighbouring functions are to be far apart.
uint64_t scattered(uint64_t v) {
  v = (v + 1) * 0x9e3779b97f4a7c15;
  return (v ^ (v >> 29)) % kPrime;
}

SequenceKey key_of(const Trace& trace, const format::Group& group,
                   const grammar::Grammar& grammar) {
  const Part whole = grammar::fold(
      grammar, Part{},
      [&](grammar::Terminal terminal) {
        const SignatureId signature{group.signatures[terminal]};
        return Part{1, scattered(trace.call_of(signature)), kBase};
      },
      joined);
  return {whole.calls, whole.hash};
}

}  // namespace

std::vector<Sequence> sequences_of(const Trace& trace) {
  const auto& data = reader::data_of(trace);
  std::vector<SequenceKey> of_group(data.groups.size());
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    const auto threads = trace.group_locations(g);
    if (!threads.empty())
      of_group[g] = key_of(trace, data.groups[g], data.grammars[threads[0].grammar]);
  }
  std::vector<Sequence> out;
  std::map<std::tuple<uint64_t, uint64_t>, size_t> known;
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
    const auto group = trace.group_of(rank);
    if (!group) continue;
    const SequenceKey key = of_group[*group];
    const auto [at, is_new] = known.try_emplace({key.calls, key.hash}, out.size());
    if (is_new) out.push_back({key, {}});
    out[at->second].ranks.append(rank);
  }
  return out;
}

}  // namespace refrain::analysis::computation
