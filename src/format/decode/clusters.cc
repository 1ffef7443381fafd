// Which ranks stand for which: the section `clusters`.
#include "format/clusters/clusters.h"

#include <bit>
#include <string>

#include "base/bytes.h"
#include "format/codes/run_codec.h"
#include "format/decode/section_readers.h"
#include "format/layout.h"
#include "format/limits.h"

namespace refrain::format {

namespace {

base::RunList read_list(FieldReader& in, const char* label, int64_t index, uint64_t ranks,
                        uint64_t& budget) {
  const size_t begin = in.position();
  base::ByteReader structure(in.bytes().string()), numbers(in.bytes().string());
  // A list is two strings, its structure and its numbers (run_codec.h). Both must be used up: what
  // is left over would be a second reading of the same bytes.
  if (!in.ok() || !in.bytes().ok()) {
    in.fail(kRuleFields, begin, std::string(label) + " are cut short");
    return {};
  }
  base::RunList list = read_runs(structure, numbers, ranks, budget);
  if (!structure.ok() || !numbers.ok() || !structure.at_end() || !numbers.at_end()) {
    in.fail(kRuleFields, begin, std::string(label) + " are malformed");
    return {};
  }
  in.done(begin, label, index, std::to_string(list.size()) + " ranks");
  return list;
}

template <class Enum>
Enum one_of(FieldReader& in, const char* label, uint8_t count) {
  const size_t begin = in.position();
  const uint8_t v = in.u8(label);
  if (in.ok() && v >= count) in.fail(kRuleFields, begin, std::string("unknown ") + label);
  return static_cast<Enum>(in.ok() ? v : 0);
}

void read_flags(FieldReader& in, ClusterData& c) {
  const size_t begin = in.position();
  const uint8_t flags = in.u8("flags of clusters");
  if (in.ok() && (flags & ~kClusterFlags) != 0)
    return in.fail(kRuleFields, begin, "unknown flags of clusters");
  c.has_two_steps = (flags & kClusterTwoSteps) != 0;
  c.is_euclidean = (flags & kClusterEuclidean) != 0;
  c.is_by_tree = (flags & kClusterByTree) != 0;
  c.has_lead_endpoints = (flags & kClusterLeadEndpoints) != 0;
  c.is_mixed = (flags & kClusterMixed) != 0;
  c.is_replayable = (flags & kClusterReplayable) != 0;
}

}  // namespace

void read_clusters(FieldReader& in, Decoding& out) {
  ClusterData& c = out.trace.clusters;
  const uint64_t ranks = out.trace.meta.ranks;
  if (in.remaining() == 0) return;  // the same as no section
  c.method = one_of<ClusterMethod>(in, "method of clusters", kClusterMethods);
  c.choice = one_of<ClusterChoice>(in, "choice of the number of clusters", kClusterChoices);
  c.k = in.varint("clusters asked for");
  read_flags(in, c);
  // Texts and numbers are checked for what they mean together by cluster_rules.h, after all
  // sections are there.
  c.why_not = std::string(in.string("why not to be replayed", kMaxTextBytes));
  c.features = static_cast<uint32_t>(
      in.varint("features that differ", -1, (1u << similarity::kRankFeatures) - 1));
  if (c.choice == ClusterChoice::kAuto) {
    c.metric = one_of<ClusterMetric>(in, "metric of the error", kClusterMetrics);
    c.error_asked = std::bit_cast<double>(in.u64("error asked for"));
    c.error_predicted = std::bit_cast<double>(in.u64("error predicted"));
    c.error_checked = std::bit_cast<double>(in.u64("error checked"));
  }
  uint64_t budget = kMaxRepeatedRunsPerSection;
  c.sampled = read_list(in, "sampled ranks", -1, ranks, budget);
  const uint64_t count = in.count("clusters", kMaxRanks);
  // All clusters together have each rank once.
  uint64_t left = ranks, lead = 0;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto n = static_cast<int64_t>(i);
    Cluster one;
    // Leads ascend, so differences are stored; a sum beyond the ranks is found by the rules.
    lead += in.varint("lead of cluster", n, kMaxRanks);
    one.lead = lead;
    one.members = read_list(in, "members of cluster", n, left, budget);
    // The lists of a damaged file could have each rank in every cluster: with what is left as their
    // limit, all of them take no more memory than the ranks do.
    left -= one.members.size();
    one.others =
        read_list(in, "members of other structure in cluster", n, one.members.size(), budget);
    one.structure = in.u64("structure of cluster", n);
    one.calls = in.varint("calls of cluster", n);
    one.bytes = in.varint("bytes of cluster", n);
    one.in_mpi_ns = in.varint("time in MPI of cluster", n);
    one.outside_ns = in.varint("time outside of cluster", n);
    for (uint64_t& r : one.radius) r = in.varint("radius of cluster", n);
    c.clusters.push_back(std::move(one));
  }
}

}  // namespace refrain::format
