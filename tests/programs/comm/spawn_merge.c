// Processes started by MPI_Comm_spawn become one with their parents: MPI_Intercomm_merge, and calls
// on what comes of it. The parents' side is logged; the child is this same program.
#include "calls.h"

static void child(void) {
  int value = 1, sum = 0, size = 0;
  MPI_Comm parent, all, dup;
  unsetenv("REFRAIN_TEST_LOG");
  MPI_Init(NULL, NULL);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) exit(4);
  MPI_Intercomm_merge(parent, 1, &all);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_dup(all, &dup);
  MPI_Comm_size(dup, &size);
  if (sum != size) exit(5);
  MPI_Barrier(dup);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  exit(0);
}

int main(int argc, char** argv) {
  if (argc > 1) child();
  int rank, size, sum = 0, one = 1, all_size = 0;
  log_init(&argc, &argv, &rank, &size);
  char* words[] = {"child", NULL};
  MPI_Comm inter, all, dup, old;
  DO(MPI_Comm_spawn(argv[0], words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                    MPI_ERRCODES_IGNORE),
     "maxprocs:i root:r comm:C intercomm:C+", 2, 0, MPI_COMM_WORLD, inter, "@@child");
  DO(MPI_Intercomm_merge(inter, 0, &all), "intercomm:C high:i newintracomm:C+", inter, 0, all,
     "@@all");
  L_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  DO(MPI_Comm_dup(all, &dup), "comm:C newcomm:C+", all, dup, "@@dup");
  L_Comm_size(dup, &all_size);
  EXPECT(sum == size + 2 && all_size == sum);
  L_Barrier(dup);
  L_Comm_free(&dup);
  L_Comm_free(&all);
  old = inter;
  DO(MPI_Comm_disconnect(&inter), "comm:C-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
