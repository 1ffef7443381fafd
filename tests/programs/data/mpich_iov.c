// The pieces of memory that a datatype means, as MPICH gives them out.
#include "calls.h"

int main(int argc, char** argv) {
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 40200000
  (void)argc, (void)argv;
  SKIP("no MPIX_Type_iov in this MPI");
#else
  int rank, size;
  MPI_Datatype t;
  MPI_Count pieces, bytes, filled;
  MPIX_Iov iov[8];
  log_init(&argc, &argv, &rank, &size);
  for (int i = 2; i < 5; ++i) {
    DO(MPI_Type_vector(i, 2, 5, MPI_INT, &t), "count:i blocklength:i stride:i newtype:D+", i, 2, 5,
       t);
    L_Type_commit(&t);
    DO(MPIX_Type_iov_len(t, 1000, &pieces, &bytes),
       "datatype:D max_iov_bytes:l iov_len:l actual_iov_bytes:l", t, 1000LL, (long long)i,
       (long long)i * 8);
    EXPECT(pieces == i && bytes == 8 * i);
    DO(MPIX_Type_iov_len(t, 8, &pieces, &bytes),
       "datatype:D max_iov_bytes:l iov_len:l actual_iov_bytes:l", t, 8LL, 1LL, 8LL);
    EXPECT(pieces == 1 && bytes == 8);
    DO(MPIX_Type_iov(t, 1, iov, 8, &filled),
       "datatype:D iov_offset:l iov:b max_iov_len:l actual_iov_len:l", t, 1LL, iov, "stack", 8LL,
       (long long)i - 1);
    EXPECT(filled == i - 1 && iov[0].iov_len == 8);
    L_Type_free(&t);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
