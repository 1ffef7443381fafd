#include "analysis/clusters/mesh_names.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "reader/test_trace.h"

namespace refrain::analysis::clusters {
namespace {

// Clusters of a ring: some of them are places of a mesh of 4 x 3, which nobody made.
TEST(MeshNames, AMeshThatNobodyMadeHasAllClusters) {
  reader::TraceBuilder b(12);
  const uint32_t world = b.world();
  std::vector<int64_t> ranks(12);
  std::iota(ranks.begin(), ranks.end(), 0);
  b.group(ranks, {b.signature(reader::ShapeWriter("MPI_Barrier").none().object(world))});
  const Trace trace = b.open();
  std::vector<format::Cluster> clusters;
  for (const std::vector<int64_t>& members :
       std::vector<std::vector<int64_t>>{{0}, {1}, {2, 5, 11}, {3, 6}, {4, 7, 10}, {8}, {9}}) {
    format::Cluster& c = clusters.emplace_back();
    c.lead = static_cast<uint64_t>(members.front());
    for (const int64_t r : members) c.members.append(r);
  }
  EXPECT_EQ(mesh_of(trace, clusters), std::vector<uint64_t>());
}

}  // namespace
}  // namespace refrain::analysis::clusters
