// Datatype constructors, nested, taken apart, freed and made again.
#include "calls.h"

static int rank, size;

// Uses the type once, so that a signature refers to it.
static void use(MPI_Datatype t) {
  static char out[1 << 16], in[1 << 16];
  int bytes;
  MPI_Aint lb, extent, true_lb, true_extent;
  L_Type_commit(&t);
  DO(MPI_Type_size(t, &bytes), "datatype:D size:i", t, bytes);
  DO(MPI_Type_get_extent(t, &lb, &extent), "datatype:D lb:l extent:l", t, (long long)lb,
     (long long)extent);
  DO(MPI_Type_get_true_extent(t, &true_lb, &true_extent), "datatype:D true_lb:l true_extent:l", t,
     (long long)true_lb, (long long)true_extent);
  MPI_Status st;
  DO(MPI_Sendrecv(out + 4096, 1, t, (rank + 1) % size, 1, in + 4096, 1, t, (rank + size - 1) % size,
                  1, MPI_COMM_WORLD, &st),
     "sendtype:D recvtype:D status:S", t, t, &st);
  int count;
  DO(MPI_Get_count(&st, t, &count), "datatype:D count:u", t, count);
  DO(MPI_Get_elements(&st, t, &count), "datatype:D count:u", t, count);
}

static void contents(MPI_Datatype t) {
  int ni, na, nd, combiner, integers[16];
  MPI_Aint addresses[16];
  MPI_Datatype types[16];
  DO(MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner),
     "datatype:D num_integers:i num_addresses:i num_datatypes:i combiner:s", t, ni, na, nd,
     combiner == MPI_COMBINER_VECTOR ? "MPI_COMBINER_VECTOR" : "MPI_COMBINER_STRUCT");
  DO(MPI_Type_get_contents(t, ni, na, nd, integers, addresses, types),
     "datatype:D max_integers:i max_addresses:i max_datatypes:i array_of_integers:V", t, ni, na, nd,
     ni, integers);
  for (int i = 0; i < nd; ++i) {
    int size_of_part;
    if (types[i] == MPI_INT || types[i] == MPI_DOUBLE || types[i] == MPI_CHAR) continue;
    // A handle to the same or to another object: MPI decides.
    DO(MPI_Type_size(types[i], &size_of_part), "size:i", size_of_part);
    DO(MPI_Type_free(&types[i]), "");
  }
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  int lengths[3] = {1, 2, 3}, places[3] = {0, 4, 9};
  MPI_Aint bytes[3] = {0, 16, 64};
  MPI_Datatype members[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  for (int round = 0; round < 3; ++round) {
    MPI_Datatype row, column, t, nested;
    DO(MPI_Type_contiguous(5, MPI_INT, &row), "count:i oldtype:D newtype:D+", 5, MPI_INT, row);
    use(row);
    DO(MPI_Type_vector(3, 2, 7 + rank, MPI_DOUBLE, &column),
       "count:i blocklength:i stride:i oldtype:D newtype:D+", 3, 2, 7 + rank, MPI_DOUBLE, column);
    use(column);
    contents(column);
    DO(MPI_Type_create_hvector(3, 1, 64, row, &nested),
       "count:i blocklength:i stride:i oldtype:D newtype:D+", 3, 1, 64, row, nested);
    use(nested);
    L_Type_free(&row);  // nested still stands on it
    DO(MPI_Type_dup(nested, &t), "oldtype:D newtype:D+", nested, t);
    L_Type_free(&nested);
    use(t);
    L_Type_free(&t);
    DO(MPI_Type_indexed(3, lengths, places, MPI_INT, &t),
       "count:i array_of_blocklengths:V array_of_displacements:V oldtype:D newtype:D+", 3, 3,
       lengths, 3, places, MPI_INT, t);
    use(t);
    L_Type_free(&t);
    DO(MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &t),
       "count:i array_of_blocklengths:V array_of_displacements:L oldtype:D newtype:D+", 3, 3,
       lengths, 3, bytes, MPI_INT, t);
    use(t);
    L_Type_free(&t);
    DO(MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &t),
       "count:i blocklength:i array_of_displacements:V oldtype:D newtype:D+", 3, 2, 3, places,
       MPI_INT, t);
    use(t);
    L_Type_free(&t);
    DO(MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &t),
       "count:i blocklength:i array_of_displacements:L oldtype:D newtype:D+", 3, 2, 3, bytes,
       MPI_INT, t);
    use(t);
    L_Type_free(&t);
    DO(MPI_Type_create_struct(3, lengths, bytes, members, &t),
       "count:i array_of_blocklengths:V array_of_displacements:L array_of_types:Y newtype:D+", 3, 3,
       lengths, 3, bytes, 3, members, t);
    use(t);
    contents(t);
    MPI_Datatype twice, both[2] = {column, column};  // whose handle comes twice, under MPICH
    DO(MPI_Type_create_struct(2, lengths, bytes, both, &twice),
       "count:i array_of_blocklengths:V array_of_displacements:L array_of_types:Y newtype:D+", 2, 2,
       lengths, 2, bytes, 2, both, twice);
    contents(twice);
    L_Type_free(&twice);
    MPI_Datatype wide;
    DO(MPI_Type_create_resized(t, -8, 256, &wide), "oldtype:D lb:i extent:i newtype:D+", t, -8, 256,
       wide);
    use(wide);
    L_Type_free(&wide);
    L_Type_free(&t);
    int sizes[2] = {8, 8}, sub[2] = {4, 2}, start[2] = {1, 3};
    DO(MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_INT, &t),
       "ndims:i array_of_sizes:V array_of_subsizes:V array_of_starts:V order:s oldtype:D "
       "newtype:D+",
       2, 2, sizes, 2, sub, 2, start, "MPI_ORDER_C", MPI_INT, t);
    use(t);
    L_Type_free(&t);
    int distribution[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
        darg[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    int grid[2] = {size, 1}, whole[2] = {8 * size, 4};
    DO(MPI_Type_create_darray(size, rank, 2, whole, distribution, darg, grid, MPI_ORDER_FORTRAN,
                              MPI_INT, &t),
       "size:i rank:i ndims:i array_of_gsizes:V array_of_psizes:V order:s oldtype:D newtype:D+",
       size, rank, 2, 2, whole, 2, grid, "MPI_ORDER_FORTRAN", MPI_INT, t);
    L_Type_commit(&t);
    L_Type_free(&t);
    DO(MPI_Type_set_name(column, "column"), "datatype:D type_name:s", column, "column");
    MPI_Datatype single;
    DO(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &single), "typeclass:s size:i",
       "MPI_TYPECLASS_REAL", 8);
    L_Type_free(&column);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
