// A library that is loaded where another one was: unload.c loads two that are compiled from this
// file, with other names and frames of another size, and the same code otherwise, so that their
// return addresses are the same.
#include <mpi.h>

#define APART __attribute__((noinline, noclone))
#define NAMED(name, part) name##_##part
#define NAME(name, part) NAMED(name, part)

void NAME(part_leaf, PART)(void);
void part_call(int* sum);

APART void NAME(part_leaf, PART)(void) {
  int seen = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &seen);
  __asm__ volatile("" ::: "memory");
}

APART static void NAME(part_middle, PART)(int* sum) {
  volatile char room[PART_ROOM];
  room[*sum & 7] = 1;
  NAME(part_leaf, PART)();
  *sum += room[*sum & 7];
}

APART void part_call(int* sum) {
  NAME(part_middle, PART)(sum);
  __asm__ volatile("" ::: "memory");
}
