// Calls of MPI_Comm_rank from the ends of random trees of functions, counted by path.
//
//   call_paths DEPTH      what --callpath was: prints "outermost > ... > innermost COUNT" lines
//
// The functions differ in how their frames are found: with and without a frame pointer, with memory
// from alloca, through a pointer, recursive, at changing stack depths, and with every register in
// use (rbp included).
#include <alloca.h>
#include <mpi.h>

#include "own_paths.h"

static int depth_kept;
static unsigned state = 12345;

static unsigned next(unsigned below) {
  state = state * 1103515245u + 12345u;
  return (state >> 16) % below;
}

static int rank_seen;
#define RANK() \
  AT((count_path("call_paths.c", depth_kept), MPI_Comm_rank(MPI_COMM_WORLD, &rank_seen)))

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
  for (int round = 0; round < 300; ++round) {
    if (next(3) == 0) {
      AT(tree((int)next(4)));
    } else {
      for (int i = 0; i < 20; ++i) AT(leaf_two(3));
    }
  }
  print_paths();
  MPI_Finalize();
  return 0;
}
