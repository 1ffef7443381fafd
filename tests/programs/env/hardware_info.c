// What MPI says of the machine (MPI 4.1): the keys, twice.
#include "calls.h"

int main(int argc, char** argv) {
#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
  (void)argc, (void)argv;
  SKIP("no MPI_Get_hw_resource_info in this MPI");
#else
  int rank, size, n;
  log_init(&argc, &argv, &rank, &size);
  for (int round = 0; round < 2; ++round) {
    MPI_Info info;
    DO(MPI_Get_hw_resource_info(&info), "hw_info:N+", info);
    DO(MPI_Info_get_nkeys(info, &n), "info:N nkeys:i", info, n);
    for (int i = 0; i < n; ++i) {
      char key[MPI_MAX_INFO_KEY];
      DO(MPI_Info_get_nthkey(info, i, key), "info:N n:i key:s", info, i, key);
    }
    const MPI_Info old = info;
    DO(MPI_Info_free(&info), "info:N-", old);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
