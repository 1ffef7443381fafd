// A thread whose last calls are the beginning of a loop that repeats: the grammar expects them, and
// has yet to write them down when MPI_Finalize comes. Then there is no memory for that.
//
//   last_calls LOOPS       each of five calls; the last one is left after three
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLoop = 5, kRest = 3 };

static void* poll(void* times) {
  const long calls = kLoop * *(long*)times + kRest;
  for (long i = 0; i < calls; ++i) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, (int)(i % kLoop), MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  long times = argc > 1 ? atol(argv[1]) : 100;
  int provided, rank, size;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (pthread_create(&thread, NULL, poll, &times) != 0 || pthread_join(thread, NULL) != 0) return 2;
  MPI_Barrier(MPI_COMM_WORLD);
  // From here on the preload no_memory.c refuses the recorder memory.
  void (*starve)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "refrain_test_starve");
  if (starve != NULL && rank == 1) starve();
  MPI_Finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
