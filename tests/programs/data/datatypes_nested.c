// Datatypes out of datatypes whose handles are gone, with holes, negative strides and bounds,
// absolute addresses, nothing in them at all; sent, so that their sizes are in the matrix.
#include "calls.h"

static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI
static double out[4096], in[4096];

// Commits; sends n of them, `bytes` in all, around the ring.
static void pass(MPI_Datatype t, void* a, void* b, int n, int bytes) {
  MPI_Request q;
  MPI_Status st;
  int each;
  L_Type_commit(&t);
  DO(MPI_Type_size(t, &each), "datatype:D size:i", t, each);
  EXPECT(n * each == bytes);
  L_Isend(a, n, t, (rank + 1) % size, 1, W, &q);
  L_Recv(b, n, t, (rank + size - 1) % size, 1, W, &st);
  L_Wait(&q, &st);
}

static MPI_Datatype structure(void) {
  int lengths[3] = {1, 0, 3};
  MPI_Aint places[3] = {0, 64, 200};
  MPI_Datatype vector, members[3] = {MPI_INT, MPI_CHAR, MPI_INT}, parts, wide;
  DO(MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &vector),
     "count:i blocklength:i stride:i oldtype:D newtype:D+", 3, 2, 5, MPI_DOUBLE, vector);
  members[2] = vector;
  DO(MPI_Type_create_struct(3, lengths, places, members, &parts),
     "count:i array_of_blocklengths:V array_of_displacements:L array_of_types:Y newtype:D+", 3, 3,
     lengths, 3, places, 3, members, parts);
  L_Type_free(&vector);
  DO(MPI_Type_create_resized(parts, -16, 1024, &wide), "oldtype:D lb:l extent:l newtype:D+", parts,
     -16LL, 1024LL, wide);
  L_Type_free(&parts);
  pass(wide, out + 100, in + 100, 4, 4 * (4 + 3 * 48));
  return wide;
}

static void arrays(void) {
  int sizes[3] = {4, 5, 6}, part[3] = {2, 1, 3}, starts[3] = {1, 4, 0};
  MPI_Datatype box, strided, spread;
  DO(MPI_Type_create_subarray(3, sizes, part, starts, MPI_ORDER_FORTRAN, MPI_FLOAT, &box),
     "ndims:i array_of_sizes:V array_of_subsizes:V array_of_starts:V order:s oldtype:D newtype:D+",
     3, 3, sizes, 3, part, 3, starts, "MPI_ORDER_FORTRAN", MPI_FLOAT, box);
  pass(box, out, in, 1, 24);
  DO(MPI_Type_create_hvector(4, 1, -40, box, &strided),
     "count:i blocklength:i stride:l oldtype:D newtype:D+", 4, 1, -40LL, box, strided);
  L_Type_free(&box);
  pass(strided, out + 1000, in + 1000, 1, 96);
  L_Type_free(&strided);
  int whole[2] = {8, 8}, grid[2] = {2, 1};
  int distribution[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
  int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  DO(MPI_Type_create_darray(2, rank % 2, 2, whole, distribution, dargs, grid, MPI_ORDER_C, MPI_INT,
                            &spread),
     "size:i rank:i ndims:i array_of_gsizes:V array_of_distribs:j array_of_dargs:j "
     "array_of_psizes:V order:s oldtype:D newtype:D+",
     2, rank % 2, 2, 2, whole, "[\"MPI_DISTRIBUTE_BLOCK\",\"MPI_DISTRIBUTE_NONE\"]",
     "[\"MPI_DISTRIBUTE_DFLT_DARG\",\"MPI_DISTRIBUTE_DFLT_DARG\"]", 2, grid, "MPI_ORDER_C", MPI_INT,
     spread);
  pass(spread, out, in, 1, 128);
  L_Type_free(&spread);
}

static void empty_and_absolute(void) {
  MPI_Datatype none, absolute, copy;
  DO(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &none), "count:i oldtype:D newtype:D+", 0, MPI_INT,
     none);
  pass(none, out, in, 3, 0);
  L_Type_free(&none);
  MPI_Aint at[2];
  int lengths[2] = {2, 1}, bytes;
  DO(MPI_Get_address(out, &at[0]), "location:b", out, "data");
  DO(MPI_Get_address(&out[9], &at[1]), "location:b", &out[9], "data");
  EXPECT(at[1] - at[0] == 72);
  DO(MPI_Type_create_hindexed(2, lengths, at, MPI_DOUBLE, &absolute),
     "count:i array_of_blocklengths:V array_of_displacements:L oldtype:D newtype:D+", 2, 2, lengths,
     2, at, MPI_DOUBLE, absolute);
  L_Type_commit(&absolute);
  DO(MPI_Type_size(absolute, &bytes), "datatype:D size:i", absolute, 24);
  MPI_Status st;
  DO(MPI_Sendrecv(MPI_BOTTOM, 1, absolute, (rank + 1) % size, 2, in, 3, MPI_DOUBLE,
                  (rank + size - 1) % size, 2, W, &st),
     "sendbuf:b sendcount:i sendtype:D dest:r recvtype:D source:r comm:C status:S", MPI_BOTTOM, "",
     1, absolute, (rank + 1) % size, MPI_DOUBLE, (rank + size - 1) % size, W, &st);
  L_Type_free(&absolute);
  DO(MPI_Type_dup(MPI_DOUBLE_INT, &copy), "oldtype:D newtype:D+", MPI_DOUBLE_INT, copy);
  pass(copy, out, in, 2, 24);
  L_Type_free(&copy);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  MPI_Datatype kept[3], blocks;
  MPI_Aint places[2] = {-8, 64};
  for (int round = 0; round < 3; ++round) {
    kept[round] = structure();
    arrays();
    empty_and_absolute();
    DO(MPI_Type_create_hindexed_block(2, 2, places, kept[round], &blocks),
       "count:i blocklength:i array_of_displacements:L oldtype:D newtype:D+", 2, 2, 2, places,
       kept[round], blocks);
    pass(blocks, out + 200, in + 200, 1, 4 * (4 + 3 * 48));
    L_Type_free(&blocks);
  }
  for (int round = 0; round < 3; ++round) L_Type_free(&kept[round]);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
