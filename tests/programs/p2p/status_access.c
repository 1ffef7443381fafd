// Statuses as opaque objects (MPI 4.1): each field read and set by a function.
#include "calls.h"

int main(int argc, char** argv) {
#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
  (void)argc, (void)argv;
  SKIP("no access functions of statuses in this MPI");
#else
  int rank, size, in[4], out[4] = {0}, source, tag, error, cancelled;
  MPI_Count elements;
  MPI_Status st;
  log_init(&argc, &argv, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int round = 0; round < 3; ++round) {
    DO(MPI_Sendrecv(out, 4, MPI_INT, to, round, in, 4, MPI_INT, from, round, MPI_COMM_WORLD, &st),
       "dest:r sendtag:t source:r recvtag:t status:S", to, round, from, round, &st);
    DO(MPI_Status_get_source(&st, &source), "status:S source:r", &st, from);
    DO(MPI_Status_get_tag(&st, &tag), "status:S tag:t", &st, round);
    EXPECT(source == from && tag == round);
    DO(MPI_Status_set_source(&st, to), "status:S source:r", &st, to);
    DO(MPI_Status_set_tag(&st, 100 + round), "status:S tag:t", &st, 100 + round);
    DO(MPI_Status_set_error(&st, MPI_ERR_TAG), "status:S error:i", &st, MPI_ERR_TAG);
    DO(MPI_Status_get_error(&st, &error), "status:S error:i", &st, MPI_ERR_TAG);
    DO(MPI_Status_get_source(&st, &source), "status:S source:r", &st, to);
    DO(MPI_Status_get_tag(&st, &tag), "status:S tag:t", &st, 100 + round);
    EXPECT(source == to && tag == 100 + round && error == MPI_ERR_TAG);
    DO(MPI_Status_set_elements_c(&st, MPI_DOUBLE, 3), "status:S datatype:D count:l", &st,
       MPI_DOUBLE, 3LL);
    DO(MPI_Get_elements_c(&st, MPI_DOUBLE, &elements), "status:S datatype:D count:l", &st,
       MPI_DOUBLE, 3LL);
    DO(MPI_Status_set_elements(&st, MPI_INT, 5), "status:S datatype:D count:i", &st, MPI_INT, 5);
    DO(MPI_Get_elements_c(&st, MPI_INT, &elements), "status:S datatype:D count:l", &st, MPI_INT,
       5LL);
    EXPECT(elements == 5);
    DO(MPI_Status_set_cancelled(&st, 1), "status:S flag:i", &st, 1);
    DO(MPI_Test_cancelled(&st, &cancelled), "status:S flag:i", &st, 1);
    EXPECT(cancelled);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
