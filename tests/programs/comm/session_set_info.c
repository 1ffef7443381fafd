// MPI_Session_set_info, which Open MPI 5 declares beyond the standard.
#include "calls.h"

int main(int argc, char** argv) {
#if !defined(OPEN_MPI) || OMPI_MAJOR_VERSION != 5
  (void)argc, (void)argv;
  SKIP("no MPI_Session_set_info in this MPI");
#else
  int rank, size;
  MPI_Session s;
  MPI_Info info;
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), "info:N errhandler:E session:X+",
     MPI_INFO_NULL, MPI_ERRORS_RETURN, s);
  DO(MPI_Info_create(&info), "info:N+", info);
  DO(MPI_Info_set(info, "colour", "blue"), "info:N key:s value:s", info, "colour", "blue");
  DO(MPI_Session_set_info(s, info), "session:X info:N", s, info);
  const MPI_Info old_info = info;
  DO(MPI_Info_free(&info), "info:N-", old_info);
  const MPI_Session old = s;
  DO(MPI_Session_finalize(&s), "session:X-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
