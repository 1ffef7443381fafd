#include "analysis/diff/loops.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "analysis/diff/signatures.h"
#include "format/trace_data.h"
#include "grammar/fold.h"
#include "reader/internal.h"

namespace refrain::analysis::diff {
namespace {

constexpr double kLikeEnough = 0.5;
constexpr size_t kMostPairs = size_t{1} << 22;

Body united(const Body& a, const Body& b) {
  Body out;
  out.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  if (out.size() > kMostPlaces) out.resize(kMostPlaces);
  return out;
}

double likeness(const Body& a, const Body& b) {
  Body both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const size_t all = a.size() + b.size() - both.size();
  return all == 0 ? 0 : static_cast<double>(both.size()) / static_cast<double>(all);
}

void add_count(std::vector<uint64_t>& counts, uint64_t count) {
  const auto at = std::lower_bound(counts.begin(), counts.end(), count);
  if (counts.size() < LoopCount::kMostCounts && (at == counts.end() || *at != count))
    counts.insert(at, count);
}

// The loops of one grammar, whose terminals are made at `places`, for `ranks` ranks.
void add_loops(const grammar::Grammar& grammar, const std::vector<uint32_t>& places, double ranks,
               Loops& out) {
  const std::vector<uint64_t> uses = grammar::rule_occurrences(grammar);
  std::vector<Body> bodies(grammar.rule_count());
  // Whether a loop with the same body is inside: the one around it only repeats it.
  std::vector<char> has_same(grammar.rule_count(), 0);
  for (size_t r = grammar.rule_count(); r-- > 0;) {
    for (uint32_t i = grammar.rule_begin(r); i < grammar.rule_end[r]; ++i) {
      const grammar::Symbol& s = grammar.symbols[i];
      bodies[r] = united(bodies[r], s.is_rule ? bodies[s.id] : Body{places[s.id]});
    }
    for (uint32_t i = grammar.rule_begin(r); i < grammar.rule_end[r]; ++i) {
      const grammar::Symbol& s = grammar.symbols[i];
      const bool is_inner = s.is_rule && has_same[s.id] != 0;
      if (s.count < 2 && !is_inner) continue;
      const Body body = s.is_rule ? bodies[s.id] : Body{places[s.id]};
      if (body == bodies[r]) has_same[r] = 1;
      if (s.count < 2 || is_inner) continue;
      LoopCount& loop = out[body];
      const double entries = static_cast<double>(uses[r]) * ranks;
      loop.entries += entries;
      add_count(loop.counts, s.count);
      loop.iterations += entries * static_cast<double>(s.count);
    }
  }
}

}  // namespace

bool LoopCount::is_like(const LoopCount& other) const {
  const auto is_full = [](const LoopCount& c) { return c.counts.size() == kMostCounts; };
  if (is_full(*this) && is_full(other)) return is_close(mean(), other.mean());
  return counts == other.counts;
}

Loops loops_of(const Trace& trace, const Summary& summary,
               const std::vector<uint32_t>& place_of_row) {
  Loops out;
  for (const format::Group& group : reader::data_of(trace).groups) {
    std::vector<uint32_t> places;
    for (const uint32_t signature : group.signatures) {
      const uint32_t row = summary.row_of_signature[signature];
      places.push_back(row == Summary::kNoRow ? Summary::kNoRow : place_of_row[row]);
    }
    for (const format::ThreadGrammar& location : group.locations)
      add_loops(reader::data_of(trace).grammars[location.grammar], places,
                static_cast<double>(group.ranks.size()), out);
  }
  return out;
}

std::vector<LoopPair> match_loops(const Loops& before, const Loops& after) {
  std::vector<LoopPair> out;
  std::vector<Loops::const_iterator> rest_a, rest_b;
  for (auto loop = before.begin(); loop != before.end(); ++loop) {
    const auto there = after.find(loop->first);
    if (there == after.end())
      rest_a.push_back(loop);
    else
      out.push_back({loop->first, there->first, loop->second, there->second});
  }
  for (auto loop = after.begin(); loop != after.end(); ++loop)
    if (before.find(loop->first) == before.end()) rest_b.push_back(loop);
  std::vector<std::tuple<double, size_t, size_t>> pairs;
  for (size_t i = 0; i < rest_a.size() && rest_a.size() * rest_b.size() <= kMostPairs; ++i)
    for (size_t j = 0; j < rest_b.size(); ++j)
      if (const double like = likeness(rest_a[i]->first, rest_b[j]->first); like >= kLikeEnough)
        pairs.emplace_back(-like, i, j);
  std::sort(pairs.begin(), pairs.end());
  std::vector<char> used_a(rest_a.size(), 0), used_b(rest_b.size(), 0);
  for (const auto& [like, i, j] : pairs) {
    if (used_a[i] != 0 || used_b[j] != 0) continue;
    used_a[i] = used_b[j] = 1;
    out.push_back({rest_a[i]->first, rest_b[j]->first, rest_a[i]->second, rest_b[j]->second});
  }
  for (size_t i = 0; i < rest_a.size(); ++i)
    if (used_a[i] == 0) out.push_back({rest_a[i]->first, Body(), rest_a[i]->second, LoopCount()});
  for (size_t j = 0; j < rest_b.size(); ++j)
    if (used_b[j] == 0) out.push_back({Body(), rest_b[j]->first, LoopCount(), rest_b[j]->second});
  return out;
}

}  // namespace refrain::analysis::diff
