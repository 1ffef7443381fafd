// Collectives, blocking and not, and of neighbourhoods.
#include <stddef.h>

#include "delays.h"

enum { kCount = 16, kMost = 16 * 64 };

static double out[kMost], in[kMost];
static MPI_Request request;

static void barrier(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
  }
}

static void bcast(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Bcast(out, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  }
}

static void scatter(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Scatter(out, kCount, MPI_DOUBLE, in, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  }
}

static void reduce(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Reduce(out, in, kCount, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
  }
}

static void gather(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Gather(out, kCount, MPI_DOUBLE, in, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  }
}

static void allreduce(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Allreduce(out, in, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  }
}

static void allgather(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Allgather(out, kCount, MPI_DOUBLE, in, kCount, MPI_DOUBLE, MPI_COMM_WORLD));
  }
}

static void alltoall(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Alltoall(out, kCount, MPI_DOUBLE, in, kCount, MPI_DOUBLE, MPI_COMM_WORLD));
  }
}

static void reduce_scatter(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Reduce_scatter_block(out, in, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  }
}

static void scan(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Scan(out, in, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  }
}

// Nobody but rank 0 waits for the tree below it by any pattern; in the end all do.
static void bcast_barrier(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Bcast(out, kCount, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    CALL(MPI_Barrier(MPI_COMM_WORLD));
  }
}

static void iallreduce(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Iallreduce(out, in, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
}

static void ibarrier_test(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    int done = 0;
    WORK(i);
    CALL(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    while (!done) CALL(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    CALL(MPI_Allreduce(out, in, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  }
}

static void neighbours(void) {
  MPI_Comm ring;
  int periodic = 1;
  CALL(MPI_Cart_create(MPI_COMM_WORLD, 1, &run.size, &periodic, 0, &ring));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Neighbor_alltoall(out, kCount, MPI_DOUBLE, in, kCount, MPI_DOUBLE, ring));
  }
  CALL(MPI_Comm_free(&ring));
}

const struct pattern collectives[] = {{"barrier", barrier, 2},
                                      {"bcast", bcast, 0},
                                      {"scatter", scatter, 0},
                                      {"reduce", reduce, 2},
                                      {"gather", gather, 2},
                                      {"allreduce", allreduce, 2},
                                      {"allgather", allgather, 2},
                                      {"alltoall", alltoall, 2},
                                      {"reduce_scatter", reduce_scatter, 2},
                                      {"scan", scan, 1},
                                      {"bcast_barrier", bcast_barrier, 2},
                                      {"iallreduce", iallreduce, 2},
                                      {"ibarrier_test", ibarrier_test, 2},
                                      {"neighbours", neighbours, 2},
                                      {NULL, NULL, 0}};
