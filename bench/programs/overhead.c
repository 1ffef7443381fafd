/* What one MPI call costs in a loop on one rank: a line "name nanoseconds_per_call" for each loop.
 *
 *   overhead [iterations]      default 200000
 *
 * Thread CPU time, so that other processes on the machine count less; the first tenth of each loop
 * is not measured. Run it with and without a tool, in turn, and compare.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int self_message(void) {
  static int in, out;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(&in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  return 3;
}

static int no_message(void) {
  static int in, out;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  return 3;
}

static int allreduce(void) {
  static double in, out;
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return 1;
}

static int iprobe(void) {
  int flag;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &flag, &status);
  return 1;
}

static int comm_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return 1;
}

static void measure(const char* name, int (*body)(void), int iterations) {
  long calls = 0;
  for (int i = 0; i < iterations / 10; ++i) (void)body();
  const double begin = now_ns();
  for (int i = 0; i < iterations; ++i) calls += body();
  printf("%s %.2f\n", name, (now_ns() - begin) / (double)calls);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int iterations = argc > 1 ? atoi(argv[1]) : 200000;
  measure("irecv_isend_waitall_self", self_message, iterations);
  measure("irecv_isend_waitall_proc_null", no_message, iterations);
  measure("allreduce_8_bytes", allreduce, iterations);
  measure("iprobe", iprobe, iterations);
  measure("comm_rank", comm_rank, iterations);
  MPI_Finalize();
  return 0;
}
