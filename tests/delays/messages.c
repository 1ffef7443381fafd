// Messages: halos, chains, a wavefront, a master, completions one by one.
#include <stddef.h>
#include <unistd.h>

#include "delays.h"

enum { kCount = 16, kMostRanks = 64 };

static double out[kMostRanks][kCount], in[kMostRanks][kCount];
static MPI_Request requests[2 * kMostRanks];

static int left(void) { return (run.rank + run.size - 1) % run.size; }
static int right(void) { return (run.rank + 1) % run.size; }

static void halo(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Irecv(in[0], kCount, MPI_DOUBLE, left(), 0, MPI_COMM_WORLD, &requests[0]));
    CALL(MPI_Isend(out[0], kCount, MPI_DOUBLE, right(), 0, MPI_COMM_WORLD, &requests[1]));
    CALL(MPI_Irecv(in[1], kCount, MPI_DOUBLE, right(), 1, MPI_COMM_WORLD, &requests[2]));
    CALL(MPI_Isend(out[1], kCount, MPI_DOUBLE, left(), 1, MPI_COMM_WORLD, &requests[3]));
    CALL(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  }
}

static void sendrecv(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Sendrecv(out[0], kCount, MPI_DOUBLE, right(), 0, in[0], kCount, MPI_DOUBLE, left(), 0,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CALL(MPI_Sendrecv(out[1], kCount, MPI_DOUBLE, left(), 1, in[1], kCount, MPI_DOUBLE, right(), 1,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
}

static void persistent(void) {
  CALL(MPI_Recv_init(in[0], kCount, MPI_DOUBLE, left(), 0, MPI_COMM_WORLD, &requests[0]));
  CALL(MPI_Send_init(out[0], kCount, MPI_DOUBLE, right(), 0, MPI_COMM_WORLD, &requests[1]));
  CALL(MPI_Recv_init(in[1], kCount, MPI_DOUBLE, right(), 1, MPI_COMM_WORLD, &requests[2]));
  CALL(MPI_Send_init(out[1], kCount, MPI_DOUBLE, left(), 1, MPI_COMM_WORLD, &requests[3]));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Startall(4, requests));
    CALL(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  }
  for (int i = 0; i < 4; ++i) CALL(MPI_Request_free(&requests[i]));
}

// Each takes from the rank before it, works, and hands on to the one after it.
static void chain(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    if (run.rank > 0)
      CALL(MPI_Recv(in[0], kCount, MPI_DOUBLE, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    WORK(i);
    if (run.rank + 1 < run.size)
      CALL(MPI_Send(out[0], kCount, MPI_DOUBLE, right(), 0, MPI_COMM_WORLD));
  }
}

// The same, of messages that wait for their receives.
static void blocking_chain(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    if (run.rank > 0)
      CALL(MPI_Recv(in[0], kCount, MPI_DOUBLE, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    WORK(i);
    if (run.rank + 1 < run.size)
      CALL(MPI_Ssend(out[0], kCount, MPI_DOUBLE, right(), 0, MPI_COMM_WORLD));
  }
}

// Two ranks in a row; from the first one, at the upper left, on.
static void wavefront(void) {
  const int has_west = run.rank % 2 == 1, has_east = !has_west && run.rank + 1 < run.size;
  const int has_north = run.rank >= 2, has_south = run.rank + 2 < run.size;
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    if (has_north)
      CALL(MPI_Recv(in[0], kCount, MPI_DOUBLE, run.rank - 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (has_west)
      CALL(MPI_Recv(in[1], kCount, MPI_DOUBLE, run.rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    WORK(i);
    if (has_south) CALL(MPI_Send(out[0], kCount, MPI_DOUBLE, run.rank + 2, 0, MPI_COMM_WORLD));
    if (has_east) CALL(MPI_Send(out[1], kCount, MPI_DOUBLE, run.rank + 1, 1, MPI_COMM_WORLD));
  }
}

// Rank 0 hands out work and takes what comes first; a delay of rank 0 is before it hands out.
static void master(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    if (run.rank > 0) {
      CALL(MPI_Recv(in[0], kCount, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      WORK(i);
      CALL(MPI_Send(out[0], kCount, MPI_DOUBLE, 0, run.rank, MPI_COMM_WORLD));
      continue;
    }
    WORK(i);
    for (int r = 1; r < run.size; ++r)
      CALL(MPI_Send(out[r], kCount, MPI_DOUBLE, r, r, MPI_COMM_WORLD));
    for (int r = 1; r < run.size; ++r)
      CALL(MPI_Recv(in[r], kCount, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  }
}

// All receive from all, one by one as they come.
static void waitany(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    int n = 0, which = 0;
    WORK(i);
    for (int r = 0; r < run.size; ++r)
      if (r != run.rank)
        CALL(MPI_Irecv(in[r], kCount, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &requests[n++]));
    for (int r = 0; r < run.size; ++r)
      if (r != run.rank) CALL(MPI_Send(out[r], kCount, MPI_DOUBLE, r, 0, MPI_COMM_WORLD));
    for (int k = 0; k < n; ++k) CALL(MPI_Waitany(n, requests, &which, MPI_STATUS_IGNORE));
  }
}

static void testsome(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    int n = 0, done = 0, which[kMostRanks];
    WORK(i);
    for (int r = 0; r < run.size; ++r)
      if (r != run.rank)
        CALL(MPI_Irecv(in[r], kCount, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &requests[n++]));
    for (int r = 0; r < run.size; ++r)
      if (r != run.rank) CALL(MPI_Send(out[r], kCount, MPI_DOUBLE, r, 0, MPI_COMM_WORLD));
    while (done < n) {
      int some = 0;
      CALL(MPI_Testsome(n, requests, &some, which, MPI_STATUSES_IGNORE));
      if (some > 0) done += some;
    }
  }
}

// Ranks look for their messages; some of them sleep where there is none.
static void iprobe(void) {
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    for (int r = 0; r < run.size; ++r)
      if (r != run.rank) CALL(MPI_Send(out[r], kCount, MPI_DOUBLE, r, i, MPI_COMM_WORLD));
    for (int done = 1; done < run.size;) {
      int found = 0, count = 0;
      MPI_Status status;
      CALL(MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &found, &status));
      if (!found) {
        if (run.rank % 2 == 1) usleep(20);
        continue;
      }
      CALL(MPI_Get_count(&status, MPI_DOUBLE, &count));
      CALL(MPI_Recv(in[status.MPI_SOURCE], count, MPI_DOUBLE, status.MPI_SOURCE, i, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
      ++done;
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD));
  }
}

const struct pattern messages[] = {{"halo", halo, 2},
                                   {"sendrecv", sendrecv, 2},
                                   {"persistent", persistent, 2},
                                   {"chain", chain, 1},
                                   {"blocking_chain", blocking_chain, 1},
                                   {"wavefront", wavefront, 1},
                                   {"master", master, 2},
                                   {"waitany", waitany, 2},
                                   {"testsome", testsome, 2},
                                   {"iprobe", iprobe, 2},
                                   {NULL, NULL, 0}};
