/* MPI_Init and MPI_Finalize, and nothing between them: what a tool adds to the two. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
