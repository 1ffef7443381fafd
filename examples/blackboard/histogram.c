/* Counts numbers by their sizes with one blackboard of all ranks. Every rank has a part of the
 * numbers; "split" turns a pack of them into an entry for each kind of number, and "count" adds
 * those of one kind up, at the rank that owns this kind. The output does not depend on the ranks
 * and threads.
 *
 *   mpiexec -n 4 ./histogram 1000 2      packs of the job, workers of each rank
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refrain/shared_blackboard.h"

enum { kKinds = 8, kPack = 1000 };

static refrain_shared_board* board;
static refrain_type kinds[kKinds];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long counts[kKinds], sums[kKinds]; /* of the kinds that this rank owns */

/* A pack of numbers: how many of each kind, and their sums. */
static void split(refrain_blackboard* local, refrain_entry* const* entries, int count,
                  void* context) {
  const unsigned* const numbers = refrain_entry_data(entries[0]);
  unsigned long long found[kKinds][2];
  memset(found, 0, sizeof found);
  for (int i = 0; i < kPack; ++i) {
    ++found[numbers[i] % kKinds][0];
    found[numbers[i] % kKinds][1] += numbers[i];
  }
  for (int kind = 0; kind < kKinds; ++kind)
    refrain_shared_board_submit_copy(board, kinds[kind], found[kind], sizeof found[kind]);
  (void)local, (void)count, (void)context;
}

static void add(refrain_blackboard* local, refrain_entry* const* entries, int count,
                void* context) {
  const unsigned long long* const found = refrain_entry_data(entries[0]);
  const long kind = (long)((refrain_type*)context - kinds);
  pthread_mutex_lock(&lock);
  counts[kind] += found[0];
  sums[kind] += found[1];
  pthread_mutex_unlock(&lock);
  (void)local, (void)count;
}

int main(int argc, char** argv) {
  const int packs = argc > 1 ? atoi(argv[1]) : 100, workers = argc > 2 ? atoi(argv[2]) : 2;
  int provided, rank, size, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  board = refrain_shared_board_new(MPI_Comm_c2f(MPI_COMM_WORLD), workers, 1 << 20);
  if (board == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

  /* Packs are split where they are read: each rank has a type of its own for them. */
  refrain_type own = 0;
  for (int r = 0; r < size; ++r) {
    char level[32];
    snprintf(level, sizeof level, "rank %d", r);
    const refrain_type type = refrain_type_of(level, "pack");
    refrain_shared_board_give(board, type, r);
    refrain_shared_board_add(board, "split", &type, 1, split, NULL);
    if (r == rank) own = type;
  }
  for (int kind = 0; kind < kKinds; ++kind) {
    char name[32];
    snprintf(name, sizeof name, "kind %d", kind);
    kinds[kind] = refrain_type_of("histogram", name);
    refrain_shared_board_add(board, "count", &kinds[kind], 1, add, &kinds[kind]);
  }

  for (int pack = rank; pack < packs; pack += size) {
    unsigned numbers[kPack];
    for (int i = 0; i < kPack; ++i)
      numbers[i] = ((unsigned)pack * kPack + (unsigned)i) * 2654435761u >> 20;
    if (refrain_shared_board_submit_copy(board, own, numbers, sizeof numbers) < 0) status = 1;
  }
  if (refrain_shared_board_wait(board) < 0) status = 1;

  unsigned long long all_counts[kKinds], all_sums[kKinds];
  MPI_Reduce(counts, all_counts, kKinds, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(sums, all_sums, kKinds, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int kind = 0; kind < kKinds && rank == 0; ++kind)
    printf("kind %d: %llu numbers, sum %llu\n", kind, all_counts[kind], all_sums[kind]);
  refrain_shared_board_free(board);
  MPI_Finalize();
  return status;
}
