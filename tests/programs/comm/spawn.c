// Dynamic processes: the parent's side is logged; the child is this same program.
#include "calls.h"

int main(int argc, char** argv) {
  if (argc > 1) {
    int value;
    MPI_Comm parent;
    unsetenv("REFRAIN_TEST_LOG");
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) return 4;
    MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return value == 42 ? 0 : 5;
  }
  int rank, size, value = 42, codes[2];
  log_init(&argc, &argv, &rank, &size);
  char* child[] = {"child", NULL};
  MPI_Comm inter, old;
  DO(MPI_Comm_spawn(argv[0], child, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
     "maxprocs:i root:r comm:C intercomm:C+", 1, 0, MPI_COMM_WORLD, inter, "@@child");
  const int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  L_Bcast(&value, 1, MPI_INT, root, inter);
  old = inter;
  DO(MPI_Comm_disconnect(&inter), "comm:C-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
