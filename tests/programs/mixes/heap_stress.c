// Threads that allocate and free at random, contents checked; names by a model of our own.
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>

#include "calls.h"

enum { kThreads = 3, kBlocks = 300, kSteps = 20000, kUses = 600 };

struct Block {
  unsigned char* at;
  size_t bytes;
  unsigned char fill;
  int name;  // -1: none yet
};

struct Worker {
  unsigned random;
  struct Block blocks[kBlocks];
};

static unsigned next(struct Worker* w) {
  w->random = w->random * 1664525u + 1013904223u;
  return w->random >> 8;
}

static size_t random_size(struct Worker* w) {
  switch (next(w) % 40) {
    case 0: return next(w) % 3000000;
    case 1:
    case 2: return 60000 + next(w) % 12000;
    default: return next(w) % 2000;
  }
}

static void fill(struct Block* b, unsigned char with) {
  b->fill = with;
  if (b->bytes > 0) memset(b->at, with, b->bytes);
}

static void check(const struct Block* b, size_t bytes) {
  for (size_t i = 0; i < bytes; i += i < 100 ? 1 : 97) EXPECT(b->at[i] == b->fill);
}

static void allocate(struct Worker* w, struct Block* b) {
  b->bytes = random_size(w);
  b->name = -1;
  switch (next(w) % 4) {
    case 0:
      b->at = calloc(1, b->bytes);
      b->fill = 0;
      check(b, b->bytes);
      break;
    case 1: b->at = memalign((size_t)16 << next(w) % 9, b->bytes); break;
    default: b->at = malloc(b->bytes); break;
  }
  EXPECT(b->at != NULL);
  fill(b, (unsigned char)next(w));
}

// One random step; returns a block that has ended with the name it had, or -1.
static int step(struct Worker* w) {
  struct Block* b = &w->blocks[next(w) % kBlocks];
  if (b->at == NULL) return allocate(w, b), -1;
  check(b, b->bytes);
  if (next(w) % 4 == 0) {
    const size_t bytes = random_size(w) + 1, kept = bytes < b->bytes ? bytes : b->bytes;
    b->at = realloc(b->at, bytes);
    EXPECT(b->at != NULL);
    check(b, kept);
    b->bytes = bytes;
    fill(b, (unsigned char)next(w));
    return -1;
  }
  free(b->at);
  b->at = NULL;
  return b->name;
}

static void* churn(void* argument) {
  struct Worker* w = argument;
  for (int i = 0; i < kSteps; ++i) step(w);
  for (int i = 0; i < kBlocks; ++i) free(w->blocks[i].at);
  return NULL;
}

static struct Worker workers[kThreads + 1];

int main(int argc, char** argv) {
  int rank, size, provided, used[kBlocks] = {0};
  EXPECT(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS);
  DID("MPI_Init_thread", "argc:i", argc);
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t threads[kThreads];
  for (int t = 0; t < kThreads; ++t) {
    workers[t].random = (unsigned)(rank * 100 + t);
    pthread_create(&threads[t], NULL, churn, &workers[t]);
  }
  struct Worker* mine = &workers[kThreads];
  mine->random = 4711;
  for (int use = 0; use < kUses; ++use) {
    for (int i = 0; i < 20; ++i) {
      const int name = step(mine);
      if (name >= 0) used[name] = 0;
    }
    struct Block* b = &mine->blocks[next(mine) % kBlocks];
    if (b->at == NULL || b->bytes == 0) continue;
    if (b->name < 0) {
      b->name = 0;
      while (used[b->name]) ++b->name;
      used[b->name] = 1;
    }
    const size_t offset = next(mine) % b->bytes;
    char name[64];
    const int n = snprintf(name, sizeof name, "heap#%d", b->name);
    if (offset > 0) snprintf(name + n, sizeof name - (size_t)n, "+%zu", offset);
    DO(MPI_Bcast(b->at + offset, 1, MPI_CHAR, 0, MPI_COMM_SELF), "buffer:s", name);
  }
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  for (int i = 0; i < kBlocks; ++i) free(mine->blocks[i].at);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
