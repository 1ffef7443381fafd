#include "format/clusters/clusters.h"

#include <cmath>

namespace refrain::format {

namespace {

template <class Visit>
void for_each(const base::RunList& list, Visit visit) {
  for (const base::RunList::Run& run : list.runs())
    for (uint64_t i = 0; i < run.count; ++i) visit(run.start + run.step * static_cast<int64_t>(i));
}

// Ascending, and all of them below `ranks`.
bool is_good(const base::RunList& list, uint64_t ranks) {
  int64_t last = -1;
  for (const base::RunList::Run& run : list.runs()) {
    if (run.count == 0 || run.start <= last || (run.count > 1 && run.step <= 0)) return false;
    const auto steps = static_cast<int64_t>(run.count - 1);
    int64_t end = 0;
    if (__builtin_mul_overflow(run.step, steps, &end) ||
        __builtin_add_overflow(run.start, end, &end) || end >= static_cast<int64_t>(ranks))
      return false;
    last = end;
  }
  return true;
}

bool is_share(double v) { return std::isfinite(v) && v >= 0; }

}  // namespace

std::vector<uint32_t> time_ranks(const ClusterData& data, uint64_t ranks) {
  std::vector<uint32_t> out;
  if (data.empty()) return out;
  out.assign(ranks, kNoTimes);
  const auto set = [&](const base::RunList& list, uint64_t rank, bool own) {
    for_each(list, [&](int64_t r) {
      if (r >= 0 && static_cast<uint64_t>(r) < ranks)
        out[static_cast<size_t>(r)] = static_cast<uint32_t>(own ? static_cast<uint64_t>(r) : rank);
    });
  };
  for (const Cluster& c : data.clusters) {
    set(c.members, c.lead, false);
    if (!data.has_lead_endpoints) set(c.others, kNoTimes, false);
  }
  set(data.sampled, 0, true);
  return out;
}

std::string problem_of(const ClusterData& data, uint64_t ranks) {
  if (data.empty()) return {};
  std::vector<uint32_t> cluster_of(ranks, 0);  // from 1 on
  uint64_t count = 0;
  uint32_t number = 0;
  const Cluster* before = nullptr;
  for (const Cluster& c : data.clusters) {
    if (before != nullptr && c.lead <= before->lead) return "leads that do not ascend";
    before = &c;
    ++number;
    if (!is_good(c.members, ranks) || !is_good(c.others, ranks)) return "members out of order";
    bool is_twice = false, is_strange = false;
    for_each(c.members, [&](int64_t r) {
      is_twice = is_twice || cluster_of[static_cast<size_t>(r)] != 0;
      cluster_of[static_cast<size_t>(r)] = number;
      ++count;
    });
    for_each(c.others, [&](int64_t r) {
      is_strange = is_strange || cluster_of[static_cast<size_t>(r)] != number ||
                   static_cast<uint64_t>(r) == c.lead;
    });
    if (is_twice) return "a rank in two clusters";
    if (c.lead >= ranks || cluster_of[c.lead] != number) return "a lead that is no member";
    if (is_strange || (!data.is_mixed && !c.others.empty()))
      return "ranks of other structure that cannot be";
  }
  if (count != ranks) return "ranks in no cluster";
  if (!is_good(data.sampled, ranks)) return "sampled ranks out of order";
  if (data.is_replayable != data.why_not.empty()) return "no word on why it cannot be replayed";
  if (!is_share(data.error_asked) || !is_share(data.error_predicted) ||
      !is_share(data.error_checked))
    return "errors that are no numbers";
  return {};
}

}  // namespace refrain::format
