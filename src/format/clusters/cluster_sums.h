// What clusters say of all their members, added up member by member: on one machine, or along a
// tree of ranks, with the same result. And the error that follows from it.
//
// Sums are integers, so that their order does not matter. A node needs memory for its clusters and
// for the lists of members, which are short where ranks are regular.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "format/clusters/cluster_request.h"
#include "format/clusters/clusters.h"
#include "similarity/ranks/k_farthest.h"

namespace refrain::base {
class ByteReader;
class ByteWriter;
}  // namespace refrain::base

namespace refrain::format {

struct LossRecord;

// What a rank's numbers add up to.
struct RankLoad {
  uint64_t calls = 0;
  uint64_t bytes = 0;  // handed to MPI
  uint64_t in_mpi_ns = 0, outside_ns = 0;
};

// All that is told of a rank.
struct ClusterMember {
  similarity::RankHead head;
  uint64_t sequence = 0;  // structure without regard to which calls of the rank are equal
  RankLoad load;
};
static_assert(std::is_trivially_copyable_v<ClusterMember>);  // ranks send it as it is

// Times and elements of ranks: mean of a call times calls.
__extension__ using WideSum = unsigned __int128;  // stays at its greatest value
struct ClusterWeight {
  WideSum communication = 0, elements = 0;
  uint64_t calls = 0;
};

struct ClusterSum {
  Cluster cluster;
  ClusterWeight lead, others;  // the lead, and all other members
  // Of the other members: the least time of a call, computation and communication together, that
  // is not 0; UINT64_MAX: there is none. And whether some rank has none.
  uint64_t least_ns = UINT64_MAX;
  bool has_timeless = false;
};

// A cluster of no members yet.
ClusterSum cluster_of(const similarity::RankHead& lead);
// Members in the order of their ranks; the lead among them.
void add_member(ClusterSum& to, const similarity::RankHead& lead, const ClusterMember& member);
// The same of the cluster's later ranks.
void unite(ClusterSum& to, const ClusterSum& later);

void put_sum(base::ByteWriter& out, const ClusterSum& sum);
ClusterSum read_sum(base::ByteReader& in, uint64_t ranks);

// What the request says, and the clusters, in the order of their leads. With lead endpoints heads
// have RankHead::structure without regard to which calls are equal.
ClusterData cluster_data(const ClusterRequest& request, uint32_t features,
                         const std::vector<ClusterSum>& sums);

// From the radii alone.
//   replay    of the rank whose time from the first call to the last is off most
//   profile   of time in MPI and of elements in messages, over all ranks; the larger one
//   waits     of the time in MPI, over all ranks
double predicted_error(ClusterMetric metric, const std::vector<ClusterSum>& sums);

// The same of all ranks, from the sampled ones, which are in clusters of these leads, and are no
// leads themselves. Of a replay it is that of the worst of them.
double checked_error(ClusterMetric metric, const std::vector<ClusterSum>& sums,
                     const std::vector<similarity::RankHead>& leads,
                     const std::vector<ClusterMember>& sampled);

// Up to 16 of the ranks that are no leads, ascending; which ones follows from the seed.
std::vector<uint32_t> sampled_ranks(const std::vector<similarity::RankHead>& leads, uint64_t ranks,
                                    uint64_t seed);

// The least number of clusters, from `low` to `ranks`, that is enough: doubled until it is, then
// halved back; `ranks` where not even these are. Fails as `is_enough` does.
base::Result<uint64_t> least_clusters(uint64_t low, uint64_t ranks,
                                      const std::function<base::Result<bool>(uint64_t)>& is_enough);

// Ranks that another one stands for, and their calls: the loss of the trace.
struct StoodFor {
  uint64_t ranks = 0, calls = 0;
};
StoodFor stood_for(const std::vector<ClusterSum>& sums, const std::vector<ClusterMember>& sampled);
LossRecord stood_for_loss(const StoodFor& stood_for, uint64_t clusters, uint64_t ranks);

}  // namespace refrain::format
