// Rank by rank, fibers that exchange numbers, each on a small stack of its own: prints the most
// bytes of such a stack that were used, and what was received in all.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { kFibers = 20, kRounds = 10, kStack = 65536, kPaint = 0xa5 };

static ucontext_t scheduler, fibers[kFibers];
static unsigned char* stacks[kFibers];
static int is_over[kFibers], received[kFibers], rank, size;

static void exchange(int fiber) {
  for (int round = 0; round < kRounds; ++round) {
    int out = fiber, in = 0, done = 0;
    MPI_Request requests[2];
    MPI_Datatype type;
    MPI_Type_contiguous(1 + round % 3, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, fiber, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, fiber, MPI_COMM_WORLD, &requests[1]);
    do {
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
      if (!done) swapcontext(&fibers[fiber], &scheduler);
    } while (!done);
    received[fiber] += in;
  }
  is_over[fiber] = 1;
}

static int deepest(void) {
  int most = 0;
  for (int i = 0; i < kFibers; ++i) {
    int unused = 0;
    while (unused < kStack && stacks[i][unused] == kPaint) ++unused;
    if (kStack - unused > most) most = kStack - unused;
  }
  return most;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < kFibers; ++i) {
    stacks[i] = memset(malloc(kStack), kPaint, kStack);
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = stacks[i];
    fibers[i].uc_stack.ss_size = kStack;
    fibers[i].uc_link = &scheduler;
    makecontext(&fibers[i], (void (*)(void))exchange, 1, i);
  }
  int open = kFibers, sum = 0;
  while (open > 0) {
    open = 0;
    for (int i = 0; i < kFibers; ++i)
      if (!is_over[i]) ++open, swapcontext(&scheduler, &fibers[i]);
  }
  for (int i = 0; i < kFibers; ++i) sum += received[i];
  printf("rank %d: sum %d, stack %d\n", rank, sum, deepest());
  MPI_Finalize();
  return 0;
}
