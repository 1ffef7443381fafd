/* Two barriers with much to compute in between, for SMPI to measure and to simulate. */
#include <mpi.h>
#include <stdio.h>

enum { kSteps = 20000000 };

int main(int argc, char** argv) {
  volatile double x = 1.0;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kSteps; ++i) x = x * 0.5 + 1.0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return x > 3.0;
}
