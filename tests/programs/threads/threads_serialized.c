// MPI_THREAD_SERIALIZED: a lock of the program is around each call of MPI, and no trace tells of
// it.
#include <pthread.h>
#include <sched.h>

#include "calls.h"

enum { kThreads = 3, kRounds = 10 };
static int rank, size;
static pthread_mutex_t calling = PTHREAD_MUTEX_INITIALIZER;

static void* work(void* argument) {
  const int thread = *(const int*)argument;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  char name[24];
  snprintf(name, sizeof name, "thread%d", thread);
  log_thread(name);
  for (int i = 0; i < kRounds; ++i) {
    MPI_Request receive;
    MPI_Status st;
    int in = -1, flag = 0;
    pthread_mutex_lock(&calling);
    L_Irecv(&in, 1, MPI_INT, previous, thread, MPI_COMM_WORLD, &receive);
    L_Send(&i, 1, MPI_INT, next, thread, MPI_COMM_WORLD);
    pthread_mutex_unlock(&calling);
    while (!flag) {
      pthread_mutex_lock(&calling);
      DO(MPI_Test(&receive, &flag, &st), "request:R flag:f status:S", &receive, flag, &st);
      pthread_mutex_unlock(&calling);
      if (!flag) sched_yield();
    }
    EXPECT(in == i);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, numbers[kThreads];
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) SKIP("this MPI has no MPI_THREAD_SERIALIZED");
  log_thread("main");
  DID("MPI_Init_thread", "required:s", "MPI_THREAD_SERIALIZED");
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  for (int t = 0; t < kThreads; ++t) {
    numbers[t] = t;
    pthread_create(&threads[t], NULL, work, &numbers[t]);
  }
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
