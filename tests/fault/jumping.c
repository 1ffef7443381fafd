// A timer whose handler jumps out of whatever is under way, a thousand times: out of the program,
// out of MPI_Comm_rank (which holds nothing that could be left behind), and out of the recorder.
//
//   jumping TIMES
//
// Prints "rank R: N returned, T jumps" at the end, N being the calls of MPI_Comm_rank that returned
// while the timer ran.
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static sigjmp_buf back;
static volatile long returned, jumps;

static void on_alarm(int number) {
  ++jumps;
  siglongjmp(back, number);
}

// Never a multiple of anything, so that the jumps come from everywhere.
static void set_timer(void) {
  struct itimerval timer = {{0, 0}, {0, 101 + (jumps * 37) % 211}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char** argv) {
  const long times = argc > 1 ? atol(argv[1]) : 1000;
  int rank, size, from = -1;
  MPI_Init(&argc, &argv);
  signal(SIGALRM, on_alarm);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sigsetjmp(back, 1);
  if (jumps < times) {
    set_timer();
    for (;;) {
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      ++returned;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i)
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, i % 3, &from, 1, MPI_INT,
                 (rank + size - 1) % size, i % 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  if (from != (rank + size - 1) % size) return 3;
  printf("rank %d: %ld returned, %ld jumps\n", rank, returned, jumps);
  return 0;
}
