// Neighbourhood collectives on a Cartesian grid with open ends and on a distributed graph.
// MPICH 4.0.2 now and then hangs in the alltoallw ones on the graph: only the grid has those.
#include "calls.h"

static int rank, size;

static void all_of_them(MPI_Comm c, int in, int out, int grid) {
  int a[32], b[32], one[32], at[32];
  MPI_Aint byte_at[32];
  MPI_Datatype types[32];
  for (int i = 0; i < 32; ++i)
    a[i] = rank, one[i] = 1, at[i] = i, byte_at[i] = 4 * i, types[i] = MPI_INT;
  MPI_Request r[5];
  for (int round = 0; round < 2; ++round) {
    DO(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, c), "sendcount:i recvcount:i comm:C", 1,
       1, c);
    DO(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, one, at, MPI_INT, c),
       "sendcount:i recvcounts:V displs:V comm:C", 1, in, one, in, at, c);
    DO(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c), "sendcount:i recvcount:i comm:C", 1,
       1, c);
    DO(MPI_Neighbor_alltoallv(a, one, at, MPI_INT, b, one, at, MPI_INT, c),
       "sendcounts:V sdispls:V recvcounts:V rdispls:V comm:C", out, one, out, at, in, one, in, at,
       c);
    if (grid)
      DO(MPI_Neighbor_alltoallw(a, one, byte_at, types, b, one, byte_at, types, c),
         "sendcounts:V sdispls:L sendtypes:Y recvcounts:V rdispls:L recvtypes:Y comm:C", out, one,
         out, byte_at, out, types, in, one, in, byte_at, in, types, c);
    DO(MPI_Ineighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, c, &r[0]),
       "sendcount:i comm:C request:R+", 1, c, &r[0]);
    L_Wait(&r[0], MPI_STATUS_IGNORE);
    DO(MPI_Ineighbor_allgatherv(a, 1, MPI_INT, b, one, at, MPI_INT, c, &r[1]),
       "recvcounts:V comm:C request:R+", in, one, c, &r[1]);
    L_Wait(&r[1], MPI_STATUS_IGNORE);
    DO(MPI_Ineighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c, &r[2]),
       "sendcount:i comm:C request:R+", 1, c, &r[2]);
    L_Wait(&r[2], MPI_STATUS_IGNORE);
    DO(MPI_Ineighbor_alltoallv(a, one, at, MPI_INT, b, one, at, MPI_INT, c, &r[3]),
       "sendcounts:V recvcounts:V comm:C request:R+", out, one, in, one, c, &r[3]);
    L_Wait(&r[3], MPI_STATUS_IGNORE);
    if (!grid) continue;
    DO(MPI_Ineighbor_alltoallw(a, one, byte_at, types, b, one, byte_at, types, c, &r[4]),
       "sendcounts:V recvtypes:Y comm:C request:R+", out, one, in, types, c, &r[4]);
    L_Wait(&r[4], MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  MPI_Comm cart, graph;
  int dims[2] = {size, 1}, periods[2] = {0, 1};
  DO(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart),
     "comm_old:C ndims:i dims:V periods:V reorder:i comm_cart:C+", MPI_COMM_WORLD, 2, 2, dims, 2,
     periods, 0, cart, "@@cart");
  all_of_them(cart, 4, 4, 1);
  L_Comm_free(&cart);

  // Rank 0 hears from all others; all others hear from their left neighbour only.
  int sources[32], targets[32], in = 0, out = 0;
  if (rank == 0) {
    for (int i = 1; i < size; ++i) sources[in++] = i;
  } else {
    sources[in++] = rank - 1;
    targets[out++] = 0;
  }
  if (rank + 1 < size) targets[out++] = rank + 1;
  DO(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, targets,
                                    MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
     "comm_old:C indegree:i sources:k sourceweights:s outdegree:i destinations:k destweights:s "
     "info:N reorder:i "
     "comm_dist_graph:C+",
     MPI_COMM_WORLD, in, in, sources, "MPI_UNWEIGHTED", out, out, targets, "MPI_UNWEIGHTED",
     MPI_INFO_NULL, 0, graph, "@@graph");
  all_of_them(graph, in, out, 0);
  L_Comm_free(&graph);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
