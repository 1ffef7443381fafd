// MPI_THREAD_MULTIPLE, four threads a rank, each with a communicator, requests and messages of its
// own: first a loop that is the same each time, then the same calls in an order that no grammar
// foresees. After a while nothing in either is new; tests/race/locks.py then counts the locks that
// the recorder takes, and gives the number of rounds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "calls.h"

enum { kThreads = 4, kKinds = 6, kTags = 3, kMaxRanks = 64 };
static int rank, size, rounds = 20;
static unsigned long (*locks)(void);

static struct Lane {
  pthread_t thread;
  MPI_Comm comm;
  MPI_Request persistent[2];
  int number, out[4], in[kMaxRanks];
  unsigned long locks_to_warm_up, locks_in_loop, locks_in_disorder;
} lanes[kThreads];

static int next(void) { return (rank + 1) % size; }
static int previous(void) { return (rank + size - 1) % size; }

static void post(struct Lane* l, int tag, MPI_Request* r) {
  L_Irecv(l->in, 1, MPI_INT, previous(), tag, l->comm, &r[0]);
  L_Isend(l->out, 1, MPI_INT, next(), tag, l->comm, &r[1]);
}

static void call(struct Lane* l, int kind, int tag) {
  MPI_Request r[2];
  MPI_Status st[2];
  switch (kind) {
    case 0:
      post(l, tag, r);
      L_Waitall(2, r, st);
      break;
    case 1:
      post(l, tag, r);
      L_Wait(&r[1], &st[1]);
      L_Wait(&r[0], &st[0]);
      break;
    case 2:
      DO(MPI_Startall(2, l->persistent), "count:i array_of_requests:A", 2, 2, l->persistent);
      L_Waitall(2, l->persistent, st);
      break;
    case 3: L_Allreduce(l->out, l->in, 1, MPI_INT, MPI_SUM, l->comm); break;
    case 4: {
      int counts[kMaxRanks], places[kMaxRanks], out[kMaxRanks];
      for (int i = 0; i < size; ++i) counts[i] = 1, places[i] = i, out[i] = rank;
      DO(MPI_Alltoallv(out, counts, places, MPI_INT, l->in, counts, places, MPI_INT, l->comm),
         "sendcounts:V sendtype:D comm:C", size, counts, MPI_INT, l->comm);
      for (int i = 0; i < size; ++i) EXPECT(l->in[i] == i);
      break;
    }
    default:
      L_Isend(l->out, 1, MPI_INT, next(), tag, l->comm, &r[0]);
      L_Recv(l->in, 1, MPI_INT, previous(), tag, l->comm, &st[0]);
      L_Wait(&r[0], MPI_STATUS_IGNORE);
  }
}

// The same on all ranks.
static unsigned next_number(unsigned* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

static unsigned long locks_so_far(void) { return locks == NULL ? 0 : locks(); }

static void* work(void* argument) {
  struct Lane* l = argument;
  char name[16];
  snprintf(name, sizeof name, "t%d", l->number);
  log_thread(name);
  DO(MPI_Recv_init(l->in, 1, MPI_INT, previous(), 40, l->comm, &l->persistent[0]),
     kRecvSpec " request:R+", 1, MPI_INT, previous(), 40, l->comm, &l->persistent[0]);
  DO(MPI_Send_init(l->out, 1, MPI_INT, next(), 40, l->comm, &l->persistent[1]),
     kSendSpec " request:R+", 1, MPI_INT, next(), 40, l->comm, &l->persistent[1]);
  unsigned state = (unsigned)l->number + 1;
  unsigned long before_loop = 0, before_disorder = 0;
  const int all = kKinds * kTags;
  // All kinds in order, with what is new in them; the loop; then in disorder. One place for all.
  for (int i = 0; i < 2 * all + 2 * rounds; ++i) {
    if (i == 2 * all) before_loop = locks_so_far();
    if (i == 2 * all + rounds) before_disorder = locks_so_far();
    const int in_order = i < 2 * all, in_loop = !in_order && i < 2 * all + rounds;
    const unsigned random = next_number(&state);
    const int kind = in_order ? i / kTags % kKinds : in_loop ? 0 : (int)(random % kKinds);
    const int tag = in_order ? i % kTags : in_loop ? 0 : (int)(random / kKinds % kTags);
    call(l, kind, tag);
  }
  l->locks_to_warm_up = before_loop;
  l->locks_in_loop = before_disorder - before_loop;
  l->locks_in_disorder = locks_so_far() - before_disorder;
  for (int i = 0; i < 2; ++i)
    DO(MPI_Request_free(&l->persistent[i]), "request:R", &l->persistent[i]);
  return NULL;
}

int main(int argc, char** argv) {
  L_Init_multiple(argc, argv);
  if (argc > 1) rounds = atoi(argv[1]);
  *(void**)&locks = dlsym(RTLD_DEFAULT, "lock_counter_value");
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  for (int t = 0; t < kThreads; ++t) {
    char alias[16];
    snprintf(alias, sizeof alias, "@@lane%d", t);
    lanes[t].number = t;
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &lanes[t].comm), "comm:C newcomm:C+", MPI_COMM_WORLD,
       lanes[t].comm, alias);
  }
  for (int t = 0; t < kThreads; ++t) pthread_create(&lanes[t].thread, NULL, work, &lanes[t]);
  for (int t = 0; t < kThreads; ++t) pthread_join(lanes[t].thread, NULL);
  for (int t = 0; t < kThreads; ++t) L_Comm_free(&lanes[t].comm);
  for (int t = 0; t < kThreads && locks != NULL; ++t)
    printf("rank %d thread %d locks %lu %lu %lu\n", rank, t, lanes[t].locks_to_warm_up,
           lanes[t].locks_in_loop, lanes[t].locks_in_disorder);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
