// A program of sessions alone: no MPI_Init, no MPI_Finalize, no MPI_COMM_WORLD.
#include "calls.h"

int main(void) {
#if MPI_VERSION < 4
  SKIP("no sessions in this MPI");
#else
  int n, me, sum, one = 1;
  MPI_Session s, old;
  MPI_Group g;
  MPI_Comm c;
  DO(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), "info:N errhandler:E session:X+",
     MPI_INFO_NULL, MPI_ERRORS_RETURN, s);
  DO(MPI_Group_from_session_pset(s, "mpi://WORLD", &g), "session:X pset_name:s newgroup:G+", s,
     "mpi://WORLD", g);
  DO(MPI_Comm_create_from_group(g, "refrain.alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
     "group:G stringtag:s newcomm:C+", g, "refrain.alone", c, "@@session");
  L_Group_free(&g);
  L_Comm_rank(c, &me);
  L_Comm_size(c, &n);
  L_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
  EXPECT(sum == n);
  L_Comm_free(&c);
  old = s;
  DO(MPI_Session_finalize(&s), "session:X-", old);
  printf("rank %d of %d done\n", me, n);
  return 0;
#endif
}
