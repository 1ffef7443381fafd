// A program of sessions: no MPI_Init.
//
//   two_sessions [leave]      one session inside another; "leave": ends with the outer one open
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  (void)argc, (void)argv;
#if MPI_VERSION >= 4
  MPI_Session outer, inner;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &outer);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &inner);
  MPI_Group_from_session_pset(inner, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "two", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Barrier(comm);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&inner);
  if (argc > 1) exit(0);
  MPI_Session_finalize(&outer);
#endif
  return 0;
}
