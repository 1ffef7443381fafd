// MPI_THREAD_MULTIPLE with requests that one thread makes and another one completes: two pairs of
// threads on each rank, each on a communicator of its own, whose members change roles every round.
// Both MPIs give one handle out for all sends that are complete at once, so what tells a partner's
// send from one's own is the variable.
#include <pthread.h>
#include <sched.h>

#include "calls.h"

enum { kPairs = 2, kRounds = 12, kTags = 100 };
static int rank, size;

static struct Pair {
  MPI_Comm comm;
  pthread_barrier_t meet;
  MPI_Request r[4], copied[2];
  int out[4], in[4];
} pairs[kPairs];

struct Role {
  int pair, member;
};

static int next(void) { return (rank + 1) % size; }
static int previous(void) { return (rank + size - 1) % size; }
static void meet(struct Pair* p) { pthread_barrier_wait(&p->meet); }

static void make(struct Pair* p, int base, int n) {
  for (int i = 0; i < n; i += 2) {
    p->out[i] = base + i;
    L_Irecv(&p->in[i], 1, MPI_INT, i == 0 ? previous() : MPI_ANY_SOURCE, i, p->comm, &p->r[i]);
    L_Isend(&p->out[i], 1, MPI_INT, next(), i, p->comm, &p->r[i + 1]);
  }
}

static void check(const struct Pair* p, int base, int n) {
  for (int i = 0; i < n; i += 2) EXPECT(p->in[i] == base + i);
}

static void wait_for_all(struct Pair* p, int base) {
  MPI_Status st[4];
  L_Waitall(4, p->r, st);
  check(p, base, 4);
}

static void wait_for_any(struct Pair* p, int base) {
  for (int k = 0; k < 4; ++k) {
    int index = 0;
    MPI_Status st;
    DO(MPI_Waitany(4, p->r, &index, &st), "count:i array_of_requests:A index:u status:P", 4, 4,
       p->r, index, index, &st);
  }
  check(p, base, 4);
}

// In turn with sends of its own, which have the partner's handle.
static void wait_for_each(struct Pair* p, int base) {
  MPI_Request own;
  MPI_Status st;
  int out = 1, in = 0;
  for (int i = 3; i >= 0; --i) {
    L_Isend(&out, 1, MPI_INT, next(), 10 + i, p->comm, &own);
    L_Wait(&p->r[i], &st);
    L_Recv(&in, 1, MPI_INT, previous(), 10 + i, p->comm, MPI_STATUS_IGNORE);
    L_Wait(&own, MPI_STATUS_IGNORE);
  }
  check(p, base, 4);
}

static void test_each(struct Pair* p, int base) {
  MPI_Status st;
  for (int i = 0, flag = 0; i < 4; i += flag) {
    DO(MPI_Test(&p->r[i], &flag, &st), "request:R flag:f status:S", &p->r[i], flag, &st);
    if (!flag) sched_yield();
  }
  check(p, base, 4);
}

// Handles that were copied to variables of the thread that completes them.
static void wait_for_copies(struct Pair* p, int base) {
  MPI_Status st[2];
  for (int i = 0; i < 2; ++i) {
    p->copied[i] = p->r[i];
    log_move_request(&p->r[i], &p->copied[i]);
  }
  L_Waitall(2, p->copied, st);
  check(p, base, 2);
}

static void free_sends(struct Pair* p, int base) {
  for (int i = 1; i < 4; i += 2) DO(MPI_Request_free(&p->r[i]), "request:R", &p->r[i]);
  for (int i = 0; i < 4; i += 2) L_Wait(&p->r[i], MPI_STATUS_IGNORE);
  check(p, base, 4);
}

// Each call that uses them is the other member's.
static void persistent(struct Pair* p, int member, int base) {
  MPI_Status st[2];
  if (member == 0) {
    DO(MPI_Recv_init(p->in, 1, MPI_INT, previous(), 40, p->comm, &p->r[0]), kRecvSpec " request:R+",
       1, MPI_INT, previous(), 40, p->comm, &p->r[0]);
    DO(MPI_Send_init(p->out, 1, MPI_INT, next(), 40, p->comm, &p->r[1]), kSendSpec " request:R+", 1,
       MPI_INT, next(), 40, p->comm, &p->r[1]);
  }
  meet(p);
  for (int i = 0; i < 3; ++i) {
    if ((i + member) % 2 != 0) {
      p->out[0] = base + i;
      DO(MPI_Startall(2, p->r), "count:i array_of_requests:A", 2, 2, p->r);
    }
    meet(p);
    if ((i + member) % 2 == 0) {
      L_Waitall(2, p->r, st);
      EXPECT(p->in[0] == base + i);
    }
    meet(p);
  }
  if (member == 1)
    for (int i = 0; i < 2; ++i) DO(MPI_Request_free(&p->r[i]), "request:R", &p->r[i]);
}

static void* work(void* argument) {
  const struct Role* role = argument;
  struct Pair* p = &pairs[role->pair];
  char name[24];
  snprintf(name, sizeof name, "pair%d.%d", role->pair, role->member);
  log_thread(name);
  for (int round = 0; round < kRounds; ++round) {
    const int base = kTags * (10 * role->pair + round), what = round / 2 % 6;
    static void (*const complete[])(struct Pair*, int) = {
        wait_for_all, wait_for_any, wait_for_each, test_each, wait_for_copies, free_sends};
    const int makes = (round + role->member) % 2 == 0;
    if (makes) make(p, base, what == 4 ? 2 : 4);
    meet(p);
    if (!makes) complete[what](p, base);
    meet(p);
  }
  persistent(p, role->member, kTags * role->pair);
  return NULL;
}

int main(int argc, char** argv) {
  L_Init_multiple(argc, argv);
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t threads[kPairs][2];
  static struct Role roles[kPairs][2];
  for (int i = 0; i < kPairs; ++i) {
    char alias[16];
    snprintf(alias, sizeof alias, "@@pair%d", i);
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &pairs[i].comm), "comm:C newcomm:C+", MPI_COMM_WORLD,
       pairs[i].comm, alias);
    pthread_barrier_init(&pairs[i].meet, NULL, 2);
  }
  for (int i = 0; i < 2 * kPairs; ++i) {
    roles[i / 2][i % 2] = (struct Role){i / 2, i % 2};
    pthread_create(&threads[i / 2][i % 2], NULL, work, &roles[i / 2][i % 2]);
  }
  for (int i = 0; i < 2 * kPairs; ++i) pthread_join(threads[i / 2][i % 2], NULL);
  for (int i = 0; i < kPairs; ++i) L_Comm_free(&pairs[i].comm);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
