// A job that starts another one with MPI_Comm_spawn.
//
//   family PROGRAM ARGUMENT ...    rank 0 of the parents starts two children with that command
//   line,
//                                  which is to run `family` without arguments in the end
//   family                         the children
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, sum = 0, one = 1;
  MPI_Comm other;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1)
    MPI_Comm_spawn(argv[1], argv + 2, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
  else
    MPI_Comm_get_parent(&other);
  if (other == MPI_COMM_NULL) return 4;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
  MPI_Comm_disconnect(&other);
  MPI_Finalize();
  if (argc > 1) printf("rank %d of %d done, %d children\n", rank, size, sum);
  return 0;
}
