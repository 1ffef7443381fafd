/* One collective or one pattern of messages, for tests/sim/smpi.py.
 *
 *   truth NAME BYTES REPEATS
 *
 * NAME: barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter;
 * shift:N, transpose, bit_reversal; beside_own: a message to the next rank, and two to the rank
 * itself. BYTES: of the whole message of a bcast or reduction, of one rank's block of the others.
 * Each rank prints the seconds from behind MPI_Init to before MPI_Finalize, as the simulation has
 * them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static int reversed(int of) {
  int out = 0;
  for (int bit = 1; bit < ranks; bit *= 2) out = out * 2 + (of / bit) % 2;
  return out;
}

static int transposed(int of) {
  int side = 1;
  while (side * side < ranks) ++side;
  return of % side * side + of / side;
}

/* To whom this rank sends, or (inverse) from whom it receives. */
static int partner(const char* name, int inverse) {
  if (strncmp(name, "shift:", 6) == 0) {
    const int by = atoi(name + 6);
    return ((rank + (inverse ? -by : by)) % ranks + ranks) % ranks;
  }
  if (strcmp(name, "transpose") == 0) return transposed(rank); /* its own inverse */
  if (strcmp(name, "bit_reversal") == 0) return reversed(rank);
  return -1;
}

/* All at once: messages to the rank itself must not slow down the other one. */
static void beside_own(int bytes, char* in, char* out) {
  MPI_Request request[6];
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  const int to[] = {next, rank, rank}, from[] = {before, rank, rank};
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(out + (size_t)i * (size_t)bytes, bytes, MPI_CHAR, from[i], i, MPI_COMM_WORLD,
              &request[i]);
    MPI_Isend(in, bytes, MPI_CHAR, to[i], i, MPI_COMM_WORLD, &request[3 + i]);
  }
  MPI_Waitall(6, request, MPI_STATUSES_IGNORE);
}

static void collective(const char* name, int bytes, char* in, char* out) {
  if (strcmp(name, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(name, "bcast") == 0) MPI_Bcast(in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (strcmp(name, "reduce") == 0) MPI_Reduce(in, out, bytes, MPI_CHAR, MPI_MAX, 0, MPI_COMM_WORLD);
  if (strcmp(name, "allreduce") == 0)
    MPI_Allreduce(in, out, bytes, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
  if (strcmp(name, "gather") == 0)
    MPI_Gather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (strcmp(name, "scatter") == 0)
    MPI_Scatter(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (strcmp(name, "allgather") == 0)
    MPI_Allgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, MPI_COMM_WORLD);
  if (strcmp(name, "alltoall") == 0)
    MPI_Alltoall(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, MPI_COMM_WORLD);
  if (strcmp(name, "reduce_scatter") == 0) {
    int* counts = malloc((size_t)ranks * sizeof *counts);
    for (int i = 0; i < ranks; ++i) counts[i] = bytes;
    MPI_Reduce_scatter(in, out, counts, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    free(counts);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double begin = MPI_Wtime();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* name = argv[1];
  const int bytes = atoi(argv[2]), repeats = atoi(argv[3]);
  char *in = calloc((size_t)ranks, (size_t)bytes + 1),
       *out = calloc((size_t)ranks, (size_t)bytes + 1);
  const int to = partner(name, 0), from = partner(name, 1);
  for (int i = 0; i < repeats; ++i) {
    if (strcmp(name, "beside_own") == 0) {
      beside_own(bytes, in, out);
    } else if (to < 0) {
      collective(name, bytes, in, out);
    } else if (to != rank) { /* in these patterns: from != rank, too */
      MPI_Sendrecv(in, bytes, MPI_CHAR, to, 0, out, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    }
  }
  printf("took %.9f\n", MPI_Wtime() - begin);
  free(in), free(out);
  MPI_Finalize();
  return 0;
}
