/* Receives messages from itself, for bench/messages.py:
 *
 *   receives COUNT BYTES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Everything that callgrind is to count. */
__attribute__((noinline)) void measured_piece(int count, int bytes, const char* out, char* in) {
  MPI_Request r;
  for (int i = 0; i < count; ++i) {
    MPI_Isend(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, &r);
    MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? atoi(argv[1]) : 1000, bytes = argc > 2 ? atoi(argv[2]) : 8;
  char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes);
  /* Numbers that do not compress. */
  for (int i = 0; i < bytes; ++i) out[i] = (char)((unsigned)rand() >> 7);
  measured_piece(10, bytes, out, in);
  measured_piece(count, bytes, out, in);
  MPI_Finalize();
  return in[0] == out[0] ? 0 : 1;
}
