// MPI_THREAD_MULTIPLE with a thread that uses communicators which another one makes and frees, one
// after the other: of all ranks, then of every second one. The second one gets the name of the
// first, and which of them a call of the thread means, a trace without times says by their members
// alone.
#include <pthread.h>

#include "calls.h"

enum { kTurns = 3 };
static int rank, size;
static MPI_Comm shared;
static pthread_barrier_t meet;

static void* work(void* argument) {
  (void)argument;
  log_thread("user");
  for (int members = size;; members = (size + 1 - rank % 2) / 2) {
    pthread_barrier_wait(&meet);  // it is made
    for (int i = 0; i < kTurns; ++i) {
      int value = 1, sum = 0;
      L_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, shared);
      EXPECT(sum == members);
    }
    L_Barrier(shared);
    pthread_barrier_wait(&meet);
    if (members != size || size == 1) return NULL;
  }
}

int main(int argc, char** argv) {
  L_Init_multiple(argc, argv);
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  pthread_barrier_init(&meet, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < 2; ++i) {
    const char* alias = i == 0 ? "@@first" : "@@second";
    const int color = i == 0 ? 0 : rank % 2;
    DO(MPI_Comm_split(MPI_COMM_WORLD, color, rank, &shared), "comm:C color:i key:i newcomm:C+",
       MPI_COMM_WORLD, color, rank, shared, alias);
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);  // it is not used any more
    L_Comm_free(&shared);
  }
  pthread_join(thread, NULL);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
