// MPI_THREAD_MULTIPLE with epochs of one window in several threads. A process may have one epoch at
// a time for each target: here each thread that opens some ends before the next one begins, which
// no trace tells.
#include <pthread.h>

#include "calls.h"

enum { kGenerations = 3, kThreads = 2, kRounds = 8 };
static int rank, size;
static MPI_Win win;
static MPI_Comm comms[kThreads];

static void add(int value) {
  int old = 0;
  DO(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), "lock_type:s rank:r win:W", "MPI_LOCK_SHARED", 0,
     win);
  DO(MPI_Fetch_and_op(&value, &old, MPI_INT, 0, 0, MPI_SUM, win),
     "datatype:D target_rank:r target_disp:i op:O win:W", MPI_INT, 0, 0, MPI_SUM, win);
  DO(MPI_Win_unlock(0, win), "rank:r win:W", 0, win);
}

static void* work(void* argument) {
  const int number = *(const int*)argument, thread = number % kThreads;
  char name[24];
  snprintf(name, sizeof name, "thread%d", number);
  log_thread(name);
  for (int i = 0; i < kRounds; ++i) {
    int sum = 0;
    L_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[thread]);
    EXPECT(sum == size * i);
    if (thread == 0) add(1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int *base, numbers[kGenerations * kThreads];
  L_Init_multiple(argc, argv);
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  DO(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
     "size:i disp_unit:i comm:C win:W+", 4, 4, MPI_COMM_WORLD, win);
  *base = 0;
  for (int t = 0; t < kThreads; ++t)
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]), "comm:C newcomm:C+", MPI_COMM_WORLD, comms[t],
       t ? "@@b" : "@@a");
  L_Barrier(MPI_COMM_WORLD);
  for (int g = 0; g < kGenerations; ++g) {
    pthread_t threads[kThreads];
    for (int t = 0; t < kThreads; ++t) {
      numbers[g * kThreads + t] = g * kThreads + t;
      pthread_create(&threads[t], NULL, work, &numbers[g * kThreads + t]);
    }
    for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  }
  L_Barrier(MPI_COMM_WORLD);
  EXPECT(rank != 0 || *base == size * kGenerations * kRounds);
  for (int t = 0; t < kThreads; ++t) L_Comm_free(&comms[t]);
  L_Win_free(&win);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
