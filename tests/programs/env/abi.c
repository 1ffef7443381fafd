// Questions about the application binary interface (MPI 5.0). What belongs to Fortran can be set
// only where the MPI has not set it: otherwise an error comes back.
#include "calls.h"

#if MPI_VERSION >= 5
static void show_and_free(MPI_Info info) {
  int n;
  DO(MPI_Info_get_nkeys(info, &n), "info:N nkeys:i", info, n);
  const MPI_Info old = info;
  DO(MPI_Info_free(&info), "info:N-", old);
}

static void expect_refused(int rc, int refused) {
  int error_class;
  DO(MPI_Error_class(rc, &error_class), "errorcode:i errorclass:s", rc,
     refused ? "MPI_ERR_ABI" : "MPI_SUCCESS");
  EXPECT(error_class == (refused ? MPI_ERR_ABI : MPI_SUCCESS));
}

static void fortran_info(void) {
  MPI_Info theirs, ours;
  DO(MPI_Abi_get_fortran_info(&theirs), "info:N+", theirs);
  DO(MPI_Info_create(&ours), "info:N+", ours);
  DO(MPI_Info_set(ours, "mpi_logical_size", "4"), "info:N key:s value:s", ours, "mpi_logical_size",
     "4");
  expect_refused(DO(MPI_Abi_set_fortran_info(ours), "info:N", ours), theirs != MPI_INFO_NULL);
  show_and_free(ours);
  if (theirs != MPI_INFO_NULL) show_and_free(theirs);
}

static void fortran_booleans(void) {
  const int bytes = sizeof(int);
  int yes = 1, no = 0, is_set;
  DO(MPI_Abi_get_fortran_booleans(bytes, &yes, &no, &is_set),
     "logical_size:i logical_true:b logical_false:b is_set:i", bytes, &yes, "stack", &no, "stack",
     is_set);
  expect_refused(
      DO(MPI_Abi_set_fortran_booleans(bytes, &yes, &no),
         "logical_size:i logical_true:b logical_false:b", bytes, &yes, "stack", &no, "stack"),
      is_set);
}
#endif

int main(int argc, char** argv) {
#if MPI_VERSION < 5
  (void)argc, (void)argv;
  SKIP("no application binary interface in this MPI");
#else
  int rank, size, major, minor;
  MPI_Info info;
  log_init(&argc, &argv, &rank, &size);
  for (int i = 0; i < 2; ++i) {
    const MPI_Comm c = i == 0 ? MPI_COMM_SELF : MPI_COMM_WORLD;
    DO(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN), "comm:C errhandler:E", c, MPI_ERRORS_RETURN);
  }
  DO(MPI_Abi_get_version(&major, &minor), "abi_major:i abi_minor:i", major, minor);
  DO(MPI_Abi_get_info(&info), "info:N+", info);
  if (info != MPI_INFO_NULL) show_and_free(info);
  fortran_info();
  fortran_booleans();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
