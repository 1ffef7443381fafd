#include "mpi_runtime/comm_facts.h"

#include <mpi.h>

#include "mpi_runtime/handle_map.h"
#include "mpi_runtime/world_group.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {

namespace {

base::RunList world_ranks(MPI_Group world_group, MPI_Group group) {
  base::RunList list;
  int n = 0;
  if (REFRAIN_REAL(PMPI_Group_size)(group, &n) != MPI_SUCCESS) return list;
  std::vector<int> mine(n), world(n, MPI_UNDEFINED);
  for (int i = 0; i < n; ++i) mine[i] = i;
  if (world_group != MPI_GROUP_NULL && n > 0) REFRAIN_REAL(PMPI_Group_translate_ranks)
  (group, n, mine.data(), world_group, world.data());
  for (int i = 0; i < n; ++i) list.append(world[i] == MPI_UNDEFINED ? -1 : world[i]);
  return list;
}

}  // namespace

CommFacts facts_of(uint64_t key, const WorldGroup& world) {
  const auto comm = handle_of<MPI_Comm>(key);
  CommFacts info;
  int inter = 0;
  REFRAIN_REAL(PMPI_Comm_test_inter)(comm, &inter);
  info.inter = inter != 0;
  REFRAIN_REAL(PMPI_Comm_rank)(comm, &info.rank);
  REFRAIN_REAL(PMPI_Comm_size)(comm, &info.size);
  MPI_Group group = MPI_GROUP_NULL;
  REFRAIN_REAL(PMPI_Comm_group)(comm, &group);
  info.local = world_ranks(world.group, group);
  REFRAIN_REAL(PMPI_Group_free)(&group);
  if (!info.inter) return info;
  REFRAIN_REAL(PMPI_Comm_remote_size)(comm, &info.remote_size);
  REFRAIN_REAL(PMPI_Comm_remote_group)(comm, &group);
  info.remote = world_ranks(world.group, group);
  REFRAIN_REAL(PMPI_Group_free)(&group);
  return info;
}

std::string name_of_comm(uint64_t comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  REFRAIN_REAL(PMPI_Comm_get_name)(handle_of<MPI_Comm>(comm), name, &length);
  return {name, static_cast<size_t>(length)};
}

CommDegrees degrees_of(uint64_t key, int rank) {
  const auto comm = handle_of<MPI_Comm>(key);
  CommDegrees d;
  int topology = MPI_UNDEFINED;
  REFRAIN_REAL(PMPI_Topo_test)(comm, &topology);
  if (topology == MPI_CART) {
    int dimensions = 0;
    REFRAIN_REAL(PMPI_Cartdim_get)(comm, &dimensions);
    d.in = d.out = 2 * dimensions;
  } else if (topology == MPI_GRAPH) {
    REFRAIN_REAL(PMPI_Graph_neighbors_count)(comm, rank, &d.in);
    d.out = d.in;
  } else if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    REFRAIN_REAL(PMPI_Dist_graph_neighbors_count)(comm, &d.in, &d.out, &weighted);
  }
  return d;
}

int64_t dimensions_of(uint64_t comm) {
  int dimensions = 0;
  REFRAIN_REAL(PMPI_Cartdim_get)(handle_of<MPI_Comm>(comm), &dimensions);
  return dimensions;
}

int rank_now(uint64_t comm, int otherwise) {
  int rank = otherwise;
  REFRAIN_REAL(PMPI_Comm_rank)(handle_of<MPI_Comm>(comm), &rank);
  return rank;
}

std::vector<int> gather_from_all(uint64_t comm, int mine, int size) {
  std::vector<int> of_each(static_cast<size_t>(size));
  REFRAIN_REAL(PMPI_Allgather)
  (&mine, 1, MPI_INT, of_each.data(), 1, MPI_INT, handle_of<MPI_Comm>(comm));
  return of_each;
}

}  // namespace refrain::mpi_runtime
