// One job of two commands: MPI_Comm_spawn_multiple. The parents' side is logged; the children are
// this same program.
#include "calls.h"

static int child(char** argv) {
  int value = 0, rank = -1, size = 0;
  unsetenv("REFRAIN_TEST_LOG");
  MPI_Init(NULL, NULL);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) return 4;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Bcast(&value, 1, MPI_INT, 0, parent);
  // Each command has its own words.
  const int good = size == 3 && value == 42 && strcmp(argv[1], rank == 0 ? "first" : "second") == 0;
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return good ? 0 : 5;
}

int main(int argc, char** argv) {
  if (argc > 1) return child(argv);
  int rank, size, value = 42, codes[3];
  log_init(&argc, &argv, &rank, &size);
  char *first[] = {"first", NULL}, *second[] = {"second", "more", NULL};
  char *commands[] = {argv[0], argv[0]}, **words[] = {first, second};
  const int processes[] = {1, 2};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter, old;
  DO(MPI_Comm_spawn_multiple(2, commands, words, processes, infos, 0, MPI_COMM_WORLD, &inter,
                             codes),
     "count:i root:r comm:C intercomm:C+", 2, 0, MPI_COMM_WORLD, inter, "@@children");
  int n = 0;
  DO(MPI_Comm_remote_size(inter, &n), "comm:C size:i", inter, 3);
  EXPECT(n == 3 && codes[0] == MPI_SUCCESS && codes[2] == MPI_SUCCESS);
  const int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  L_Bcast(&value, 1, MPI_INT, root, inter);
  old = inter;
  DO(MPI_Comm_disconnect(&inter), "comm:C-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
