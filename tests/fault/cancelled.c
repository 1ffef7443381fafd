// Threads that are cancelled, and go on to a place of their own choice: their calls of MPI are not
// such places. Each holds a lock meanwhile, and has no handler that would give it back.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 6, kCalls = 3000, kBytes = 65521 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char bytes[kBytes];
static int calls;

static void* work(void* unused) {
  pthread_mutex_lock(&lock);
  pthread_cancel(pthread_self());
  for (int i = 0; i < kCalls; ++i, ++calls) {
    const int count = (int)((long)calls * 7919 % kBytes);  // no two calls are alike
    MPI_Send(bytes, count, MPI_BYTE, MPI_PROC_NULL, calls % 32768, MPI_COMM_WORLD);
  }
  pthread_mutex_unlock(&lock);
  pthread_testcancel();
  return unused;
}

int main(int argc, char** argv) {
  int rank, level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int cancelled = 0, stuck = 0;
  for (int i = 0; level == MPI_THREAD_MULTIPLE && i < kThreads; ++i) {
    pthread_t thread;
    void* end = NULL;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, &end);
    cancelled += end == PTHREAD_CANCELED;
    if (pthread_mutex_trylock(&lock) != 0) {
      ++stuck;
      break;
    }
    pthread_mutex_unlock(&lock);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d: %d cancelled, %d calls, %d stuck\n", rank, cancelled, calls, stuck);
  fflush(stdout);
  MPI_Finalize();
  return level == MPI_THREAD_MULTIPLE ? 0 : 77;
}
