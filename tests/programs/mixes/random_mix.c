// A seeded random mix of messages, collectives, communicators, datatypes and completions.
//
//   random_mix SEED STEPS
//
// Free of deadlock: all ranks draw the same steps from one generator, every message has a tag of
// its own, sends never block, and a rank waits only for what all others will have posted once they
// reach the same step. A second generator, different on each rank, makes the local choices.
#include "calls.h"

enum { kPool = 20, kComms = 6, kTags = 20000 };

struct Message {
  int source, tag, filler[6];
};

static int rank, size;
static unsigned long long shared_state, local_state;
static MPI_Request pool[kPool];
static struct Message out[kPool], in[kPool];
static int wild[kPool], receiving[kPool];
static MPI_Comm comms[kComms];
static int made;

static unsigned draw(unsigned long long* state, unsigned n) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(*state >> 33) % n;
}
static unsigned everyone(unsigned n) { return draw(&shared_state, n); }
static unsigned myself(unsigned n) { return draw(&local_state, n); }

static int free_slot(void) {
  for (int i = 0; i < kPool; ++i)
    if (pool[i] == MPI_REQUEST_NULL) return i;
  return -1;
}

static const char* matched_of_pool(const int* entry) {
  static char text[kPool * 64];
  char* p = text;
  *p++ = '[';
  for (int i = 0; i < kPool; ++i)
    p +=
        sprintf(p, "%s%s", i ? "," : "", entry[i] ? json_message(in[i].source, in[i].tag) : "null");
  strcpy(p, "]");
  return text;
}

static void check(int i) {
  if (receiving[i]) EXPECT(in[i].tag == in[i].filler[0]);
  wild[i] = receiving[i] = 0;
}

static void complete_all(void) {
  int entry[kPool], wildcards = 0;
  for (int i = 0; i < kPool; ++i) wildcards += entry[i] = wild[i];
  if (myself(2)) {
    MPI_Status st[kPool];
    L_Waitall(kPool, pool, st);
  } else if (wildcards) {
    DO(MPI_Waitall(kPool, pool, MPI_STATUSES_IGNORE),
       "count:i array_of_requests:A array_of_statuses:s =matched:j", kPool, kPool, pool,
       "MPI_STATUSES_IGNORE", matched_of_pool(entry));
  } else {
    DO(MPI_Waitall(kPool, pool, MPI_STATUSES_IGNORE),
       "count:i array_of_requests:A array_of_statuses:s", kPool, kPool, pool,
       "MPI_STATUSES_IGNORE");
  }
  for (int i = 0; i < kPool; ++i) check(i);
}

static void wait_one(int i) {
  MPI_Status st;
  if (pool[i] == MPI_REQUEST_NULL) return;
  if (wild[i] && myself(2))
    DO(MPI_Wait(&pool[i], MPI_STATUS_IGNORE), "request:R status:s =matched:j", &pool[i],
       "MPI_STATUS_IGNORE", json_message(in[i].source, in[i].tag));
  else
    L_Wait(&pool[i], &st);
  check(i);
}

static void complete_some(void) {
  MPI_Status st[kPool];
  int index, flag, done, indices[kPool];
  switch (myself(5)) {
    case 0: wait_one((int)myself(kPool)); break;
    case 1:
      DO(MPI_Waitany(kPool, pool, &index, st), "count:i array_of_requests:A index:u status:P",
         kPool, kPool, pool, index, index, st);
      if (index != MPI_UNDEFINED) check(index);
      break;
    case 2:
      DO(MPI_Testsome(kPool, pool, &done, indices, st), "incount:i array_of_requests:A outcount:u",
         kPool, kPool, pool, done);
      for (int i = 0; done != MPI_UNDEFINED && i < done; ++i) check(indices[i]);
      break;
    case 3:
      index = (int)myself(kPool);
      DO(MPI_Test(&pool[index], &flag, st), "request:R flag:f status:S", &pool[index], flag, st);
      if (flag) check(index);
      break;
    default: complete_all(); break;
  }
}

static void message(int step) {
  MPI_Comm c = comms[everyone(kComms)];
  const int shift = (int)everyone(1000), tag = step % kTags, count = 2 + (int)everyone(6);
  int me, n;
  if (c == MPI_COMM_NULL) c = MPI_COMM_WORLD;
  L_Comm_rank(c, &me);
  L_Comm_size(c, &n);
  const int to = (me + shift) % n, from = ((me - shift) % n + n) % n;
  int s = free_slot();
  if (s < 0) complete_all(), s = 0;
  out[s] = (struct Message){me, tag, {tag}};
  if (myself(4))
    L_Isend(&out[s], count + 1, MPI_INT, to, tag, c, &pool[s]);
  else
    L_Issend(&out[s], count + 1, MPI_INT, to, tag, c, &pool[s]);
  int r = free_slot();
  const int any = myself(3) == 0;
  MPI_Status st;
  if (r < 0 || myself(3) == 0) {
    struct Message m;
    if (any)
      L_RecvMatched(&m, 8, MPI_INT, MPI_ANY_SOURCE, tag, c, m.source, m.tag);
    else
      L_Recv(&m, 8, MPI_INT, from, tag, c, &st);
    EXPECT(m.source == from && m.tag == tag);
    return;
  }
  receiving[r] = 1;
  wild[r] = any;
  L_Irecv(&in[r], 8, MPI_INT, any ? MPI_ANY_SOURCE : from, tag, c, &pool[r]);
}

static void collective(void) {
  MPI_Comm c = comms[everyone(kComms)];
  if (c == MPI_COMM_NULL) c = MPI_COMM_WORLD;
  const unsigned root_draw = everyone(1000), what = everyone(5), count = 1 + everyone(4);
  int a[64] = {rank}, b[64], n;
  L_Comm_size(c, &n);
  const int root = (int)root_draw % n;
  switch (what) {
    case 0: L_Barrier(c); break;
    case 1: L_Bcast(a, (int)count, MPI_INT, root, c); break;
    case 2: L_Allreduce(a, b, (int)count, MPI_INT, MPI_SUM, c); break;
    case 3:
      DO(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c),
         "sendcount:i sendtype:D recvcount:i recvtype:D comm:C", 1, MPI_INT, 1, MPI_INT, c);
      break;
    default:
      DO(MPI_Reduce(a, b, (int)count, MPI_INT, MPI_MAX, root, c),
         "count:i datatype:D op:O root:r comm:C", (int)count, MPI_INT, MPI_MAX, root, c);
      break;
  }
}

static void change_communicators(void) {
  const int slot = 1 + (int)everyone(kComms - 1);
  const unsigned what = everyone(2), parity = everyone(2);
  char alias[32];
  if (comms[slot] != MPI_COMM_NULL) {
    complete_all();
    L_Comm_free(&comms[slot]);
    return;
  }
  ++made;
  if (what == 0) {
    snprintf(alias, sizeof alias, "@@dup%d", made);
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &comms[slot]), "comm:C newcomm:C+", MPI_COMM_WORLD, comms[slot],
       alias);
  } else {
    const int color = parity ? rank % 2 : rank < size / 2;
    snprintf(alias, sizeof alias, "@@split%d_%d", made, color);
    DO(MPI_Comm_split(MPI_COMM_WORLD, color, rank, &comms[slot]), "comm:C color:i key:i newcomm:C+",
       MPI_COMM_WORLD, color, rank, comms[slot], alias);
  }
}

static void make_type(void) {
  MPI_Datatype t;
  const int blocks = 1 + (int)myself(3), stride = 2 + (int)myself(3);
  DO(MPI_Type_vector(blocks, 1, stride, MPI_INT, &t),
     "count:i blocklength:i stride:i oldtype:D newtype:D+", blocks, 1, stride, MPI_INT, t);
  L_Type_commit(&t);
  int a[32] = {0}, b[32];
  MPI_Status st;
  DO(MPI_Sendrecv(a, 1, t, 0, 1, b, 1, t, 0, 1, MPI_COMM_SELF, &st),
     "sendcount:i sendtype:D dest:r sendtag:t recvcount:i recvtype:D source:r recvtag:t comm:C "
     "status:S",
     1, t, 0, 1, 1, t, 0, 1, MPI_COMM_SELF, &st);
  L_Type_free(&t);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  const unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int steps = argc > 2 ? atoi(argv[2]) : 200;
  shared_state = seed;
  local_state = seed * 1000 + (unsigned)rank;
  for (int i = 0; i < kPool; ++i) pool[i] = MPI_REQUEST_NULL;
  for (int i = 1; i < kComms; ++i) comms[i] = MPI_COMM_NULL;
  comms[0] = MPI_COMM_WORLD;
  for (int step = 0; step < steps; ++step) {
    const unsigned what = everyone(20);
    if (what < 10)
      message(step);
    else if (what < 14)
      collective();
    else if (what < 15)
      change_communicators();
    else if (myself(4) == 0)
      make_type();
    else
      complete_some();
  }
  complete_all();
  for (int i = 1; i < kComms; ++i)
    if (comms[i] != MPI_COMM_NULL) L_Comm_free(&comms[i]);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
