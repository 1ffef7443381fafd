// Sizes as MPI_Count, elements that a status has, and types by precision and range.
#include "calls.h"

static void sizes(void) {
  MPI_Datatype wide;
  MPI_Count size = 0, lower = 0, extent = 0, n = 0;
  DO(MPI_Type_vector(3, 2, 4, MPI_INT, &wide), "count:i blocklength:i stride:i newtype:D+", 3, 2, 4,
     wide);
  L_Type_commit(&wide);
  DO(MPI_Type_size_x(wide, &size), "datatype:D size:i", wide, 24);
  EXPECT(size == 24);
  DO(MPI_Type_get_extent_x(wide, &lower, &extent), "datatype:D lb:i extent:i", wide, 0, 40);
  EXPECT(lower == 0 && extent == 40);
  DO(MPI_Type_get_true_extent_x(wide, &lower, &extent), "datatype:D true_lb:i true_extent:i", wide,
     0, 40);
  EXPECT(lower == 0 && extent == 40);
  int in[16] = {0}, out[16] = {0};
  MPI_Status st;
  DO(MPI_Sendrecv(out, 1, wide, 0, 1, in, 1, wide, 0, 1, MPI_COMM_SELF, &st),
     "sendcount:i dest:r recvcount:i source:r comm:C", 1, 0, 1, 0, MPI_COMM_SELF);
  DO(MPI_Get_elements_x(&st, wide, &n), "datatype:D count:i", wide, 6);
  EXPECT(n == 6);
  // Of a basic type: MPIs do not agree what elements of another one are here.
  DO(MPI_Status_set_elements_x(&st, MPI_INT, 4), "datatype:D count:i", MPI_INT, 4);
  DO(MPI_Get_elements_x(&st, MPI_INT, &n), "datatype:D count:i", MPI_INT, 4);
  EXPECT(n == 4);
  // More bytes than an int holds.
  const MPI_Count many = 3000000000;
  DO(MPI_Status_set_elements_x(&st, MPI_BYTE, many), "datatype:D count:l", MPI_BYTE,
     (long long)many);
  DO(MPI_Get_elements_x(&st, MPI_BYTE, &n), "datatype:D count:l", MPI_BYTE, (long long)many);
  EXPECT(n == many);
  L_Type_free(&wide);
}

// Types that nobody frees; the same numbers give the same type. A missing one is MPI_UNDEFINED.
static void of_fortran(void) {
  MPI_Datatype real, whole, both, again;
  DO(MPI_Type_create_f90_real(15, 307, &real), "p:i r:i newtype:D+", 15, 307, real);
  DO(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &again), "p:i r:s", 15, "MPI_UNDEFINED");
  DO(MPI_Type_create_f90_complex(6, 37, &both), "p:i r:i newtype:D+", 6, 37, both);
  DO(MPI_Type_create_f90_integer(9, &whole), "r:i newtype:D+", 9, whole);
  int bytes = 0;
  DO(MPI_Type_size(real, &bytes), "datatype:D size:i", real, 8);
  EXPECT(bytes == 8);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  sizes();
  of_fortran();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
