// MPI begins and ends several times: session after session, each with communicators of its own.
//
//   session_cycles alone     sessions are all there is
//   session_cycles uneven    rank 0 has one more than the others
//   session_cycles before    the world comes after two of them, and has the last word
//   session_cycles around    a session is there before the world, and still when that has gone
//
// MPICH 4.0.2 crashes when it begins once more after its last session: one session of its own,
// which the program gets from the library itself so that nobody sees it, keeps MPI up.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "calls.h"

#if MPI_VERSION >= 4
static MPI_Session keeper;

static void* unseen(const char* name) {
  void* const library = dlopen(MPI_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  void* const function = library == NULL ? NULL : dlsym(library, name);
  EXPECT(function != NULL);
  return function;
}

static void keep_up(void) {
  __typeof__(&PMPI_Session_init) init = (__typeof__(init))unseen("PMPI_Session_init");
  EXPECT(init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &keeper) == MPI_SUCCESS);
}

static void let_go(void) {
  __typeof__(&PMPI_Session_finalize) end = (__typeof__(end))unseen("PMPI_Session_finalize");
  EXPECT(end(&keeper) == MPI_SUCCESS);
}

static void world(void) {
  int me, size;
  log_init(NULL, NULL, &me, &size);
  L_Barrier(MPI_COMM_WORLD);
  log_finalize();
}

static void cycle(int number, const char* set, int around) {
  int n, me, sum, one = 1;
  char tag[32];
  MPI_Session s, old;
  MPI_Group g;
  MPI_Comm c;
  DO(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), "info:N errhandler:E session:X+",
     MPI_INFO_NULL, MPI_ERRORS_RETURN, s);
  DO(MPI_Group_from_session_pset(s, set, &g), "session:X pset_name:s newgroup:G+", s, set, g);
  snprintf(tag, sizeof tag, "refrain.cycle%d", number);
  DO(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
     "group:G stringtag:s newcomm:C+", g, tag, c,
     strcmp(set, "mpi://SELF") == 0 ? "@self" : "@@session");
  L_Group_free(&g);
  L_Comm_rank(c, &me);
  L_Comm_size(c, &n);
  for (int i = 0; i <= number; ++i) L_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
  EXPECT(sum == n);
  if (n > 1) {
    int in = -1;
    MPI_Request r[2];
    MPI_Status st[2];
    L_Irecv(&in, 1, MPI_INT, (me + n - 1) % n, number, c, &r[0]);
    L_Isend(&me, 1, MPI_INT, (me + 1) % n, number, c, &r[1]);
    L_Waitall(2, r, st);
    EXPECT(in == (me + n - 1) % n);
  }
  if (around) {
    world();
    L_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
  }
  L_Comm_free(&c);
  old = s;
  DO(MPI_Session_finalize(&s), "session:X-", old);
}
#endif

int main(int argc, char** argv) {
#if MPI_VERSION < 4
  (void)argc, (void)argv;
  SKIP("no sessions in this MPI");
#else
  EXPECT(argc == 2);
  const char* const way = argv[1];
  const char* const rank = getenv("PMI_RANK");
  keep_up();
  for (int i = 0; i < 2; ++i) cycle(i, "mpi://WORLD", 0);
  if (strcmp(way, "before") == 0) world();
  if (strcmp(way, "alone") == 0) cycle(2, "mpi://WORLD", 0);
  if (strcmp(way, "around") == 0) cycle(2, "mpi://WORLD", 1);
  if (strcmp(way, "uneven") == 0 && strcmp(rank, "0") == 0) cycle(3, "mpi://SELF", 0);
  let_go();
  printf("rank %s done\n", rank);
  return 0;
#endif
}
