// Virtual topologies: Cartesian grids, graphs and distributed graphs, and what they answer.
#include "calls.h"

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  MPI_Comm cart, line, graph, dist;
  int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], from, to, status, n;
  MPI_Dims_create(size, 2, dims);
  const int zero[2] = {0, 0};
  DID("MPI_Dims_create", "nnodes:i ndims:i dims:V dims_in:V", size, 2, 2, dims, 2, zero);
  DO(MPI_Cart_create(W, 2, dims, periods, 0, &cart),
     "comm_old:C ndims:i dims:V periods:V reorder:i comm_cart:C+", W, 2, 2, dims, 2, periods, 0,
     cart, "@@cart");
  DO(MPI_Topo_test(cart, &status), "comm:C status:s", cart, "MPI_CART");
  DO(MPI_Cartdim_get(cart, &n), "comm:C ndims:i", cart, 2);
  DO(MPI_Cart_coords(cart, rank, 2, coords), "comm:C rank:i maxdims:i coords:V", cart, rank, 2, 2,
     coords);
  DO(MPI_Cart_rank(cart, coords, &n), "comm:C coords:V rank:i", cart, 2, coords, rank);
  int got_dims[2], got_periods[2];
  DO(MPI_Cart_get(cart, 2, got_dims, got_periods, coords),
     "comm:C maxdims:i dims:V periods:V coords:V", cart, 2, 2, dims, 2, periods, 2, coords);
  for (int d = 0; d < 2; ++d) {
    DO(MPI_Cart_shift(cart, d, 1, &from, &to),
       "comm:C direction:i disp:i rank_source:r rank_dest:r", cart, d, 1, from, to);
    int in = -1;
    DO(MPI_Sendrecv(&rank, 1, MPI_INT, to, d, &in, 1, MPI_INT, from, d, cart, MPI_STATUS_IGNORE),
       "dest:r source:r comm:C", to, from, cart);
    EXPECT(from == MPI_PROC_NULL || in == from);
  }
  const int keep[2] = {1, 0};
  char alias[32];
  snprintf(alias, sizeof alias, "@@line%d", coords[1]);
  DO(MPI_Cart_sub(cart, keep, &line), "comm:C remain_dims:V newcomm:C+", cart, 2, keep, line,
     alias);
  L_Barrier(line);
  L_Comm_free(&line);
  L_Comm_free(&cart);

  // A ring as a graph: every rank gives the whole of it.
  int index[16], edges[32], k = 0;
  for (int i = 0; i < size; ++i) {
    edges[k++] = (i + 1) % size, edges[k++] = (i + size - 1) % size;
    index[i] = k;
  }
  DO(MPI_Graph_create(W, size, index, edges, 0, &graph),
     "comm_old:C nnodes:i index:V edges:k reorder:i comm_graph:C+", W, size, size, index, k, edges,
     0, graph, "@@graph");
  int neighbours[2], nodes, nedges;
  DO(MPI_Graphdims_get(graph, &nodes, &nedges), "comm:C nnodes:i nedges:i", graph, size, 2 * size);
  DO(MPI_Graph_neighbors_count(graph, rank, &n), "comm:C rank:i nneighbors:i", graph, rank, 2);
  DO(MPI_Graph_neighbors(graph, rank, 2, neighbours), "comm:C rank:i maxneighbors:i neighbors:k",
     graph, rank, 2, 2, neighbours);
  EXPECT(neighbours[0] == (rank + 1) % size);
  L_Comm_free(&graph);

  int sources[1] = {rank}, degrees[1] = {1}, targets[1] = {(rank + 1) % size},
      weights[1] = {rank + 10};
  DO(MPI_Dist_graph_create(W, 1, sources, degrees, targets, weights, MPI_INFO_NULL, 0, &dist),
     "comm_old:C n:i sources:k degrees:V destinations:k weights:V info:N reorder:i "
     "comm_dist_graph:C+",
     W, 1, 1, sources, 1, degrees, 1, targets, 1, weights, MPI_INFO_NULL, 0, dist, "@@dist");
  int in, out, weighted, got_in[1], got_out[1], in_weight[1], out_weight[1];
  DO(MPI_Dist_graph_neighbors_count(dist, &in, &out, &weighted),
     "comm:C indegree:i outdegree:i weighted:i", dist, 1, 1, 1);
  DO(MPI_Dist_graph_neighbors(dist, 1, got_in, in_weight, 1, got_out, out_weight),
     "comm:C maxindegree:i sources:k sourceweights:V maxoutdegree:i destinations:k destweights:V",
     dist, 1, 1, got_in, 1, in_weight, 1, 1, got_out, 1, out_weight);
  EXPECT(got_out[0] == (rank + 1) % size && out_weight[0] == rank + 10);
  DO(MPI_Dist_graph_neighbors(dist, 1, got_in, MPI_UNWEIGHTED, 1, got_out, MPI_UNWEIGHTED),
     "comm:C maxindegree:i sources:k sourceweights:s maxoutdegree:i destinations:k destweights:s",
     dist, 1, 1, got_in, "MPI_UNWEIGHTED", 1, 1, got_out, "MPI_UNWEIGHTED");
  L_Comm_free(&dist);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
