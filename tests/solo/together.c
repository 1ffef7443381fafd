/* Rank 1 begins late, and computes before it sends; rank 0 waits for it in MPI. Both print when,
 * by the clock of the machine: runs at the same time can be compared.
 *
 * TOGETHER_EXIT=1: rank 1 ends before MPI_Init. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pass(double seconds) {
  const double until = now() + seconds;
  while (now() < until) continue;
}

int main(int argc, char** argv) {
  const char* number = getenv("PMI_RANK");
  if (number == NULL) number = getenv("OMPI_COMM_WORLD_RANK");
  const int is_late = number != NULL && atoi(number) == 1;
  if (is_late && getenv("TOGETHER_EXIT") != NULL) return 7;
  if (is_late) pass(0.3);
  const double before_init = now();
  MPI_Init(&argc, &argv);
  const double after_init = now();
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) pass(0.3);
  const double before_message = now();
  if (rank == 1)
    MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  else if (rank == 0)
    MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double after_message = now();
  MPI_Finalize();
  printf("rank %d: %.9f %.9f %.9f %.9f\n", rank, before_init, after_init, before_message,
         after_message);
  return 0;
}
