// Partitioned communication (MPI 4).
#include "calls.h"

int main(int argc, char** argv) {
#if MPI_VERSION < 4
  (void)argc, (void)argv;
  SKIP("no partitioned communication in this MPI");
#else
  enum { kParts = 4, kCount = 8 };
  int rank, size, flag;
  static double out[kParts * kCount], in[kParts * kCount];
  log_init(&argc, &argv, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request r[2];
  MPI_Status st[2];
  DO(MPI_Psend_init(out, kParts, kCount, MPI_DOUBLE, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]),
     "partitions:i count:i datatype:D dest:r tag:t comm:C info:N request:R+", kParts, kCount,
     MPI_DOUBLE, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  DO(MPI_Precv_init(in, kParts, kCount, MPI_DOUBLE, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]),
     "partitions:i count:i datatype:D source:r tag:t comm:C info:N request:R+", kParts, kCount,
     MPI_DOUBLE, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  for (int round = 0; round < 3; ++round) {
    DO(MPI_Startall(2, r), "count:i array_of_requests:A", 2, 2, r);
    for (int i = 0; i < kParts * kCount; ++i) out[i] = rank + i;
    DO(MPI_Pready(1, r[0]), "partition:i", 1);
    DO(MPI_Pready_range(2, 3, r[0]), "partition_low:i partition_high:i", 2, 3);
    int rest[1] = {0};
    DO(MPI_Pready_list(1, rest, r[0]), "length:i array_of_partitions:V", 1, 1, rest);
    do DO(MPI_Parrived(r[1], 1, &flag), "partition:i flag:i", 1, flag);
    while (!flag);
    L_Waitall(2, r, st);
    EXPECT(in[5] == from + 5);
  }
  for (int i = 0; i < 2; ++i) DO(MPI_Request_free(&r[i]), "request:R", &r[i]);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
