/* The worst case for a call signature table: no two calls have the same parameters.
 *
 *   new_signature [calls]      default 300000; one rank
 *
 * Sends to nobody, so that the cost is the call's own. Lengths and tags jump about, and up to
 * kCounts calls no two lengths are equal. Every rank prints at its end, behind MPI_Finalize, how
 * much of its memory was resident at most.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { kCountStride = 104729, kCounts = 300007, kTagStride = 7919, kTags = 32768 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 300000;
  char* buffer = calloc(kCounts, 1);
  if (buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 1; i <= calls; ++i) {
    const int count = (int)((long)i * kCountStride % kCounts);
    const int tag = (int)((long)i * kTagStride % kTags);
    MPI_Send(buffer, count, MPI_BYTE, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
  }
  free(buffer);
  MPI_Finalize();
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("new_signature: %d calls, %ld KiB resident at most\n", calls, usage.ru_maxrss);
  return 0;
}
