// Error handlers of sessions, and what is known of a process set.
#include "calls.h"

#if MPI_VERSION >= 4

static int handled;

static void handler(MPI_Session* s, int* code, ...) {
  (void)s;
  int error_class;
  DO(MPI_Error_class(*code, &error_class), "errorcode:i errorclass:s", *code, "MPI_ERR_OTHER");
  ++handled;
}

#endif

int main(int argc, char** argv) {
#if MPI_VERSION < 4
  (void)argc, (void)argv;
  SKIP("no sessions in this MPI");
#else
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  MPI_Session s, old;
  MPI_Errhandler own, got, freed;
  MPI_Info info, gone;
  DO(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), "info:N errhandler:E session:X+",
     MPI_INFO_NULL, MPI_ERRORS_RETURN, s);
  DO(MPI_Session_create_errhandler(handler, &own), "errhandler:E+", own);
  DO(MPI_Session_set_errhandler(s, own), "session:X errhandler:E", s, own);
  DO(MPI_Session_call_errhandler(s, MPI_ERR_OTHER), "session:X errorcode:i", s, MPI_ERR_OTHER);
  EXPECT(handled == 1);
  DO(MPI_Session_get_errhandler(s, &got), "session:X errhandler:E", s, own);
  EXPECT(got == own);
  DO(MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN), "session:X errhandler:E", s,
     MPI_ERRORS_RETURN);
  freed = got;
  DO(MPI_Errhandler_free(&got), "errhandler:E-", freed);  // the other handle of it stays
  DO(MPI_Session_get_pset_info(s, "mpi://WORLD", &info), "session:X pset_name:s info:N+", s,
     "mpi://WORLD", info);
  gone = info;
  DO(MPI_Info_free(&info), "info:N-", gone);
  old = s;
  DO(MPI_Session_finalize(&s), "session:X-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
