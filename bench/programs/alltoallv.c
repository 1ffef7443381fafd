/* MPI_Alltoallv whose counts follow the two ranks, as in a redistribution of blocks.
 *
 *   alltoallv [times]      default 20; any number of ranks
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kKinds = 4 };

int main(int argc, char** argv) {
  int size, rank;
  MPI_Init(&argc, &argv);
  const int times = argc > 1 ? atoi(argv[1]) : 20;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* counts = malloc((size_t)size * sizeof *counts);
  int* displacements = malloc((size_t)size * sizeof *displacements);
  double* out = calloc((size_t)size, kKinds * sizeof *out);
  double* in = calloc((size_t)size, kKinds * sizeof *in);
  if (counts == NULL || displacements == NULL || out == NULL || in == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  /* The same both ways, so that what is sent is what is received. */
  for (int j = 0, sum = 0; j < size; sum += counts[j++]) {
    counts[j] = (rank + j) % kKinds + 1;
    displacements[j] = sum;
  }
  for (int i = 0; i < times; ++i)
    MPI_Alltoallv(out, counts, displacements, MPI_DOUBLE, in, counts, displacements, MPI_DOUBLE,
                  MPI_COMM_WORLD);
  if (rank == 0) printf("alltoallv: %d ranks, %d times\n", size, times);
  free(in);
  free(out);
  free(displacements);
  free(counts);
  MPI_Finalize();
  return 0;
}
