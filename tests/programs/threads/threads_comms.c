// MPI_THREAD_MULTIPLE: three threads of each rank make and free communicators at the same time,
// each out of one of its own, in an order that differs from rank to rank. Every communicator must
// have one name on all ranks, and no two that are alive at once may share one.
#include <pthread.h>
#include <unistd.h>

#include "calls.h"

enum { kThreads = 3, kRounds = 12, kAlive = 4 };
static int rank, size;
static MPI_Comm own[kThreads];
static pthread_barrier_t all_alive;

struct Pair {
  MPI_Comm dup, split;
};

static void make(int t, int i, struct Pair* pair) {
  char alias[32];
  snprintf(alias, sizeof alias, "@@t%d.dup%d", t, i);
  DO(MPI_Comm_dup(own[t], &pair->dup), "comm:C newcomm:C+", own[t], pair->dup, alias);
  usleep((unsigned)(rank * 37 + t * 101 + i * 53) % 300);
  snprintf(alias, sizeof alias, "@@t%d.split%d", t, i);
  DO(MPI_Comm_split(pair->dup, 0, -rank, &pair->split), "comm:C color:i key:i newcomm:C+",
     pair->dup, 0, -rank, pair->split, alias);
  L_Barrier(pair->split);
}

static void end(struct Pair* pair) {
  L_Comm_free(&pair->dup);
  L_Comm_free(&pair->split);
}

// The aliases of everything that all threads have made in the last rounds and not freed.
static const char* alive(int last) {
  static __thread char text[2048];
  char* p = text;
  *p++ = '[';
  for (int t = 0; t < kThreads; ++t) {
    p += sprintf(p, "%s\"@@own%d\"", t ? "," : "", t);
    for (int i = last - kAlive + 1; i <= last; ++i)
      p += sprintf(p, ",\"@@t%d.dup%d\",\"@@t%d.split%d\"", t, i, t, i);
  }
  strcpy(p, "]");
  return text;
}

static void* work(void* argument) {
  const int t = *(int*)argument;
  char name[16];
  snprintf(name, sizeof name, "t%d", t);
  log_thread(name);
  struct Pair pairs[kAlive];
  for (int i = 0; i < kRounds; ++i) {
    if (i >= kAlive) end(&pairs[i % kAlive]);
    make(t, i, &pairs[i % kAlive]);
    if (i % 4 != 3) continue;
    // Nobody frees anything between the two.
    pthread_barrier_wait(&all_alive);
    int n;
    DO(MPI_Comm_size(own[t], &n), "comm:C size:i =alive:j", own[t], n, alive(i));
    pthread_barrier_wait(&all_alive);
  }
  for (int i = 0; i < kAlive; ++i) end(&pairs[i]);
  return NULL;
}

int main(int argc, char** argv) {
  L_Init_multiple(argc, argv);
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t threads[kThreads];
  int numbers[kThreads];
  pthread_barrier_init(&all_alive, NULL, kThreads);
  for (int t = 0; t < kThreads; ++t) {
    char alias[16];
    snprintf(alias, sizeof alias, "@@own%d", t);
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &own[t]), "comm:C newcomm:C+", MPI_COMM_WORLD, own[t], alias);
  }
  for (int t = 0; t < kThreads; ++t) {
    numbers[t] = t;
    pthread_create(&threads[t], NULL, work, &numbers[t]);
  }
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < kThreads; ++t) L_Comm_free(&own[t]);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
