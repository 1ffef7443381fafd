// Calls of MPI_Comm_rank from the ends of random trees of functions, counted by path.
//
//   call_paths DEPTH      what --callpath was: prints "outermost > ... > innermost COUNT" lines
//
// The functions differ in how their frames are found: with and without a frame pointer, with memory
// from alloca, through a pointer, recursive, at changing stack depths, and with every register in
// use (rbp included).
#include <alloca.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxFrames = 64, kMaxPaths = 20000, kText = 1024 };

static const char* names[kMaxFrames];
static int lines[kMaxFrames], frames, depth_kept;
static char (*paths)[kText];
static long counts[kMaxPaths];
static int path_count;
static unsigned state = 12345;

static unsigned next(unsigned below) {
  state = state * 1103515245u + 12345u;
  return (state >> 16) % below;
}

// The path as the recorder should name it: the innermost `depth_kept` sites.
static void count(void) {
  char text[kText] = "";
  size_t at = 0;
  const int first = frames > depth_kept ? frames - depth_kept : 0;
  for (int i = first; i < frames; ++i)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s call_paths.c:%d",
                           i == first ? "" : " > ", names[i], lines[i]);
  int p = 0;
  while (p < path_count && strcmp(paths[p], text) != 0) ++p;
  if (p == path_count) strcpy(paths[path_count++], text);
  ++counts[p];
}

#define APART __attribute__((noinline, noclone))
#define AT(call) (names[frames] = __func__, lines[frames++] = __LINE__, (call), --frames)

static int rank_seen;
#define RANK() AT((count(), MPI_Comm_rank(MPI_COMM_WORLD, &rank_seen)))

static APART void leaf_one(int n) {
  for (int i = 0; i < n; ++i) RANK();
  __asm__ volatile("" ::: "memory");
}

static APART void leaf_two(int n) {
  RANK();
  for (int i = 0; i < n; ++i) RANK();
  __asm__ volatile("" ::: "memory");
}

static APART void tree(int budget);

static APART void with_alloca(int budget) {
  char* room = alloca(16 + 16 * next(8));
  memset(room, 1, 16);
  AT(tree(budget - 1));
  __asm__ volatile("" ::"r"(room) : "memory");
}

static APART void with_registers(int budget) {
  long a = next(9), b = a + 1, c = b * 3, d = c ^ a, e = d + 5;
  for (int i = 0; i < 2; ++i) {
    AT(tree(budget - 1));
    a += b * i, b ^= c, c += d, d -= e, e += a;
  }
  __asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(e) : "memory");
}

static APART void again(int budget) {
  if (budget > 1)
    AT(again(budget - 1));
  else
    AT(leaf_one(2));
  __asm__ volatile("" ::: "memory");
}

static APART void tree(int budget) {
  static void (*const chosen[])(int) = {with_alloca, with_registers, again};
  if (budget <= 0) {
    AT(leaf_two((int)next(4)));
  } else {
    AT(chosen[next(3)](budget));
    if (next(2) == 0) AT(leaf_one((int)next(5)));
  }
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  depth_kept = argc > 1 ? atoi(argv[1]) : 8;
  paths = calloc(kMaxPaths, sizeof *paths);
  for (int round = 0; round < 300; ++round) {
    if (next(3) == 0) {
      AT(tree((int)next(4)));
    } else {
      for (int i = 0; i < 20; ++i) AT(leaf_two(3));
    }
  }
  for (int p = 0; p < path_count; ++p) printf("%s,%ld\n", paths[p], counts[p]);
  free(paths);
  MPI_Finalize();
  return 0;
}
