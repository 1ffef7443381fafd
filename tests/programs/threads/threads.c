// MPI_THREAD_MULTIPLE: three threads of each rank exchange messages on tags of their own, with
// communicators and requests of their own.
#include <pthread.h>

#include "calls.h"

enum { kThreads = 3, kRounds = 40 };
static int rank, size;
static MPI_Comm comms[kThreads];

static void* work(void* argument) {
  const int t = *(int*)argument;
  char name[16];
  snprintf(name, sizeof name, "t%d", t);
  log_thread(name);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < kRounds; ++i) {
    static __thread int out[2], in[2];
    static __thread MPI_Request r[2];
    MPI_Status st[2];
    out[0] = rank * 1000 + t * 100 + i;
    L_Irecv(in, 1, MPI_INT, from, 10 + t, comms[t], &r[0]);
    L_Isend(out, 1, MPI_INT, to, 10 + t, comms[t], &r[1]);
    L_Waitall(2, r, st);
    EXPECT(in[0] == from * 1000 + t * 100 + i);
    L_Send(out, t + 1, MPI_INT, to, 20 + t, MPI_COMM_WORLD);
    int three[4];
    L_Recv(three, t + 1, MPI_INT, from, 20 + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  L_Init_multiple(argc, argv);
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int t = 0; t < kThreads; ++t) {
    char alias[16];
    snprintf(alias, sizeof alias, "@@thread%d", t);
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]), "comm:C newcomm:C+", MPI_COMM_WORLD, comms[t],
       alias);
    int same;
    L_Comm_rank(comms[t], &same);
    EXPECT(same == rank);
  }
  for (int t = 0; t < kThreads; ++t) {
    numbers[t] = t;
    pthread_create(&threads[t], NULL, work, &numbers[t]);
  }
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < kThreads; ++t) L_Comm_free(&comms[t]);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
