// The datatype of a value and an index by the types of both (MPI 4.1), used for a maximum.
#include "calls.h"

int main(int argc, char** argv) {
#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
  (void)argc, (void)argv;
  SKIP("no MPI_Type_get_value_index in this MPI");
#else
  int rank, size;
  MPI_Datatype pair, none;
  log_init(&argc, &argv, &rank, &size);
  struct {
    double value;
    int index;
  } mine = {rank % 2 ? 2.5 : 1.5, rank}, most;
  DO(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair), "value_type:D index_type:D pair_type:s",
     MPI_DOUBLE, MPI_INT, "MPI_DOUBLE_INT");
  EXPECT(pair == MPI_DOUBLE_INT);
  L_Allreduce(&mine, &most, 1, pair, MPI_MAXLOC, MPI_COMM_WORLD);
  EXPECT(most.value == 2.5 && most.index == 1);
  DO(MPI_Type_get_value_index(MPI_INT, MPI_INT, &pair), "value_type:D index_type:D pair_type:s",
     MPI_INT, MPI_INT, "MPI_2INT");
  EXPECT(pair == MPI_2INT);
  // No such pair: the null handle.
  DO(MPI_Type_get_value_index(MPI_PACKED, MPI_INT, &none), "value_type:D index_type:D pair_type:D",
     MPI_PACKED, MPI_INT, none);
  EXPECT(none == MPI_DATATYPE_NULL);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
