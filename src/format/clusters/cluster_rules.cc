#include "format/clusters/cluster_rules.h"

#include <algorithm>
#include <utility>

#include "format/clusters/clusters.h"
#include "format/rules.h"
#include "grammar/fold.h"

namespace refrain::format {

namespace {

using ThreadCalls = std::vector<std::pair<uint32_t, uint64_t>>;  // thread, calls

// Of each group; the last one is that of ranks without calls.
std::vector<ThreadCalls> calls_of_groups(const TraceData& trace) {
  std::vector<ThreadCalls> out;
  for (const Group& group : trace.groups) {
    ThreadCalls& calls = out.emplace_back();
    for (const ThreadGrammar& l : group.locations) {
      uint64_t length = 0;
      if (l.grammar < trace.grammars.size())
        grammar::checked_length(trace.grammars[l.grammar], &length);
      calls.emplace_back(l.thread, length);
    }
  }
  out.emplace_back();
  return out;
}

std::vector<size_t> group_of_ranks(const TraceData& trace) {
  std::vector<size_t> out(trace.meta.ranks, trace.groups.size());
  for (size_t g = 0; g < trace.groups.size(); ++g) {
    for (const base::RunList::Run& run : trace.groups[g].ranks.runs()) {
      for (uint64_t i = 0; i < run.count; ++i) {
        const auto rank = static_cast<uint64_t>(run.start + run.step * static_cast<int64_t>(i));
        if (rank >= out.size()) break;
        out[rank] = g;
      }
    }
  }
  return out;
}

}  // namespace

std::vector<ClusterFinding> check_clusters(const TraceData& trace) {
  std::vector<ClusterFinding> out;
  const bool says_so = std::any_of(trace.losses.begin(), trace.losses.end(),
                                   [](const LossRecord& l) { return l.reason == kStoodForLoss; });
  if (says_so == trace.clusters.empty())
    out.push_back({kRuleClusterFeature, "clusters and the loss stood_for do not go together"});
  if (trace.clusters.empty()) return out;
  const uint64_t ranks = trace.meta.ranks;
  if (const std::string p = problem_of(trace.clusters, ranks); !p.empty()) {
    out.push_back({kRuleClusters, "there are " + p});
    return out;
  }
  const std::vector<uint32_t> times_of = time_ranks(trace.clusters, ranks);
  const std::vector<size_t> group_of = group_of_ranks(trace);
  const std::vector<ThreadCalls> calls = calls_of_groups(trace);
  for (uint64_t r = 0; r < ranks; ++r) {
    if (times_of[r] == kNoTimes || group_of[r] == group_of[times_of[r]]) continue;
    if (calls[group_of[r]] == calls[group_of[times_of[r]]]) continue;
    out.push_back({kRuleClusterCalls, "rank " + std::to_string(r) +
                                          " has other calls than the rank that stands for it"});
    break;
  }
  return out;
}

}  // namespace refrain::format
