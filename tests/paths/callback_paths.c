// Calls of MPI_Comm_rank from functions that MPI calls: operators of MPI_Reduce_local, one of which
// calls it again.
//
//   callback_paths DEPTH      prints "outermost > ... > innermost,COUNT" lines, without those of
//                             MPI; whatever DEPTH is, as those count
#include <mpi.h>

#include "own_paths.h"

static MPI_Op operators[2];

static APART void leaf(void) {
  int rank;
  AT((count_path("callback_paths.c", kMaxFrames), MPI_Comm_rank(MPI_COMM_WORLD, &rank)));
  __asm__ volatile("" ::: "memory");
}

static APART void reduce(int which) {
  int in = 1, out = 2;
  AT(MPI_Reduce_local(&in, &out, 1, MPI_INT, operators[which]));
  __asm__ volatile("" ::: "memory");
}

static void inner(void* in, void* out, int* n, MPI_Datatype* type) {
  (void)in, (void)out, (void)n, (void)type;
  AT(leaf());
}

static void outer(void* in, void* out, int* n, MPI_Datatype* type) {
  (void)in, (void)out, (void)n, (void)type;
  AT(leaf());
  AT(reduce(0));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Op_create(inner, 1, &operators[0]);
  MPI_Op_create(outer, 1, &operators[1]);
  for (int i = 0; i < 20; ++i) {
    AT(reduce(0));
    AT(reduce(1));
    AT(leaf());
  }
  print_paths();
  MPI_Op_free(&operators[0]);
  MPI_Op_free(&operators[1]);
  MPI_Finalize();
  return 0;
}
