/* The worst case for a call signature table: no two calls have the same parameters.
 *
 *   new_signature [calls]      default 300000; one rank
 *
 * Sends to nobody, so that the cost is the call's own; the length is new in every call, the tag
 * jumps about.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTagStride = 7919, kTags = 32768 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 300000;
  char* buffer = calloc((size_t)calls + 1, 1);
  if (buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 1; i <= calls; ++i) {
    const int tag = (int)((long)i * kTagStride % kTags);
    MPI_Send(buffer, i, MPI_BYTE, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
  }
  free(buffer);
  printf("new_signature: %d calls\n", calls);
  MPI_Finalize();
  return 0;
}
