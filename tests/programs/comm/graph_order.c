// A distributed graph whose neighbours come in the order in which MPI heard of them, another one in
// each run, and counts of a neighbourhood collective in that order. A second and a third graph have
// the first one's name.
#include <unistd.h>

#include "calls.h"

static void graph_of(int rank, int size, int step) {
  const MPI_Comm W = MPI_COMM_WORLD;
  MPI_Comm graph, row;
  // Each rank names the edges of the one before, to itself and to the next one; later to others.
  int sources[1] = {(rank + size - 1) % size}, degrees[1] = {2},
      targets[2] = {(rank + step) % size, (rank + step + 1) % size}, weights[2] = {1, 3};
  usleep((useconds_t)(getpid() % 5) * 700);
  DO(MPI_Dist_graph_create(W, 1, sources, degrees, targets, weights, MPI_INFO_NULL, 0, &graph),
     "comm_old:C n:i sources:k degrees:V destinations:k weights:V info:N reorder:i "
     "comm_dist_graph:C+",
     W, 1, 1, sources, 1, degrees, 2, targets, 2, weights, MPI_INFO_NULL, 0, graph, "@@graph");
  int from[2], to[2], from_weights[2], to_weights[2];
  DO(MPI_Dist_graph_neighbors(graph, 2, from, from_weights, 2, to, to_weights),
     "comm:C maxindegree:i sources:k sourceweights:V maxoutdegree:i destinations:k destweights:V",
     graph, 2, 2, from, 2, from_weights, 2, 2, to, 2, to_weights);
  // As many elements as the sender's weight says.
  int out[6] = {0}, in[6] = {0}, displs[2] = {0, 3};
  DO(MPI_Neighbor_alltoallv(out, to_weights, displs, MPI_INT, in, from_weights, displs, MPI_INT,
                            graph),
     "sendcounts:V sdispls:V recvcounts:V rdispls:V comm:C", 2, to_weights, 2, displs, 2,
     from_weights, 2, displs, graph);
  // What is made next must be known for itself.
  DO(MPI_Comm_split(W, rank % 2, 0, &row), "comm:C color:i newcomm:C+", W, rank % 2, row, "@@row");
  int sum = 0;
  DO(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row), "count:i comm:C", 1, row);
  L_Comm_free(&row);
  L_Comm_free(&graph);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  for (int step = 0; step < 3; ++step) graph_of(rank, size, step);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
