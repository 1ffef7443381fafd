// Statuses as mpi_f08 has them, and back. MPICH has these functions in its library of Fortran.
#include "calls.h"

int main(int argc, char** argv) {
#ifndef REFRAIN_TEST_STATUS_F08
  (void)argc, (void)argv;
  SKIP("no library of Fortran that has them");
#else
  int rank, size, value = 5, got = 0;
  log_init(&argc, &argv, &rank, &size);
  MPI_Status st, back;
  MPI_F08_status fortran;
  DO(MPI_Sendrecv(&value, 1, MPI_INT, 0, 7, &got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &st),
     "dest:r sendtag:t source:r recvtag:t comm:C status:S", 0, 7, 0, 7, MPI_COMM_SELF, &st);
  DO(MPI_Status_c2f08(&st, &fortran), "c_status:S", &st);
  DO(MPI_Status_f082c(&fortran, &back), "c_status:S", &st);
  EXPECT(back.MPI_SOURCE == 0 && back.MPI_TAG == 7);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
