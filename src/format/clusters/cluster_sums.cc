#include "format/clusters/cluster_sums.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/bytes.h"
#include "format/trace_data.h"

namespace refrain::format {

namespace {

using similarity::RankFeature;
using similarity::RankHead;
using similarity::RankSignature;

constexpr size_t kMostSampled = 16;

void add(uint64_t& to, uint64_t v) {
  if (__builtin_add_overflow(to, v, &to)) to = UINT64_MAX;
}

void add(WideSum& to, WideSum v) {
  if (__builtin_add_overflow(to, v, &to)) to = ~WideSum{0};
}

void add(ClusterWeight& to, const ClusterWeight& w) {
  add(to.communication, w.communication);
  add(to.elements, w.elements);
  add(to.calls, w.calls);
}

uint64_t mean(const RankHead& head, RankFeature f) {
  const int64_t v = head.signature.means[similarity::mean_of(f)];
  return v > 0 ? static_cast<uint64_t>(v) : 0;
}

ClusterWeight weight_of(const RankHead& head, uint64_t calls) {
  return {WideSum{mean(head, RankFeature::kCommunication)} * calls,
          WideSum{mean(head, RankFeature::kCount)} * calls, calls};
}

// What is farthest away of each feature.
void widen(ClusterRadius& radius, const RankSignature& lead, const RankSignature& member) {
  const auto widen_to = [&](RankFeature f, uint64_t v) {
    uint64_t& r = radius[static_cast<size_t>(f)];
    r = std::max(r, v);
  };
  widen_to(RankFeature::kCallPath, lead.call_path != member.call_path ? 1 : 0);
  for (size_t m = 0; m < similarity::kRankMeans; ++m) {
    const int64_t a = lead.means[m], b = member.means[m];
    widen_to(similarity::mean_feature(m),
             a < b ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
                   : static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
  for (size_t level = 0; level < 4; ++level) {
    const auto a = static_cast<uint16_t>(lead.loop >> (16 * level)),
               b = static_cast<uint16_t>(member.loop >> (16 * level));
    widen_to(RankFeature::kLoop, static_cast<uint64_t>(a < b ? b - a : a - b));
  }
  uint64_t bits = 0;
  for (size_t w = 0; w < lead.types.size(); ++w)
    bits += static_cast<uint64_t>(__builtin_popcountll(lead.types[w] ^ member.types[w]));
  widen_to(RankFeature::kTypes, bits);
}

uint64_t radius(const ClusterSum& s, RankFeature f) {
  return s.cluster.radius[static_cast<size_t>(f)];
}

double share(WideSum part, WideSum whole) {
  if (part == 0 || whole == 0) return part == 0 ? 0 : 1;
  return static_cast<double>(part) / static_cast<double>(whole);
}

// How far ranks are off, and how much there is of these.
struct Off {
  double worst = 0;
  ClusterWeight off, of;

  // `members`, `all`: where these are a sample, how much there is of the members that they stand
  // for, and of all ranks.
  double error(ClusterMetric metric, const ClusterWeight& members, const ClusterWeight& all) const {
    const double in_mpi = share(off.communication, of.communication) *
                          share(members.communication, all.communication),
                 elements =
                     share(off.elements, of.elements) * share(members.elements, all.elements);
    switch (metric) {
      case ClusterMetric::kReplay: return worst;
      case ClusterMetric::kProfile: return std::max(in_mpi, elements);
      case ClusterMetric::kWaits: return in_mpi;
    }
    return 0;
  }
};

void put_wide(base::ByteWriter& out, WideSum v) {
  out.put_u64(static_cast<uint64_t>(v));
  out.put_u64(static_cast<uint64_t>(v >> 64));
}

WideSum read_wide(base::ByteReader& in) {
  const WideSum low = in.u64();
  return low | WideSum{in.u64()} << 64;
}

void put_weight(base::ByteWriter& out, const ClusterWeight& w) {
  put_wide(out, w.communication);
  put_wide(out, w.elements);
  out.put_u64(w.calls);
}

ClusterWeight read_weight(base::ByteReader& in) {
  ClusterWeight w;
  w.communication = read_wide(in);
  w.elements = read_wide(in);
  w.calls = in.u64();
  return w;
}

}  // namespace

ClusterSum cluster_of(const RankHead& lead) {
  ClusterSum out;
  out.cluster.lead = lead.rank;
  out.cluster.structure = lead.structure;
  return out;
}

void add_member(ClusterSum& to, const RankHead& lead, const ClusterMember& member) {
  Cluster& c = to.cluster;
  c.members.append(member.head.rank);
  if (member.head.structure != lead.structure) c.others.append(member.head.rank);
  widen(c.radius, lead.signature, member.head.signature);
  add(c.calls, member.load.calls);
  add(c.bytes, member.load.bytes);
  add(c.in_mpi_ns, member.load.in_mpi_ns);
  add(c.outside_ns, member.load.outside_ns);
  const bool is_lead = member.head.rank == lead.rank;
  add(is_lead ? to.lead : to.others, weight_of(member.head, member.load.calls));
  if (is_lead) return;
  uint64_t ns = mean(member.head, RankFeature::kComputation);
  add(ns, mean(member.head, RankFeature::kCommunication));
  to.has_timeless = to.has_timeless || ns == 0;
  if (ns > 0) to.least_ns = std::min(to.least_ns, ns);
}

void unite(ClusterSum& to, const ClusterSum& later) {
  Cluster& c = to.cluster;
  c.members.append_all(later.cluster.members);
  c.others.append_all(later.cluster.others);
  for (size_t f = 0; f < c.radius.size(); ++f)
    c.radius[f] = std::max(c.radius[f], later.cluster.radius[f]);
  add(c.calls, later.cluster.calls);
  add(c.bytes, later.cluster.bytes);
  add(c.in_mpi_ns, later.cluster.in_mpi_ns);
  add(c.outside_ns, later.cluster.outside_ns);
  add(to.lead, later.lead);
  add(to.others, later.others);
  to.least_ns = std::min(to.least_ns, later.least_ns);
  to.has_timeless = to.has_timeless || later.has_timeless;
}

void put_sum(base::ByteWriter& out, const ClusterSum& sum) {
  const Cluster& c = sum.cluster;
  out.put_u64(c.lead);
  out.put_u64(c.structure);
  c.members.write(out);
  c.others.write(out);
  for (const uint64_t v : {c.calls, c.bytes, c.in_mpi_ns, c.outside_ns, sum.least_ns})
    out.put_varint(v);
  for (const uint64_t r : c.radius) out.put_varint(r);
  put_weight(out, sum.lead);
  put_weight(out, sum.others);
  out.put_u8(sum.has_timeless ? 1 : 0);
}

ClusterSum read_sum(base::ByteReader& in, uint64_t ranks) {
  ClusterSum out;
  Cluster& c = out.cluster;
  c.lead = in.u64();
  c.structure = in.u64();
  c.members = base::RunList::read(in, ranks);
  c.others = base::RunList::read(in, ranks);
  for (uint64_t* v : {&c.calls, &c.bytes, &c.in_mpi_ns, &c.outside_ns, &out.least_ns})
    *v = in.varint();
  for (uint64_t& r : c.radius) r = in.varint();
  out.lead = read_weight(in);
  out.others = read_weight(in);
  out.has_timeless = in.u8() != 0;
  return out;
}

ClusterData cluster_data(const ClusterRequest& request, uint32_t features,
                         const std::vector<ClusterSum>& sums) {
  ClusterData data;
  data.method = request.method;
  data.choice = request.choice;
  data.k = request.choice == ClusterChoice::kNumber ? request.k : 0;
  data.has_two_steps = request.has_two_steps;
  data.is_euclidean = request.is_euclidean;
  data.is_by_tree = request.is_by_tree;
  data.has_lead_endpoints = request.has_lead_endpoints;
  data.is_mixed = request.mixes_structures;
  data.features = features;
  data.metric = request.metric;
  uint64_t mixed = 0;
  for (const ClusterSum& s : sums) {
    data.clusters.push_back(s.cluster);
    mixed += s.cluster.others.size();
  }
  if (mixed > 0) {
    data.is_replayable = false;
    data.why_not = std::to_string(mixed) + (mixed == 1 ? " rank makes" : " ranks make") +
                   " other calls than the rank that stands for it (--mix)";
  }
  return data;
}

double predicted_error(ClusterMetric metric, const std::vector<ClusterSum>& sums) {
  Off off;
  for (const ClusterSum& s : sums) {
    add(off.of, s.lead);
    add(off.of, s.others);
    const uint64_t communication = radius(s, RankFeature::kCommunication);
    add(off.off.communication, WideSum{communication} * s.others.calls);
    add(off.off.elements, WideSum{radius(s, RankFeature::kCount)} * s.others.calls);
    uint64_t ns = radius(s, RankFeature::kComputation);
    add(ns, communication);
    if (s.least_ns != UINT64_MAX) off.worst = std::max(off.worst, share(WideSum{ns}, s.least_ns));
    if (s.has_timeless && ns > 0) off.worst = std::max(off.worst, 1.0);
  }
  return off.error(metric, off.of, off.of);
}

double checked_error(ClusterMetric metric, const std::vector<ClusterSum>& sums,
                     const std::vector<RankHead>& leads,
                     const std::vector<ClusterMember>& sampled) {
  Off off;
  ClusterWeight members, all;
  for (const ClusterSum& s : sums) {
    add(all, s.lead);
    add(all, s.others);
    add(members, s.others);
  }
  for (const ClusterMember& m : sampled) {
    const auto in = std::find_if(sums.begin(), sums.end(), [&](const ClusterSum& s) {
      return s.cluster.members.find(m.head.rank) >= 0;
    });
    if (in == sums.end()) continue;
    const RankHead& lead = leads[static_cast<size_t>(in - sums.begin())];
    const auto apart = [&](RankFeature f) {
      const uint64_t a = mean(lead, f), b = mean(m.head, f);
      return a > b ? a - b : b - a;
    };
    const uint64_t calls = m.load.calls;
    add(off.of, weight_of(m.head, calls));
    add(off.off.communication, WideSum{apart(RankFeature::kCommunication)} * calls);
    add(off.off.elements, WideSum{apart(RankFeature::kCount)} * calls);
    uint64_t ns = apart(RankFeature::kComputation), of = mean(m.head, RankFeature::kComputation);
    add(ns, apart(RankFeature::kCommunication));
    add(of, mean(m.head, RankFeature::kCommunication));
    off.worst = std::max(off.worst, share(WideSum{ns}, of));
  }
  return off.error(metric, members, all);
}

std::vector<uint32_t> sampled_ranks(const std::vector<RankHead>& leads, uint64_t ranks,
                                    uint64_t seed) {
  std::vector<uint32_t> members, out;
  std::vector<bool> is_lead(ranks, false);
  for (const RankHead& lead : leads) is_lead[lead.rank] = true;
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

base::Result<uint64_t> least_clusters(
    uint64_t low, uint64_t ranks, const std::function<base::Result<bool>(uint64_t)>& is_enough) {
  uint64_t high = low, step = 1;
  --low;
  bool is_found = false;
  while (true) {
    const auto good = is_enough(high);
    if (!good.ok()) return good.error();
    is_found = *good;
    if (is_found || high >= ranks) break;
    low = high;
    step *= 2;
    high = std::min(ranks, high + step);
  }
  while (is_found && high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    const auto good = is_enough(middle);
    if (!good.ok()) return good.error();
    (*good ? high : low) = middle;
  }
  return high;
}

StoodFor stood_for(const std::vector<ClusterSum>& sums, const std::vector<ClusterMember>& sampled) {
  StoodFor out;
  for (const ClusterSum& s : sums) {
    out.ranks += s.cluster.members.size() - (s.cluster.members.empty() ? 0 : 1);
    add(out.calls, s.others.calls);
  }
  for (const ClusterMember& m : sampled) {
    --out.ranks;
    out.calls -= std::min(out.calls, m.load.calls);
  }
  return out;
}

LossRecord stood_for_loss(const StoodFor& stood_for, uint64_t clusters, uint64_t ranks) {
  return {std::string(kStoodForLoss), stood_for.calls, -1,
          std::to_string(stood_for.ranks) + " of " + std::to_string(ranks) + " ranks by " +
              std::to_string(clusters)};
}

}  // namespace refrain::format
