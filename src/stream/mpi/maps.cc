// Maps of refrain/coupling.h: what both sides can compute is computed, the rest is asked of the
// pivot.
#include <algorithm>
#include <cstdint>

#include "stream/mapping.h"
#include "stream/mpi/coupling.h"

namespace refrain::stream {
namespace {

// The two partitions of a map. Sources are the larger one's processes; of equal ones, those with
// the larger id.
struct Sides {
  const Partition *sources, *targets;
  bool is_source;
  int index;  // of the calling process in its partition
};

int sides_of(Coupling* job, int partition, Sides* sides) {
  if (job == nullptr)
    return fail(REFRAIN_EINVALID, "the coupling has not started: MPI_Init comes first");
  if (partition < 0 || static_cast<size_t>(partition) >= job->partitions.size() ||
      partition == job->own_partition)
    return fail(REFRAIN_EINVALID,
                "partition " + std::to_string(partition) + " is none of the others");
  const Partition& own = job->partitions[static_cast<size_t>(job->own_partition)];
  const Partition& other = job->partitions[static_cast<size_t>(partition)];
  sides->is_source = own.ranks.size() != other.ranks.size() ? own.ranks.size() > other.ranks.size()
                                                            : job->own_partition > partition;
  sides->sources = sides->is_source ? &own : &other;
  sides->targets = sides->is_source ? &other : &own;
  sides->index = static_cast<int>(std::lower_bound(own.ranks.begin(), own.ranks.end(), job->rank) -
                                  own.ranks.begin());
  return 0;
}

int add(const Sides& sides, const std::vector<int>& partners, refrain_map* map) {
  const Partition& other = sides.is_source ? *sides.targets : *sides.sources;
  std::vector<int> ranks;
  for (const int partner : partners) ranks.push_back(other.ranks[static_cast<size_t>(partner)]);
  const size_t before = map->ranks.size();
  add_partners(ranks, &map->ranks);
  return static_cast<int>(map->ranks.size() - before);
}

constexpr int kAsk = 1, kAnswer = 2;

// The pivot: takes a request of each source, chooses, and tells everybody their partners (-1 alone:
// the choice was bad).
int be_pivot(const Coupling& job, const Sides& sides, refrain_map_chooser choose, void* context,
             std::vector<int>* own) {
  const int sources = static_cast<int>(sides.sources->ranks.size());
  const int targets = static_cast<int>(sides.targets->ranks.size());
  std::vector<int> chosen(static_cast<size_t>(sources), -1);
  int bad = 0, error = MPI_SUCCESS;
  for (int i = 0; i < sources && error == MPI_SUCCESS; ++i) {
    int source = 0;
    error = PMPI_Recv(&source, 1, MPI_INT, sides.sources->ranks[static_cast<size_t>(i)], kAsk,
                      job.maps, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) break;
    const int target = choose(source, sources, targets, context);
    bad |= target < -1 || target >= targets;
    chosen[static_cast<size_t>(source)] = target;
  }
  const auto tell = [&](const Partition& side, bool is_source) {
    for (size_t i = 0; i < side.ranks.size() && error == MPI_SUCCESS; ++i) {
      std::vector<int> partners{-1};
      if (bad == 0) partners = partners_of(chosen, is_source, static_cast<int>(i));
      if (side.ranks[i] == job.rank)
        *own = partners;
      else
        error = PMPI_Send(partners.data(), static_cast<int>(partners.size()), MPI_INT,
                          side.ranks[i], kAnswer, job.maps);
    }
  };
  tell(*sides.sources, true);
  tell(*sides.targets, false);
  return error == MPI_SUCCESS ? 0 : fail_mpi(error, "the pivot of a map");
}

int ask_pivot(const Coupling& job, const Sides& sides, int pivot, std::vector<int>* own) {
  int error = MPI_SUCCESS;
  if (sides.is_source) error = PMPI_Send(&sides.index, 1, MPI_INT, pivot, kAsk, job.maps);
  own->resize(sides.is_source ? 1 : sides.sources->ranks.size());
  MPI_Status status;
  if (error == MPI_SUCCESS)
    error = PMPI_Recv(own->data(), static_cast<int>(own->size()), MPI_INT, pivot, kAnswer, job.maps,
                      &status);
  int count = 0;
  if (error == MPI_SUCCESS) error = PMPI_Get_count(&status, MPI_INT, &count);
  own->resize(static_cast<size_t>(std::max(count, 0)));
  return error == MPI_SUCCESS ? 0 : fail_mpi(error, "asking the pivot of a map");
}

}  // namespace
}  // namespace refrain::stream

using refrain::stream::coupling;
using refrain::stream::fail;

refrain_map* refrain_map_new() { return new refrain_map; }

void refrain_map_free(refrain_map* map) { delete map; }

void refrain_map_clear(refrain_map* map) { map->ranks.clear(); }

int refrain_map_partition(refrain_map* map, int partition, int policy, unsigned long long seed) {
  using namespace refrain::stream;
  Sides sides{};
  if (const int code = sides_of(coupling(), partition, &sides); code < 0) return code;
  if (policy < REFRAIN_MAP_ROUND_ROBIN || policy > REFRAIN_MAP_FIXED)
    return fail(REFRAIN_EINVALID, "no such policy of a map: " + std::to_string(policy));
  const std::vector<int> targets =
      targets_of(static_cast<MapPolicy>(policy), static_cast<int>(sides.sources->ranks.size()),
                 static_cast<int>(sides.targets->ranks.size()), seed);
  return add(sides, partners_of(targets, sides.is_source, sides.index), map);
}

int refrain_map_partition_by(refrain_map* map, int partition, refrain_map_chooser choose,
                             void* context) {
  using namespace refrain::stream;
  Sides sides{};
  if (const int code = sides_of(coupling(), partition, &sides); code < 0) return code;
  const Coupling& job = *coupling();
  const int pivot = sides.targets->ranks.front();
  if (pivot == job.rank && choose == nullptr)
    return fail(REFRAIN_EINVALID, "the pivot has no function that chooses");
  std::vector<int> partners;
  const int code = pivot == job.rank ? be_pivot(job, sides, choose, context, &partners)
                                     : ask_pivot(job, sides, pivot, &partners);
  if (code < 0) return code;
  if (partners == std::vector<int>{-1})
    return fail(REFRAIN_EINVALID, "the function of a map chose a process that is not there");
  return add(sides, partners, map);
}

int refrain_map_size(const refrain_map* map) { return static_cast<int>(map->ranks.size()); }

const int* refrain_map_ranks(const refrain_map* map) { return map->ranks.data(); }
