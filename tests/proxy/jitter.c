/* A random pause before the calls that order messages, for a program of a proxy: what a proxy
 * forces must hold in other orders of events as well. Preloaded in front of the recorder.
 * REFRAIN_JITTER_US: the longest pause; REFRAIN_JITTER_SEED.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static unsigned long long state;

static void start(void) {
  const char* const seed = getenv("REFRAIN_JITTER_SEED");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  state = (seed ? strtoull(seed, NULL, 10) : 1) * 1000003u + (unsigned long long)rank + 1;
}

static void pause_a_while(void) {
  const char* const most = getenv("REFRAIN_JITTER_US");
  if (state == 0) start();
  state = state * 6364136223846793005u + 1442695040888963407u;
  const unsigned long long us = most ? strtoull(most, NULL, 10) : 1000;
  const struct timespec time = {0, (long)((state >> 33) % (us + 1)) * 1000};
  nanosleep(&time, NULL);
}

#define PAUSED(NAME, DECLARED, GIVEN)                           \
  int NAME DECLARED {                                           \
    static int(*next) DECLARED;                                 \
    if (!next) next = (int(*) DECLARED)dlsym(RTLD_NEXT, #NAME); \
    pause_a_while();                                            \
    return next GIVEN;                                          \
  }

PAUSED(MPI_Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
       (b, n, t, to, tag, c))
PAUSED(MPI_Ssend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
       (b, n, t, to, tag, c))
PAUSED(MPI_Isend,
       (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
       (b, n, t, to, tag, c, r))
PAUSED(MPI_Issend,
       (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
       (b, n, t, to, tag, c, r))
PAUSED(MPI_Recv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s),
       (b, n, t, from, tag, c, s))
PAUSED(MPI_Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
       (b, n, t, from, tag, c, r))
PAUSED(MPI_Probe, (int from, int tag, MPI_Comm c, MPI_Status* s), (from, tag, c, s))
PAUSED(MPI_Iprobe, (int from, int tag, MPI_Comm c, int* flag, MPI_Status* s),
       (from, tag, c, flag, s))
PAUSED(MPI_Wait, (MPI_Request * r, MPI_Status* s), (r, s))
PAUSED(MPI_Waitany, (int n, MPI_Request* r, int* i, MPI_Status* s), (n, r, i, s))
PAUSED(MPI_Waitsome, (int n, MPI_Request* r, int* m, int* i, MPI_Status* s), (n, r, m, i, s))
PAUSED(MPI_Testany, (int n, MPI_Request* r, int* i, int* flag, MPI_Status* s), (n, r, i, flag, s))
PAUSED(MPI_Barrier, (MPI_Comm c), (c))
