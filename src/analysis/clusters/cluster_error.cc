#include "analysis/clusters/cluster_error.h"

#include <algorithm>
#include <random>

#include "events/payload.h"
#include "events/transfers.h"
#include "reader/internal.h"
#include "refrain/calls.h"

namespace refrain::analysis::clusters {

namespace {

using similarity::mean_of;
using similarity::RankFeature;
using similarity::RankHead;

constexpr size_t kMostSampled = 16;

double mean(const RankHead& head, RankFeature f) {
  return static_cast<double>(head.signature.means[mean_of(f)]);
}

double share(double part, double whole) { return part == 0 ? 0 : whole > 0 ? part / whole : 1; }

double apart(double a, double b) { return a > b ? a - b : b - a; }

// How far ranks are off by feature, and how much there is in all.
class ErrorSums {
 public:
  // `off`: of the mean of a call of the rank.
  void add(const RankHead& head, double calls, double off_computation, double off_communication,
           double off_count) {
    const double computation = mean(head, RankFeature::kComputation),
                 communication = mean(head, RankFeature::kCommunication);
    worst_ =
        std::max(worst_, share(off_computation + off_communication, computation + communication));
    off_[0] += off_communication * calls;
    all_[0] += communication * calls;
    off_[1] += off_count * calls;
    all_[1] += mean(head, RankFeature::kCount) * calls;
  }
  // `members`, `all`: where these are a sample, how much there is of the members that they stand
  // for, and of all ranks.
  double of(format::ClusterMetric metric, const ErrorSums& members, const ErrorSums& all) const {
    const auto part = [&](size_t i) {
      return share(off_[i], all_[i]) * share(members.all_[i], all.all_[i]);
    };
    const double in_mpi = part(0), elements = part(1);
    switch (metric) {
      case format::ClusterMetric::kReplay: return worst_;
      case format::ClusterMetric::kProfile: return std::max(in_mpi, elements);
      case format::ClusterMetric::kWaits: return in_mpi;
    }
    return 0;
  }

 private:
  double worst_ = 0;
  double off_[2] = {}, all_[2] = {};
};

double radius(const format::Cluster& c, RankFeature f) {
  return static_cast<double>(c.radius[static_cast<size_t>(f)]);
}

}  // namespace

std::vector<RankLoad> rank_loads_of(const Trace& trace, const std::vector<RankHead>& heads) {
  std::vector<RankLoad> out(heads.size());
  const auto& totals = reader::data_of(trace).totals;
  for (size_t r = 0; r < out.size() && r < totals.size(); ++r) {
    out[r].in_mpi_ns = totals[r].in_mpi_ns;
    out[r].outside_ns = totals[r].outside_ns;
  }
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    const auto occurrences = trace.occurrences(g);
    for (uint64_t i = 0; i < trace.group_size(g); ++i) {
      const Rank rank = trace.group_rank(g, i);
      RankReader reader(trace, rank);
      events::TransferReader transfers(reader);
      RankLoad& load = out[static_cast<size_t>(rank)];
      for (const Trace::Occurrence& seen : occurrences) {
        load.calls = events::add(load.calls, seen.calls);
        for (const events::Transfer& t : transfers.transfers(seen.signature))
          load.bytes = events::add(
              load.bytes, events::multiply(t.bytes, events::multiply(t.repeat, seen.calls)));
      }
    }
  }
  return out;
}

double predicted_error(const format::ClusterData& data, const std::vector<RankHead>& heads,
                       const std::vector<RankLoad>& loads) {
  ErrorSums sums;
  for (const format::Cluster& c : data.clusters) {
    for (uint64_t i = 0; i < c.members.size(); ++i) {
      const auto r = static_cast<size_t>(c.members.at(i));
      const bool is_lead = r == c.lead;
      sums.add(heads[r], static_cast<double>(loads[r].calls),
               is_lead ? 0 : radius(c, RankFeature::kComputation),
               is_lead ? 0 : radius(c, RankFeature::kCommunication),
               is_lead ? 0 : radius(c, RankFeature::kCount));
    }
  }
  return sums.of(data.metric, sums, sums);
}

double checked_error(const format::ClusterData& data, const std::vector<RankHead>& heads,
                     const std::vector<RankLoad>& loads, const std::vector<uint32_t>& sampled) {
  ErrorSums sums, members, all;
  for (const format::Cluster& c : data.clusters) {
    for (uint64_t i = 0; i < c.members.size(); ++i) {
      const auto r = static_cast<size_t>(c.members.at(i));
      const auto calls = static_cast<double>(loads[r].calls);
      all.add(heads[r], calls, 0, 0, 0);
      if (r == c.lead) continue;
      members.add(heads[r], calls, 0, 0, 0);
      if (!std::binary_search(sampled.begin(), sampled.end(), static_cast<uint32_t>(r))) continue;
      const auto off = [&](RankFeature f) {
        return apart(mean(heads[r], f), mean(heads[c.lead], f));
      };
      sums.add(heads[r], calls, off(RankFeature::kComputation), off(RankFeature::kCommunication),
               off(RankFeature::kCount));
    }
  }
  return sums.of(data.metric, members, all);
}

std::vector<uint32_t> sample(const format::ClusterData& data, uint64_t ranks, uint64_t seed) {
  std::vector<uint32_t> members, out;
  std::vector<bool> is_lead(ranks, false);
  for (const format::Cluster& c : data.clusters) is_lead[c.lead] = true;
  for (uint32_t r = 0; r < ranks; ++r)
    if (!is_lead[r]) members.push_back(r);
  std::mt19937_64 random(seed);
  while (out.size() < kMostSampled && !members.empty()) {
    const size_t i = random() % members.size();
    out.push_back(members[i]);
    members[i] = members.back();
    members.pop_back();
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace refrain::analysis::clusters
