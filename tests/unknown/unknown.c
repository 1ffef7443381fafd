// Calls functions that the recorder does not know, and uses what they make: `unknown [none]`.
#include <stdio.h>
#include <string.h>

#include "mpi_extra.h"

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                           \
    }                                                                         \
  } while (0)

static void objects(void) {
  MPI_Comm known, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &known);
  MPI_Barrier(known);
  MPIX_Extra_comm_free(&known);  // the recorder's name of it must go with it
  EXPECT(known == MPI_COMM_NULL);
  MPIX_Extra_comm(MPI_COMM_WORLD, &other);  // may have the same handle
  MPI_Barrier(other);
  MPI_Comm_dup(other, &known);  // of an unknown one, and known itself
  MPI_Barrier(known);
  MPI_Comm_free(&known);
  PMPIX_Extra_comm_free(&other);
  MPI_Datatype type;
  MPIX_Extra_type(3, MPI_INT, &type);
  int size = 0;
  MPI_Type_size(type, &size);
  EXPECT(size == 3 * (int)sizeof(int));
  MPI_Type_free(&type);
}

static void requests(int peer) {
  int in[3] = {0}, out = 7;
  MPI_Request r[3];
  MPI_Irecv(&in[0], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(&out, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &r[1]);
  r[2] = MPI_REQUEST_NULL;
  MPIX_Extra_waitall(3, r, MPI_STATUSES_IGNORE);  // both are over behind the recorder's back
  EXPECT(in[0] == 7);
  MPI_Irecv(&in[1], 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &r[0]);
  MPIX_Extra_isend(&out, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &r[1]);
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  EXPECT(in[1] == 7);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 2 || strcmp(argv[1], "none") != 0) {
    objects();
    for (int i = 0; i < 20; ++i) requests(rank ^ 1);
    for (int i = 0; i < 1000; ++i) MPIX_Extra_nothing();
    EXPECT(MPIX_Extra_half(3) == 1.5);
    EXPECT(MPIX_Extra_talk(4, "and more") == 4);
  }
  if (argc > 1 && strcmp(argv[1], "die") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);  // both have made all of their calls
    MPI_Abort(MPI_COMM_WORLD, 9);
  }
  MPI_Finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
