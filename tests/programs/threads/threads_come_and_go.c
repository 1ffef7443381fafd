// MPI_THREAD_MULTIPLE with threads that do not stay: four lanes of threads, each of which starts
// its successor as its last act, so that threads begin and end while others are in the middle of
// their calls. What a thread does depends on its lane and generation; some make one call, some
// none, and some leave a receive behind that their successor waits for.
#include <pthread.h>
#include <sched.h>

#include "calls.h"

enum { kLanes = 4, kGenerations = 10, kKinds = 5, kRounds = 6 };
static int rank, size;

// Only one thread of a lane is alive at a time, so that none of this is shared.
static struct Lane {
  MPI_Comm comm;
  pthread_t threads[kGenerations];
  MPI_Request left, r[2];
  int left_value, out[2], in[2];
} lanes[kLanes];

struct Place {
  int lane, generation;
};
static struct Place places[kLanes][kGenerations];

static int next(void) { return (rank + 1) % size; }
static int previous(void) { return (rank + size - 1) % size; }

static void collectives(struct Lane* l, int i) {
  int sum = 0, value = i;
  L_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, l->comm);
  EXPECT(sum == size * i);
  if (rank == i % size) value = 7 * i;
  L_Bcast(&value, 1, MPI_INT, i % size, l->comm);
  EXPECT(value == 7 * i);
}

static void blocking_and_not(struct Lane* l, int base) {
  MPI_Status st[2];
  for (int i = 0; i < kRounds; ++i) {
    l->out[0] = base + i;
    L_Irecv(l->in, 1, MPI_INT, previous(), i, l->comm, &l->r[0]);
    L_Isend(l->out, 1, MPI_INT, next(), i, l->comm, &l->r[1]);
    L_Waitall(2, l->r, st);
    EXPECT(l->in[0] == base + i);
    L_Send(l->out, 1, MPI_INT, next(), 20 + i, l->comm);
    L_Recv(l->in, 1, MPI_INT, previous(), 20 + i, l->comm, MPI_STATUS_IGNORE);
    collectives(l, i);
  }
}

static void persistent(struct Lane* l, int base) {
  MPI_Status st[2];
  DO(MPI_Recv_init(l->in, 1, MPI_INT, previous(), 40, l->comm, &l->r[0]), kRecvSpec " request:R+",
     1, MPI_INT, previous(), 40, l->comm, &l->r[0]);
  DO(MPI_Send_init(l->out, 1, MPI_INT, next(), 40, l->comm, &l->r[1]), kSendSpec " request:R+", 1,
     MPI_INT, next(), 40, l->comm, &l->r[1]);
  for (int i = 0; i < kRounds; ++i) {
    l->out[0] = base + i;
    DO(MPI_Startall(2, l->r), "count:i array_of_requests:A", 2, 2, l->r);
    L_Waitall(2, l->r, st);
    EXPECT(l->in[0] == base + i);
  }
  for (int i = 0; i < 2; ++i) DO(MPI_Request_free(&l->r[i]), "request:R", &l->r[i]);
  L_Barrier(l->comm);
}

static void probing(struct Lane* l, int base) {
  MPI_Status st;
  for (int i = 0; i < kRounds; ++i) {
    int flag = 0;
    l->out[0] = base + i;
    L_Send(l->out, 1, MPI_INT, next(), 60 + i, l->comm);
    do {
      DO(MPI_Iprobe(previous(), 60 + i, l->comm, &flag, &st),
         "source:r tag:t comm:C flag:f status:S", previous(), 60 + i, l->comm, flag, &st);
      if (!flag) sched_yield();
    } while (!flag);
    L_Recv(l->in, 1, MPI_INT, previous(), 60 + i, l->comm, &st);
    EXPECT(l->in[0] == base + i);
  }
  // The successor, which makes no other call than this one's wait, gets it.
  l->out[1] = base;
  L_Irecv(&l->left_value, 1, MPI_INT, previous(), 90, l->comm, &l->left);
  L_Send(&l->out[1], 1, MPI_INT, next(), 90, l->comm);
}

static void one_call(struct Lane* l) {
  MPI_Status st;
  const int expected = l->out[1];
  L_Wait(&l->left, &st);
  EXPECT(l->left_value == expected);
}

static void* work(void* argument) {
  const struct Place here = *(const struct Place*)argument;
  struct Lane* l = &lanes[here.lane];
  char name[24];
  snprintf(name, sizeof name, "lane%d.%d", here.lane, here.generation);
  log_thread(name);
  const int base = here.lane * 10000 + here.generation * 100;
  switch ((here.generation + here.lane) % kKinds) {
    case 0: blocking_and_not(l, base); break;
    case 1: break;  // no call at all
    case 2: persistent(l, base); break;
    case 3: probing(l, base); break;
    default:
      if (l->left != MPI_REQUEST_NULL)
        one_call(l);
      else
        L_Barrier(l->comm);
  }
  if (here.generation + 1 < kGenerations)
    pthread_create(&l->threads[here.generation + 1], NULL, work,
                   &places[here.lane][here.generation + 1]);
  return NULL;
}

int main(int argc, char** argv) {
  L_Init_multiple(argc, argv);
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  for (int t = 0; t < kLanes; ++t) {
    char alias[16];
    snprintf(alias, sizeof alias, "@@lane%d", t);
    lanes[t].left = MPI_REQUEST_NULL;
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &lanes[t].comm), "comm:C newcomm:C+", MPI_COMM_WORLD,
       lanes[t].comm, alias);
    for (int g = 0; g < kGenerations; ++g) places[t][g] = (struct Place){t, g};
  }
  for (int t = 0; t < kLanes; ++t) pthread_create(&lanes[t].threads[0], NULL, work, &places[t][0]);
  // Each thread has named its successor before it is joined.
  for (int g = 0; g < kGenerations; ++g) {
    for (int t = 0; t < kLanes; ++t) pthread_join(lanes[t].threads[g], NULL);
    L_Barrier(MPI_COMM_WORLD);
  }
  // A request that no successor came for.
  for (int t = 0; t < kLanes; ++t)
    if (lanes[t].left != MPI_REQUEST_NULL) one_call(&lanes[t]);
  for (int t = 0; t < kLanes; ++t) L_Comm_free(&lanes[t].comm);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
