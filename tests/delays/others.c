// One-sided communication, files, threads.
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "delays.h"

enum { kCount = 16 };

static double memory[kCount], out[kCount];

static MPI_Win window(void) {
  MPI_Win win;
  MPI_Win_create(memory, sizeof(memory), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  return win;
}

static void fence(void) {
  const int right = (run.rank + 1) % run.size;
  MPI_Win win = window();
  CALL(MPI_Win_fence(0, win));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Put(out, kCount, MPI_DOUBLE, right, 0, kCount, MPI_DOUBLE, win));
    CALL(MPI_Win_fence(0, win));
  }
  CALL(MPI_Win_free(&win));
}

// Each puts to the rank after it.
static void pscw(void) {
  const int left = (run.rank + run.size - 1) % run.size, right = (run.rank + 1) % run.size;
  MPI_Win win = window();
  MPI_Group world, to, from;
  CALL(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CALL(MPI_Group_incl(world, 1, &right, &to));
  CALL(MPI_Group_incl(world, 1, &left, &from));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_Win_post(from, 0, win));
    CALL(MPI_Win_start(to, 0, win));
    CALL(MPI_Put(out, kCount, MPI_DOUBLE, right, 0, kCount, MPI_DOUBLE, win));
    CALL(MPI_Win_complete(win));
    CALL(MPI_Win_wait(win));
  }
  CALL(MPI_Win_free(&win));
}

// All want the window of rank 0, which does nothing else; the delay is while one has it.
static void lock(void) {
  MPI_Win win = window();
  for (int i = 0; i < run.iterations; ++i) {
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    if (run.rank == 0) continue;
    if (run.rank != run.first) usleep(2000);  // that one has it first
    CALL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CALL(MPI_Put(out, kCount, MPI_DOUBLE, 0, 0, kCount, MPI_DOUBLE, win));
    CALL(MPI_Win_flush(0, win));
    if (run.rank == run.first) WORK(i);
    CALL(MPI_Win_unlock(0, win));
  }
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  CALL(MPI_Win_free(&win));
}

static void file(void) {
  char name[64];
  MPI_File handle;
  int id = run.rank == 0 ? (int)getpid() : 0;
  CALL(MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD));
  snprintf(name, sizeof(name), "delays.%d.data", id);
  CALL(MPI_File_open(MPI_COMM_WORLD, name,
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &handle));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < run.iterations; ++i) {
    WORK(i);
    CALL(MPI_File_set_size(handle, (MPI_Offset)(i + 1) * (MPI_Offset)sizeof(out)));
  }
  CALL(MPI_File_close(&handle));
}

#ifdef DELAYS_WITH_THREADS
#include <pthread.h>

static double in[2][kCount];

static void* thread_halo(void* argument) {
  const int which = *(const int*)argument;
  const int left = (run.rank + run.size - 1) % run.size, right = (run.rank + 1) % run.size;
  for (int i = 0; i < run.iterations; ++i) {
    MPI_Request requests[2];
    if (which == 1)
      WORK(i);
    else
      usleep(100);
    CALL(MPI_Irecv(in[which], kCount, MPI_DOUBLE, left, which, MPI_COMM_WORLD, &requests[0]));
    CALL(MPI_Isend(out, kCount, MPI_DOUBLE, right, which, MPI_COMM_WORLD, &requests[1]));
    CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
  return NULL;
}

// Two threads with a halo each; the delay is in the second one.
static void threads(void) {
  const int numbers[2] = {0, 1};
  pthread_t second;
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  pthread_create(&second, NULL, thread_halo, (void*)&numbers[1]);
  thread_halo((void*)&numbers[0]);
  pthread_join(second, NULL);
}
#endif

const struct pattern others[] = {{"fence", fence, 2},     {"pscw", pscw, 2},
                                 {"lock", lock, 2},       {"file", file, 2},
#ifdef DELAYS_WITH_THREADS
                                 {"threads", threads, 2},
#endif
                                 {NULL, NULL, 0}};
