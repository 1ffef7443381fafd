/* Receives in every way that there is, and writes what it received itself: a line for each buffer
 * that a call has filled, with the function, the place in its array of requests, the bytes and
 * their hash. The log of `record --messages` has to say the same.
 *
 * received FOLDER: writes FOLDER/own.RANK. For two ranks and more.
 * received FOLDER large: rank 1 receives some large messages, and computes nothing. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE* own;
static int me, all;

static uint64_t hash;
static long hashed;
static void begin(void) { hash = 0xcbf29ce484222325u, hashed = 0; }
static void add(const void* data, size_t bytes) {
  for (const unsigned char* p = data; bytes > 0; --bytes) hash = (hash ^ *p++) * 0x100000001b3u;
}
static void more(const void* data, size_t bytes) { add(data, bytes), hashed += (long)bytes; }
static void end(const char* function, int where) {
  fprintf(own, "%s %d %ld %016llx\n", function, where, hashed, (unsigned long long)hash);
}
static void got(const char* function, int where, const void* data, size_t bytes) {
  begin(), more(data, bytes), end(function, where);
}

enum { kMost = 1 << 20 };
static int out[kMost], in[kMost];
static int next_value = 1;
static void make(int* values, int n) {
  for (int i = 0; i < n; ++i) values[i] = next_value++ * 2654435761u + (unsigned)me;
}
static void forget(void) { memset(in, 0x55, sizeof in); }
static int left(void) { return (me + all - 1) % all; }
static int right(void) { return (me + 1) % all; }

static void blocking(void) {
  MPI_Request r;
  MPI_Status s;
  for (int n = 0; n < 5; ++n) {
    make(out, n * 100);
    MPI_Isend(out, n * 100, MPI_INT, right(), n, MPI_COMM_WORLD, &r);
    MPI_Recv(in, 1000, MPI_INT, n % 2 ? MPI_ANY_SOURCE : left(), n, MPI_COMM_WORLD,
             n == 2 ? MPI_STATUS_IGNORE : &s);
    if (n > 0) got("MPI_Recv", 0, in, (size_t)n * 400);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  make(out, kMost); /* longer than a block of the log */
  MPI_Sendrecv(out, kMost, MPI_INT, right(), 0, in, kMost, MPI_INT, left(), 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  got("MPI_Sendrecv", 0, in, sizeof in);
  make(in, 50);
  MPI_Sendrecv_replace(in, 50, MPI_INT, right(), 0, left(), 0, MPI_COMM_WORLD, &s);
  got("MPI_Sendrecv_replace", 0, in, 200);
  MPI_Recv(in, 5, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s);

  MPI_Message message;
  make(out, 7);
  MPI_Isend(out, 7, MPI_INT, right(), 3, MPI_COMM_WORLD, &r);
  MPI_Mprobe(left(), 3, MPI_COMM_WORLD, &message, &s);
  MPI_Mrecv(in, 7, MPI_INT, &message, MPI_STATUS_IGNORE);
  got("MPI_Mrecv", 0, in, 28);
  MPI_Wait(&r, MPI_STATUS_IGNORE);

  /* Too long: as much as there is room for. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  make(out, 90);
  MPI_Isend(out, 90, MPI_INT, right(), 4, MPI_COMM_WORLD, &r);
  forget();
  if (MPI_Recv(in, 60, MPI_INT, left(), 4, MPI_COMM_WORLD, &s) == MPI_SUCCESS) abort();
  got("MPI_Recv", 0, in, 240);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  /* Part of an element. */
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Isend(out, 3, MPI_INT, right(), 5, MPI_COMM_WORLD, &r);
  MPI_Recv(in, 2, pair, left(), 5, MPI_COMM_WORLD, &s);
  got("MPI_Recv", 0, in, 12);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Type_free(&pair);
}

/* Layouts that are gone when the message comes. */
static void layouts(void) {
  MPI_Datatype every_third, later;
  MPI_Request r[2];
  MPI_Type_vector(10, 2, 3, MPI_INT, &every_third);
  MPI_Type_commit(&every_third);
  make(out, 20);
  MPI_Irecv(in, 1, every_third, left(), 0, MPI_COMM_WORLD, &r[0]);
  MPI_Type_free(&every_third);
  MPI_Type_contiguous(3, MPI_DOUBLE, &later); /* perhaps by the same handle */
  MPI_Type_commit(&later);
  MPI_Isend(out, 20, MPI_INT, right(), 0, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  begin();
  for (int i = 0; i < 10; ++i) more(in + 3 * i, 8);
  end("MPI_Waitall", 0);
  make(out, 6);
  MPI_Irecv(in, 1, later, left(), 0, MPI_COMM_WORLD, &r[0]);
  MPI_Send(out, 6, MPI_INT, right(), 0, MPI_COMM_WORLD);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  got("MPI_Wait", 0, in, 24);
  MPI_Type_free(&later);
  struct {
    double value;
    int at;
  } two[2] = {{me + 0.5, me}, {me - 0.5, 7}}, best[2];
  memset(best, 0, sizeof best);
  MPI_Allreduce(two, best, 2, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  begin();
  for (int i = 0; i < 2; ++i) more(&best[i].value, 8), more(&best[i].at, 4);
  end("MPI_Allreduce", 0);
}

enum { kMany = 8 };
static int parts[kMany][16];
static MPI_Request many[2 * kMany];
static void post_many(void) {
  make(out, kMany * 16);
  for (int i = 0; i < kMany; ++i) {
    memset(parts[i], 0x33, sizeof parts[i]);
    MPI_Irecv(parts[i], 16, MPI_INT, left(), i, MPI_COMM_WORLD, &many[i]);
  }
}
static void send_many(void) {
  for (int i = 0; i < kMany; ++i)
    MPI_Isend(out + 16 * i, 1 + i, MPI_INT, right(), i, MPI_COMM_WORLD, &many[kMany + i]);
}
static void finish_many(void) { MPI_Waitall(kMany, many + kMany, MPI_STATUSES_IGNORE); }
static void got_part(const char* function, int where) {
  got(function, where, parts[where], 4u * (1 + (unsigned)where));
}

static void completions(void) {
  MPI_Status s[kMany];
  int index, flag, n, indices[kMany];
  post_many(), send_many();
  MPI_Waitall(kMany, many, s);
  for (int i = 0; i < kMany; ++i) got_part("MPI_Waitall", i);
  finish_many();
  post_many(), send_many();
  do {
    MPI_Testall(kMany, many, &flag, MPI_STATUSES_IGNORE);
  } while (!flag);
  for (int i = 0; i < kMany; ++i) got_part("MPI_Testall", i);
  finish_many();
  post_many(), send_many();
  for (int i = 0; i < kMany; ++i) {
    MPI_Waitany(kMany, many, &index, i % 2 ? s : MPI_STATUS_IGNORE);
    got_part("MPI_Waitany", index);
  }
  finish_many();
  post_many(), send_many();
  for (int i = 0; i < kMany;) {
    MPI_Testany(kMany, many, &index, &flag, s);
    if (flag) got_part("MPI_Testany", index), ++i;
  }
  finish_many();
  post_many(), send_many();
  for (int left_over = kMany; left_over > 0; left_over -= n) {
    MPI_Waitsome(kMany, many, &n, indices, left_over % 2 ? MPI_STATUSES_IGNORE : s);
    for (int k = 0; k < n; ++k) got_part("MPI_Waitsome", indices[k]);
  }
  finish_many();
  post_many(), send_many();
  for (int left_over = kMany; left_over > 0;) {
    MPI_Testsome(kMany, many, &n, indices, s);
    for (int k = 0; k < n; ++k) got_part("MPI_Testsome", indices[k]);
    left_over -= n;
  }
  finish_many();
  post_many(), send_many();
  for (int i = 0; i < kMany; ++i) {
    do MPI_Test(&many[i], &flag, MPI_STATUS_IGNORE);
    while (!flag);
    got("MPI_Test", 0, parts[i], 4u * (1 + (unsigned)i));
  }
  finish_many();
  /* Found complete before it is completed: once. */
  post_many(), send_many();
  do MPI_Request_get_status(many[2], &flag, s);
  while (!flag);
  got("MPI_Request_get_status", 0, parts[2], 12);
  MPI_Waitall(kMany, many, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMany; ++i)
    if (i != 2) got_part("MPI_Waitall", i);
  finish_many();
  /* Cancelled: nothing came. */
  MPI_Irecv(in, 5, MPI_INT, left(), 99, MPI_COMM_WORLD, many);
  MPI_Cancel(many);
  MPI_Wait(many, s);
}

static void persistent(void) {
  MPI_Request r[2];
  MPI_Recv_init(in, 30, MPI_INT, left(), 1, MPI_COMM_WORLD, &r[0]);
  MPI_Send_init(out, 30, MPI_INT, right(), 1, MPI_COMM_WORLD, &r[1]);
  for (int i = 0; i < 3; ++i) {
    make(out, 30);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    got("MPI_Waitall", 0, in, 120);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
  MPI_Allreduce_init(out, in, 12, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r);
  for (int i = 0; i < 2; ++i) {
    make(out, 12);
    MPI_Start(r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    got("MPI_Wait", 0, in, 48);
  }
  MPI_Request_free(r);
  make(out, 40);
  MPI_Precv_init(in, 4, 10, MPI_INT, left(), 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Psend_init(out, 4, 10, MPI_INT, right(), 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Startall(2, r);
  for (int i = 0; i < 4; ++i) MPI_Pready(i, r[1]);
  int flag = 0;
  do MPI_Parrived(r[0], 1, &flag);
  while (!flag);
  got("MPI_Parrived", 0, in + 10, 40);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  got("MPI_Waitall", 0, in, 40);
  got("MPI_Waitall", 0, in + 20, 80);
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
#endif
}

static void collectives(void) {
  MPI_Request r;
  int counts[64], at[64], ones[64];
  MPI_Datatype types[64];
  const int n = 5;
  make(in, n);
  MPI_Bcast(in, n, MPI_INT, 1, MPI_COMM_WORLD);
  if (me != 1) got("MPI_Bcast", 0, in, 20);
  make(out, n * all);
  MPI_Reduce(out, in, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) got("MPI_Reduce", 0, in, 20);
  MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, 0, MPI_COMM_WORLD);
  if (me == 0) got("MPI_Gather", 0, in, 20u * (unsigned)all);
  MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, 0, MPI_COMM_WORLD);
  got("MPI_Scatter", 0, in, 20);
  if (me == 0)
    MPI_Scatter(out, n, MPI_INT, MPI_IN_PLACE, n, MPI_INT, 0, MPI_COMM_WORLD);
  else
    MPI_Scatter(NULL, 0, MPI_INT, in, n, MPI_INT, 0, MPI_COMM_WORLD);
  if (me != 0) got("MPI_Scatter", 0, in, 20);
  make(in, n * all);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_INT, MPI_COMM_WORLD);
  got("MPI_Allgather", 0, in, 20u * (unsigned)all);
  make(in, n);
  MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  got("MPI_Allreduce", 0, in, 20);
  MPI_Scan(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  got("MPI_Scan", 0, in, 20);
  MPI_Exscan(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me != 0) got("MPI_Exscan", 0, in, 20);
  for (int i = 0; i < all; ++i) counts[i] = i + 1, at[i] = 10 * (all - i), ones[i] = 0;
  forget();
  MPI_Allgatherv(out, me + 1, MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD);
  begin();
  for (int i = 0; i < all; ++i) more(in + at[i], 4u * (unsigned)counts[i]);
  end("MPI_Allgatherv", 0);
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  got("MPI_Reduce_scatter", 0, in, 4u * (unsigned)counts[me]);
  for (int i = 0; i < all; ++i) counts[i] = 2, at[i] = 40 * i, types[i] = MPI_INT;
  make(out, 100);
  MPI_Alltoallw(out, counts, at, types, in, counts, at, types, MPI_COMM_WORLD);
  begin();
  for (int i = 0; i < all; ++i) more(in + at[i] / 4, 8);
  end("MPI_Alltoallw", 0);
  /* Not blocking: arrays may not change before the end, but layouts are copied at once. */
  MPI_Iallreduce(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  got("MPI_Wait", 0, in, 20);
  for (int i = 0; i < all; ++i) counts[i] = i + 1, at[i] = 10 * i;
  MPI_Igatherv(out, me + 1, MPI_INT, in, counts, at, MPI_INT, all - 1, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  if (me == all - 1) {
    begin();
    for (int i = 0; i < all; ++i) more(in + at[i], 4u * (unsigned)counts[i]);
    end("MPI_Wait", 0);
  }
  MPI_Ibcast(in, n, MPI_INT, 0, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  if (me != 0) got("MPI_Wait", 0, in, 20);
  MPI_Comm ring;
  const int dims[1] = {all}, periods[1] = {1};
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  MPI_Neighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, ring);
  got("MPI_Neighbor_allgather", 0, in, 40);
  MPI_Comm_free(&ring);
  /* Between two groups. */
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 5, &between);
  make(in, n);
  MPI_Bcast(in, n, MPI_INT, me == 0 ? MPI_ROOT : me % 2 ? 0 : MPI_PROC_NULL, between);
  if (me % 2) got("MPI_Bcast", 0, in, 20);
  int remote;
  MPI_Comm_remote_size(between, &remote);
  MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, between);
  got("MPI_Allgather", 0, in, 20u * (unsigned)remote);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  (void)ones;
}

/* What others wrote is there for loads from here on. */
static void see_own_part(MPI_Win win) {
  MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
  MPI_Win_sync(win);
  MPI_Win_unlock(me, win);
}

static void windows(void) {
  static int memory[100];
  MPI_Win win;
  MPI_Request r;
  make(memory, 100);
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Get(in, 10, MPI_INT, right(), 5, 10, MPI_INT, win);
  MPI_Get(in + 20, 3, MPI_INT, left(), 0, 3, MPI_INT, win);
  MPI_Win_fence(0, win);
  got("MPI_Win_fence", 0, in, 40);
  got("MPI_Win_fence", 0, in + 20, 12);
  MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
  MPI_Get(in, 4, MPI_INT, right(), 50, 4, MPI_INT, win);
  MPI_Win_flush(right(), win);
  got("MPI_Win_flush", 0, in, 16);
  MPI_Rget(in + 8, 2, MPI_INT, right(), 60, 2, MPI_INT, win, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  got("MPI_Wait", 0, in + 8, 8);
  MPI_Win_unlock(right(), win);
  MPI_Barrier(MPI_COMM_WORLD);
  int one = 1, before = 0, compare = -1;
  MPI_Win_lock_all(0, win);
  MPI_Fetch_and_op(&one, &before, MPI_INT, right(), 99, MPI_SUM, win);
  MPI_Win_flush_all(win);
  got("MPI_Win_flush_all", 0, &before, 4);
  MPI_Compare_and_swap(&one, &compare, &before, MPI_INT, right(), 98, win);
  MPI_Win_unlock_all(win);
  got("MPI_Win_unlock_all", 0, &before, 4);
  MPI_Win_free(&win);
}

/* What others put into memory of this rank: seen behind a fence, and behind whatever waits while
 * they lock it. */
static void memory_of_windows(void) {
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(400, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memset(memory, 0, 400);
  memset(out, 0x71 + me, 400);
  MPI_Win_fence(0, win);
  MPI_Put(out, 10, MPI_INT, right(), 5, 10, MPI_INT, win);
  MPI_Win_fence(0, win);
  got("window", 20, memory + 5, 40);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, win);
  MPI_Put(out, 3, MPI_INT, right(), 50, 3, MPI_INT, win);
  MPI_Win_unlock(right(), win);
  MPI_Barrier(MPI_COMM_WORLD);
  see_own_part(win);
  got("window", 200, memory + 50, 12);
  MPI_Win_free(&win);
}

/* Results of accumulates, at what completes them; and what they left in the memory of others. */
static void accumulates(void) {
  int* memory;
  MPI_Win win;
  MPI_Request r;
  const int zero = 0, one = 1;
  int before = -1;
  MPI_Win_allocate(2000, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memset(memory, 0, 2000);
  make(out, 20);
  MPI_Win_fence(0, win);
  MPI_Accumulate(out, 6, MPI_INT, right(), 100, 6, MPI_INT, MPI_SUM, win);
  MPI_Accumulate(out + 6, 6, MPI_INT, right(), 100, 6, MPI_INT, MPI_BXOR, win);
  MPI_Win_fence(0, win);
  got("window", 400, memory + 100, 24);
  MPI_Barrier(MPI_COMM_WORLD); /* nobody changes what another one is reading */
  MPI_Win_lock_all(0, win);
  MPI_Get_accumulate(out, 6, MPI_INT, in, 6, MPI_INT, right(), 100, 6, MPI_INT, MPI_SUM, win);
  MPI_Win_flush(right(), win);
  got("MPI_Win_flush", 0, in, 24);
  MPI_Rget_accumulate(out, 2, MPI_INT, in + 8, 2, MPI_INT, right(), 101, 2, MPI_INT, MPI_REPLACE,
                      win, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  got("MPI_Wait", 0, in + 8, 8);
  MPI_Fetch_and_op(NULL, &before, MPI_INT, right(), 102, MPI_NO_OP, win);
  MPI_Win_flush_local(right(), win);
  got("MPI_Win_flush_local", 0, &before, 4);
  MPI_Compare_and_swap(&one, &zero, &before, MPI_INT, right(), 120, win); /* swaps */
  MPI_Win_flush_local_all(win);
  got("MPI_Win_flush_local_all", 0, &before, 4);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  see_own_part(win);
  got("window", 400, memory + 100, 84);
  MPI_Win_free(&win);
}

/* Memory that is attached to a window: regions. */
static void regions(void) {
  static int first[10], block[300];
  MPI_Aint address, target;
  MPI_Win win;
  memset(out, 0x31 + me, 400);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, first, sizeof first);
  MPI_Win_attach(win, block, sizeof block);
  MPI_Get_address(block + 250, &address);
  MPI_Sendrecv(&address, 1, MPI_AINT, left(), 9, &target, 1, MPI_AINT, right(), 9, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  got("MPI_Sendrecv", 0, &target, sizeof target);
  MPI_Win_fence(0, win);
  MPI_Put(out, 5, MPI_INT, right(), target, 5, MPI_INT, win);
  MPI_Win_fence(0, win);
  got("window", 1000, block + 250, 20);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Accumulate(out, 2, MPI_INT, right(), target, 2, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  got("window", 1000, block + 250, 20);
  MPI_Win_detach(win, block);
  MPI_Win_detach(win, first);
  MPI_Win_free(&win);
}

/* Parts of others in a shared window, where the MPI lets all ranks share memory. */
static void shared_parts(void) {
  int *mine, *theirs, unit, together;
  MPI_Aint bytes;
  MPI_Comm node;
  MPI_Win win;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &together);
  if (together == all) {
    MPI_Win_allocate_shared(2000, sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, right(), &bytes, &unit, &theirs);
    memset(mine + 320 + 4 * me, 0x41 + me, 16);
    MPI_Win_fence(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    got("window", 1280 + 16 * right(), theirs + 320 + 4 * right(), 16);
    MPI_Win_free(&win);
  }
  MPI_Comm_free(&node);
}

static void files(const char* folder) {
  char path[4000];
  MPI_File f;
  MPI_Request r;
  MPI_Status s;
  snprintf(path, sizeof path, "%s/data.%d", folder, me);
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  make(out, 50);
  MPI_File_write_at(f, 0, out, 50, MPI_INT, &s);
  MPI_File_read_at(f, 40, in, 10, MPI_INT, MPI_STATUS_IGNORE);
  got("MPI_File_read_at", 0, in, 40);
  MPI_File_read_at(f, 160, in, 30, MPI_INT, &s); /* the file ends before */
  got("MPI_File_read_at", 0, in, 40);
  MPI_File_iread_at(f, 4, in, 5, MPI_INT, &r);
  MPI_Wait(&r, &s);
  got("MPI_Wait", 0, in, 20);
  MPI_File_seek(f, 8, MPI_SEEK_SET);
  MPI_File_read_all_begin(f, in, 3, MPI_INT);
  MPI_File_read_all_end(f, in, &s);
  got("MPI_File_read_all_end", 0, in, 12);
  MPI_File_close(&f);
}

static void local(void) {
  char packed[400];
  int position = 0, sum[3] = {1, 2, 3};
  make(out, 20);
  MPI_Pack(out, 5, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
  got("MPI_Pack", 0, packed, (size_t)position);
  const int first = position;
  MPI_Pack(out + 5, 3, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
  got("MPI_Pack", 0, packed + first, (size_t)(position - first));
  position = 0;
  MPI_Unpack(packed, sizeof packed, &position, in, 8, MPI_INT, MPI_COMM_WORLD);
  got("MPI_Unpack", 0, in, 32);
  MPI_Reduce_local(out, sum, 3, MPI_INT, MPI_SUM);
  got("MPI_Reduce_local", 0, sum, sizeof sum);
}

static void clocks(void) {
  for (int i = 0; i < 3; ++i) {
    const double now = MPI_Wtime();
    begin(), add(&now, sizeof now), end("MPI_Wtime", 0);
  }
}

static void large(void) {
  const int bytes = 64 << 20;
  char* const memory = calloc(1, (size_t)bytes);
  for (int i = 0; i < 6; ++i) {
    if (me == 0) MPI_Send(memory, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (me == 1) MPI_Recv(memory, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(memory);
}

int main(int argc, char** argv) {
  char path[4000];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  if (argc > 2) {
    large();
    MPI_Finalize();
    return 0;
  }
  snprintf(path, sizeof path, "%s/own.%d", argv[1], me);
  own = fopen(path, "w");
  setvbuf(own, NULL, _IOLBF, 0);
  blocking();
  layouts();
  completions();
  clocks();
  persistent();
  collectives();
  windows();
  memory_of_windows();
  accumulates();
  regions();
  shared_parts();
  files(argv[1]);
  local();
  fclose(own);
  MPI_Finalize();
  return 0;
}
