// MPI 4 sessions beside the world: a communicator from a process set.
#include "calls.h"

int main(int argc, char** argv) {
#if MPI_VERSION < 4
  (void)argc, (void)argv;
  SKIP("no sessions in this MPI");
#else
  int rank, size, n, length = 0, flag;
  MPI_Session s, old;
  MPI_Group g;
  MPI_Comm c;
  MPI_Info info, old_info;
  log_init(&argc, &argv, &rank, &size);
  for (int round = 0; round < 2; ++round) {
    DO(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), "info:N errhandler:E session:X+",
       MPI_INFO_NULL, MPI_ERRORS_RETURN, s);
    DO(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n), "session:X info:N npset_names:i", s,
       MPI_INFO_NULL, n);
    char name[256];
    length = sizeof name;
    DO(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &length, name), "session:X n:i pset_name:s", s,
       0, name);
    DO(MPI_Session_get_info(s, &info), "session:X info_used:N+", s, info);
    old_info = info;
    DO(MPI_Info_free(&info), "info:N-", old_info);
    DO(MPI_Group_from_session_pset(s, "mpi://WORLD", &g), "session:X pset_name:s newgroup:G+", s,
       "mpi://WORLD", g);
    DO(MPI_Comm_create_from_group(g, "refrain.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
       "group:G stringtag:s info:N errhandler:E newcomm:C+", g, "refrain.test", MPI_INFO_NULL,
       MPI_ERRORS_RETURN, c, "@@session");
    L_Group_free(&g);
    L_Comm_size(c, &n);
    EXPECT(n == size);
    int one = 1, sum;
    L_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
    L_Comm_free(&c);
    old = s;
    DO(MPI_Session_finalize(&s), "session:X-", old);
  }
  DO(MPI_Initialized(&flag), "flag:i", 1);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
