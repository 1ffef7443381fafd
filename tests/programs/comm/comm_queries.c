// What can be asked of communicators and topologies, and some ways to make them: hints, error
// handlers, places in a grid or graph, both sides of an inter-communicator.
#include "calls.h"

static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI

static void hints(void) {
  MPI_Info info, used, old;
  MPI_Errhandler handler;
  DO(MPI_Info_create(&info), "info:N+", info);
  DO(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"), "info:N key:s value:s", info,
     "mpi_assert_no_any_tag", "false");
  DO(MPI_Comm_set_info(W, info), "comm:C info:N", W, info);
  DO(MPI_Comm_get_info(W, &used), "comm:C info_used:N+", W, used);
  old = used;
  DO(MPI_Info_free(&used), "info:N-", old);
#if MPI_VERSION >= 4
  MPI_Comm twin;
  MPI_Request r;
  MPI_Comm_idup_with_info(W, info, &twin, &r);
  // The handle is not to be looked at before the request is complete, but its name is.
  DID("MPI_Comm_idup_with_info", "comm:C info:N request:R+", W, info, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  L_Barrier(twin);
  L_Comm_free(&twin);
#endif
  old = info;
  DO(MPI_Info_free(&info), "info:N-", old);
  DO(MPI_Comm_get_errhandler(W, &handler), "comm:C errhandler:E", W, MPI_ERRORS_ARE_FATAL);
  EXPECT(handler == MPI_ERRORS_ARE_FATAL);
  DO(MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN), "comm:C errhandler:E", W, MPI_ERRORS_RETURN);
  DO(MPI_Comm_get_errhandler(W, &handler), "comm:C errhandler:E", W, MPI_ERRORS_RETURN);
  EXPECT(handler == MPI_ERRORS_RETURN);
}

static void places(void) {
  const int dims[1] = {size}, periods[1] = {0};
  int place = -2;
  DO(MPI_Cart_map(W, 1, dims, periods, &place), "comm:C ndims:i dims:V periods:V newrank:r", W, 1,
     1, dims, 1, periods, place);
  EXPECT(place >= 0 && place < size);
  // A line: the ends have one neighbour, the others two.
  int index[64], edges[128], n = 0;
  for (int i = 0; i < size; ++i) {
    if (i > 0) edges[n++] = i - 1;
    if (i + 1 < size) edges[n++] = i + 1;
    index[i] = n;
  }
  DO(MPI_Graph_map(W, size, index, edges, &place), "comm:C nnodes:i index:V edges:k newrank:r", W,
     size, size, index, n, edges, place);
  MPI_Comm graph;
  DO(MPI_Graph_create(W, size, index, edges, 0, &graph),
     "comm_old:C nnodes:i index:V edges:k reorder:i comm_graph:C+", W, size, size, index, n, edges,
     0, graph, "@@graph");
  int got_index[64], got_edges[128];
  DO(MPI_Graph_get(graph, 64, 128, got_index, got_edges),
     "comm:C maxindex:i maxedges:i index:V edges:k", graph, 64, 128, size, index, n, edges);
  EXPECT(got_index[size - 1] == n && got_edges[0] == 1);
  L_Comm_free(&graph);
}

static void both_sides(void) {
  const int side = rank % 2, mine = (size + 1 - side) / 2, theirs = size - mine;
  MPI_Comm half, inter;
  MPI_Group others;
  int n = 0;
  DO(MPI_Comm_split(W, side, rank, &half), "comm:C color:i key:i newcomm:C+", W, side, rank, half,
     side == 0 ? "@@even" : "@@odd");
  DO(MPI_Intercomm_create(half, 0, W, 1 - side, 9, &inter),
     "local_comm:C local_leader:r peer_comm:C remote_leader:r tag:t newintercomm:C+", half, 0, W,
     1 - side, 9, inter, "@@inter");
  DO(MPI_Comm_remote_group(inter, &others), "comm:C group:G+", inter, others);
  DO(MPI_Group_size(others, &n), "group:G size:i", others, theirs);
  EXPECT(n == theirs);
#if MPI_VERSION >= 4
  MPI_Group own;
  MPI_Comm again;
  DO(MPI_Comm_group(half, &own), "comm:C group:G+", half, own);
  DO(MPI_Intercomm_create_from_groups(own, 0, others, 0, "refrain.test", MPI_INFO_NULL,
                                      MPI_ERRORS_RETURN, &again),
     "local_group:G local_leader:r remote_group:G remote_leader:r stringtag:s info:N errhandler:E "
     "newintercomm:C+",
     own, 0, others, 0, "refrain.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, again, "@@again");
  L_Barrier(again);
  L_Comm_free(&again);
  L_Group_free(&own);
#endif
  L_Group_free(&others);
  L_Comm_free(&inter);
  L_Comm_free(&half);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  hints();
  places();
  both_sides();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
