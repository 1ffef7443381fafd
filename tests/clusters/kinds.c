/* Programs whose kinds of ranks are known.
 *
 *   kinds stencil [rounds]        neighbours in a 2D mesh, no calls at borders: nine kinds
 *   kinds null [rounds]           the same with MPI_PROC_NULL at borders: nine kinds
 *   kinds workers [rounds]        rank 0 hands out, all others work: two kinds
 *   kinds tags [rounds]           two rings, of even and of odd ranks, that differ in their tag:
 *                                 one structure
 *   kinds loops [rounds]          odd ranks go round once more, alone: two kinds
 *   kinds mirror [rounds]         the first with the last rank, the second with the last but one:
 *                                 each as far away as for nobody else, 8 to 24 elements; one
 *                                 structure
 *
 * Ranks work for 1 ms and 10 us for each rank below, in the simulation's time under SMPI.
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kElements = 32 };
static double out_of[4][kElements], into[4][kElements];

static void work(int rank) { usleep(1000 + 10 * (useconds_t)rank); }

#define RECEIVE(side) \
  MPI_Irecv(into[side], kElements, MPI_DOUBLE, peers[side], side, MPI_COMM_WORLD, &requests[n++])
#define SEND(side)                                                                      \
  MPI_Isend(out_of[side], kElements, MPI_DOUBLE, peers[side], 3 - side, MPI_COMM_WORLD, \
            &requests[n++])

static void stencil(int rank, int size, int rounds, int with_null) {
  int dims[2] = {0, 0}, peers[4];
  MPI_Dims_create(size, 2, dims);
  const int y = rank / dims[1], x = rank % dims[1];
  peers[0] = y > 0 ? rank - dims[1] : MPI_PROC_NULL;
  peers[1] = x > 0 ? rank - 1 : MPI_PROC_NULL;
  peers[2] = x + 1 < dims[1] ? rank + 1 : MPI_PROC_NULL;
  peers[3] = y + 1 < dims[0] ? rank + dims[1] : MPI_PROC_NULL;
  for (int i = 0; i < rounds; ++i) {
    MPI_Request requests[8];
    int n = 0;
    work(rank);
    /* Each from a place of its own, as programs are written. */
    if (peers[0] != MPI_PROC_NULL || with_null) RECEIVE(0);
    if (peers[1] != MPI_PROC_NULL || with_null) RECEIVE(1);
    if (peers[2] != MPI_PROC_NULL || with_null) RECEIVE(2);
    if (peers[3] != MPI_PROC_NULL || with_null) RECEIVE(3);
    if (peers[0] != MPI_PROC_NULL || with_null) SEND(0);
    if (peers[1] != MPI_PROC_NULL || with_null) SEND(1);
    if (peers[2] != MPI_PROC_NULL || with_null) SEND(2);
    if (peers[3] != MPI_PROC_NULL || with_null) SEND(3);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void workers(int rank, int size, int rounds) {
  int item = 0;
  if (rank == 0) {
    for (int i = 0; i < rounds * (size - 1); ++i) {
      MPI_Status status;
      MPI_Recv(&item, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
      MPI_Send(&item, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      work(rank);
      MPI_Send(&item, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
      MPI_Recv(&item, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

static void tags(int rank, int size, int rounds) {
  const int right = (rank + 2) % size, left = (rank + size - 2) % size;
  const int tag = rank % 2 == 0 ? 7 : 1000;
  for (int i = 0; i < rounds; ++i) {
    work(0);
    MPI_Sendrecv(out_of[0], kElements, MPI_DOUBLE, right, tag, into[0], kElements, MPI_DOUBLE, left,
                 tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void loops(int rank, int rounds) {
  int flag = 0;
  for (int i = 0; i < rounds + rank % 2; ++i) {
    work(0);
    MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void mirror(int rank, int size, int rounds) {
  const int peer = size - 1 - rank, n = 8 * (1 + (rank < peer ? rank : peer) % 3);
  for (int i = 0; i < rounds; ++i) {
    MPI_Request requests[2];
    work(0);
    MPI_Irecv(into[0], n, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out_of[0], n, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? atoi(argv[2]) : 10;
  if (strcmp(what, "stencil") == 0 || strcmp(what, "null") == 0) {
    stencil(rank, size, rounds, strcmp(what, "null") == 0);
  } else if (strcmp(what, "workers") == 0) {
    workers(rank, size, rounds);
  } else if (strcmp(what, "tags") == 0) {
    tags(rank, size, rounds);
  } else if (strcmp(what, "loops") == 0) {
    loops(rank, rounds);
  } else if (strcmp(what, "mirror") == 0) {
    mirror(rank, size, rounds);
  } else {
    if (rank == 0) fprintf(stderr, "kinds: unknown program '%s'\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
