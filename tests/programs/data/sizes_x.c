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

// Elements of two sizes, so many that to count them takes MPI a while.
static void many_elements(void) {
  enum { kMany = 100000, kFew = 100 };
  typedef struct {
    double d[2];
    int i;
  } Item;
  static Item in[kMany], out[kMany];
  MPI_Datatype item, many, few;
  const MPI_Datatype of_item[2] = {MPI_DOUBLE, MPI_INT};
  const int lengths[2] = {2, 1}, few_lengths[2] = {kFew, 2};
  const MPI_Aint places[2] = {0, 16}, few_places[2] = {0, kFew * (MPI_Aint)sizeof(Item)};
  DO(MPI_Type_create_struct(2, lengths, places, of_item, &item),
     "count:i array_of_blocklengths:V array_of_displacements:L array_of_types:Y newtype:D+", 2, 2,
     lengths, 2, places, 2, of_item, item);
  DO(MPI_Type_contiguous(kMany, item, &many), "count:i newtype:D+", kMany, many);
  const MPI_Datatype of_few[2] = {item, MPI_DOUBLE};
  DO(MPI_Type_create_struct(2, few_lengths, few_places, of_few, &few),
     "count:i array_of_blocklengths:V array_of_displacements:L array_of_types:Y newtype:D+", 2, 2,
     few_lengths, 2, few_places, 2, of_few, few);
  L_Type_commit(&many);
  L_Type_commit(&few);
  MPI_Status st;
  int n = 0;
  DO(MPI_Sendrecv(out, 1, many, 0, 2, in, 1, many, 0, 2, MPI_COMM_SELF, &st),
     "sendcount:i sendtag:t recvcount:i comm:C", 1, 2, 1, MPI_COMM_SELF);
  DO(MPI_Get_elements(&st, many, &n), "datatype:D count:i", many, 3 * kMany);
  EXPECT(n == 3 * kMany);
  // Ends within an item.
  DO(MPI_Sendrecv(out, 1, few, 0, 3, in, 1, many, 0, 3, MPI_COMM_SELF, &st),
     "sendcount:i sendtag:t recvcount:i comm:C", 1, 3, 1, MPI_COMM_SELF);
  DO(MPI_Get_elements(&st, many, &n), "datatype:D count:i", many, 3 * kFew + 2);
  EXPECT(n == 3 * kFew + 2);
  L_Type_free(&few);
  L_Type_free(&many);
  L_Type_free(&item);
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
  many_elements();
  of_fortran();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
