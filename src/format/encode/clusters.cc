// Which ranks stand for which: the section `clusters`.
#include "format/clusters/clusters.h"

#include <bit>

#include "format/codes/run_codec.h"
#include "format/encode/section_writers.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

// A section that others do not share numbers with: those of a list stand behind its structure.
void put_list(const base::RunList& list, ByteWriter& out) {
  ByteWriter structure, numbers;
  write_runs(list, structure, numbers);
  out.put_string(structure.view());
  out.put_string(numbers.view());
}

uint8_t flags_of(const ClusterData& c) {
  return static_cast<uint8_t>(
      (c.has_two_steps ? kClusterTwoSteps : 0) | (c.is_euclidean ? kClusterEuclidean : 0) |
      (c.is_by_tree ? kClusterByTree : 0) | (c.has_lead_endpoints ? kClusterLeadEndpoints : 0) |
      (c.is_mixed ? kClusterMixed : 0) | (c.is_replayable ? kClusterReplayable : 0));
}

}  // namespace

void write_clusters(Encoding& in, ByteWriter& out) {
  const ClusterData& c = in.trace.clusters;
  if (c.empty()) return;
  out.put_u8(static_cast<uint8_t>(c.method));
  out.put_u8(static_cast<uint8_t>(c.choice));
  out.put_varint(c.k);
  out.put_u8(flags_of(c));
  out.put_string(c.why_not);
  out.put_varint(c.features);
  if (c.choice == ClusterChoice::kAuto) {
    out.put_u8(static_cast<uint8_t>(c.metric));
    for (const double e : {c.error_asked, c.error_predicted, c.error_checked})
      out.put_u64(std::bit_cast<uint64_t>(e));
  }
  put_list(c.sampled, out);
  out.put_varint(c.clusters.size());
  uint64_t before = 0;
  for (const Cluster& one : c.clusters) {
    out.put_varint(one.lead - before);
    before = one.lead;
    put_list(one.members, out);
    put_list(one.others, out);
    out.put_u64(one.structure);
    for (const uint64_t sum : {one.calls, one.bytes, one.in_mpi_ns, one.outside_ns})
      out.put_varint(sum);
    for (const uint64_t r : one.radius) out.put_varint(r);
  }
}

}  // namespace refrain::format
