// Calls of MPI_Comm_rank from functions that MPI calls: operators of MPI_Reduce_local, one of which
// calls it again.
//
//   callback_paths DEPTH      prints "outermost > ... > innermost,COUNT" lines, without those of
//                             MPI; whatever DEPTH is, as those count
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kMaxFrames = 16, kMaxPaths = 16, kText = 1024 };

static const char* names[kMaxFrames];
static int lines[kMaxFrames], frames;
static char paths[kMaxPaths][kText];
static long counts[kMaxPaths];
static int path_count;
static MPI_Op operators[2];

static void count(void) {
  char text[kText] = "";
  size_t at = 0;
  for (int i = 0; i < frames; ++i)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s callback_paths.c:%d",
                           i == 0 ? "" : " > ", names[i], lines[i]);
  int p = 0;
  while (p < path_count && strcmp(paths[p], text) != 0) ++p;
  if (p == path_count) strcpy(paths[path_count++], text);
  ++counts[p];
}

#define APART __attribute__((noinline, noclone))
#define AT(call) (names[frames] = __func__, lines[frames++] = __LINE__, (call), --frames)

static APART void leaf(void) {
  int rank;
  AT((count(), MPI_Comm_rank(MPI_COMM_WORLD, &rank)));
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
  for (int p = 0; p < path_count; ++p) printf("%s,%ld\n", paths[p], counts[p]);
  MPI_Op_free(&operators[0]);
  MPI_Op_free(&operators[1]);
  MPI_Finalize();
  return 0;
}
