#include "format/merge/loop_counts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "grammar/skeleton.h"

namespace refrain::format {

namespace {

bool is_uniform(const base::NestedRuns& list) {
  bool is_one = true;
  const int64_t first = list.first();
  list.for_each_run([&](int64_t start, int64_t step, uint64_t count) {
    is_one = is_one && start == first && (step == 0 || count == 1);
  });
  return is_one;
}

// The ranks of a group by the grammars that they have, in the order of their first ranks.
void split(const Group& group, const std::vector<PartialLocation>& locations,
           std::vector<Group>& out) {
  std::vector<base::RunList> grammars;
  // While groups are merged, grammars that differ in counts only are alike. A group of the file has
  // one grammar for each thread, so it is split again here; signatures stay shared, which is where
  // the bytes are.
  for (const PartialLocation& l : locations) grammars.push_back(l.grammars.runs());
  std::map<std::vector<uint32_t>, size_t> known;
  const size_t begin = out.size();
  for (uint64_t i = 0; i < group.ranks.size(); ++i) {
    std::vector<uint32_t> own;
    for (const base::RunList& g : grammars) own.push_back(static_cast<uint32_t>(g.at(i)));
    const auto [it, is_new] = known.try_emplace(std::move(own), out.size());
    if (is_new) {
      Group& made = out.emplace_back();
      made.signatures = group.signatures;
      // The file then repeats nothing of the group but its ranks and grammars.
      made.is_like_before = out.size() > begin + 1;
      for (size_t l = 0; l < locations.size(); ++l)
        made.locations.push_back({locations[l].thread, it->first[l]});
    }
    out[it->second].ranks.append(group.ranks.at(i));
    // Tables are by position in the merged group, which each part has to remember.
    out[it->second].places.append(static_cast<int64_t>(i));
  }
}

}  // namespace

void split_by_grammar(const std::vector<std::vector<PartialLocation>>& locations,
                      TraceData& trace) {
  std::vector<Group> out;
  for (size_t g = 0; g < trace.groups.size(); ++g) {
    const auto& own = locations[g];
    if (!std::all_of(own.begin(), own.end(),
                     [](const auto& l) { return is_uniform(l.grammars); })) {
      split(trace.groups[g], own, out);
      continue;
    }
    out.push_back(std::move(trace.groups[g]));
    for (const PartialLocation& l : own)
      out.back().locations.push_back({l.thread, static_cast<uint32_t>(l.grammars.first())});
  }
  trace.groups = std::move(out);
}

void order_grammars(TraceData& trace) {
  if (trace.grammars.size() < 2) return;
  std::unordered_map<std::string, uint32_t> first;
  std::vector<uint32_t> skeleton;  // by grammar: the first one with the same
  for (uint32_t i = 0; i < trace.grammars.size(); ++i)
    // Grammars of one skeleton stand side by side, where the file writes only the counts of the
    // later ones.
    skeleton.push_back(first.try_emplace(skeleton_key(trace.grammars[i]), i).first->second);
  std::vector<uint32_t> order(trace.grammars.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return skeleton[a] < skeleton[b]; });
  std::vector<grammar::Grammar> grammars;
  std::vector<uint32_t> now(order.size());
  for (const uint32_t i : order) {
    now[i] = static_cast<uint32_t>(grammars.size());
    grammars.push_back(std::move(trace.grammars[i]));
  }
  trace.grammars = std::move(grammars);
  for (Group& group : trace.groups)
    for (ThreadGrammar& l : group.locations) l.grammar = now[l.grammar];
}

}  // namespace refrain::format
