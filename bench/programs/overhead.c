/* What one MPI call costs in a loop on one rank: a line "name nanoseconds_per_call" for each loop.
 *
 *   overhead [iterations [loop [multiple]]]      default 200000, all loops; with
 * MPI_THREAD_MULTIPLE
 *
 * A loop runs in pieces; the result is the mean of those that nothing interrupted: less than three
 * times as long as a quick one. A tenth more runs before. Run it with and without a tool, in turn,
 * and compare.
 */
#define _POSIX_C_SOURCE 200809L
#include <alloca.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kPieces = 200, kInterrupted = 3 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
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

/* No two calls have the same parameters, for the first 300007 of them; see new_signature.c. */
static int new_signature(void) {
  enum { kCountStride = 104729, kCounts = 300007, kTagStride = 7919, kTags = 32768 };
  static char buffer[kCounts];
  static long calls;
  ++calls;
  MPI_Send(buffer, (int)(calls * kCountStride % kCounts), MPI_BYTE, MPI_PROC_NULL,
           (int)(calls * kTagStride % kTags), MPI_COMM_WORLD);
  return 1;
}

/* Known calls in an order that nothing can expect. */
static int any_order(void) {
  enum { kTags = 16 };
  static unsigned state = 1;
  static int out;
  state = state * 1103515245u + 12345u;
  MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, (int)(state >> 16) % kTags, MPI_COMM_WORLD);
  return 1;
}

/* Calls from eight functions deep, whose stack begins elsewhere each time: no path was seen before
 * from there, and all return addresses are known. */
enum { kDepth = 8 };

static __attribute__((noinline)) void deep(int levels) {
  int rank;
  if (levels > 1)
    deep(levels - 1);
  else
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  __asm__ volatile("" ::: "memory");
}

static int new_stack(void) {
  enum { kPlaces = 8191, kStep = 16 };
  static int calls;
  volatile char* const room = alloca((size_t)(++calls % kPlaces + 1) * kStep);
  room[0] = 1;
  deep(kDepth - 2);
  return room[0];
}

static const char* only;

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

/* Everything that callgrind is to count: see bench/overhead.py. */
__attribute__((noinline)) void measured_piece(int (*body)(void), int iterations) {
  for (int i = 0; i < iterations; ++i) (void)body();
}

static void measure(const char* name, int (*body)(void), int iterations) {
  double piece[kPieces], sum = 0;
  int kept = 0;
  if (only != NULL && strcmp(only, name) != 0) return;
  const int calls = body() * (iterations / kPieces);
  for (int i = 0; i < kPieces / 10; ++i) measured_piece(body, iterations / kPieces);
  for (int i = 0; i < kPieces; ++i) {
    const double begin = now_ns();
    measured_piece(body, iterations / kPieces);
    piece[i] = now_ns() - begin;
  }
  qsort(piece, kPieces, sizeof piece[0], compare);
  while (kept < kPieces && piece[kept] < kInterrupted * piece[kPieces / 4]) sum += piece[kept++];
  printf("%s %.2f\n", name, sum / ((double)calls * kept));
}

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  if (argc > 3)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  else
    MPI_Init(&argc, &argv);
  const int iterations = argc > 1 ? atoi(argv[1]) : 200000;
  if (argc > 2) only = argv[2];
  measure("irecv_isend_waitall_self", self_message, iterations);
  measure("irecv_isend_waitall_proc_null", no_message, iterations);
  measure("allreduce_8_bytes", allreduce, iterations);
  measure("iprobe", iprobe, iterations);
  measure("comm_rank", comm_rank, iterations);
  measure("new_signature", new_signature, iterations);
  measure("any_order", any_order, iterations);
  measure("new_stack", new_stack, iterations);
  MPI_Finalize();
  return 0;
}
