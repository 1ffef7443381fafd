// A dynamic window: blocks of the heap, of the stack and of the program's data are attached and
// detached, and accessed at the addresses that the others were told.
#include "calls.h"

enum { kBlocks = 3, kRounds = 3 };

static int in_data[8];

int main(int argc, char** argv) {
  int rank, size, in_stack[4] = {0};
  MPI_Win win;
  MPI_Status st;
  log_init(&argc, &argv, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  DO(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win), "info:N comm:C win:W+",
     MPI_INFO_NULL, MPI_COMM_WORLD, win);
  for (int round = 0; round < kRounds; ++round) {
    int* const in_heap = malloc(100000 * sizeof(int));
    int* const blocks[kBlocks] = {in_heap, in_stack, &in_data[2]};
    const MPI_Aint bytes[kBlocks] = {100000 * sizeof(int), sizeof in_stack, 4 * sizeof(int)};
    MPI_Aint mine[kBlocks], theirs[kBlocks];
    for (int i = 0; i < kBlocks; ++i) {
      DO(MPI_Win_attach(win, blocks[i], bytes[i]), "win:W size:i", win, (int)bytes[i]);
      DO(MPI_Get_address(blocks[i], &mine[i]), "");
      blocks[i][1] = -1;
    }
    DO(MPI_Sendrecv(mine, kBlocks, MPI_AINT, from, 0, theirs, kBlocks, MPI_AINT, to, 0,
                    MPI_COMM_WORLD, &st),
       "dest:r source:r status:S", from, to, &st);
    DO(MPI_Win_fence(0, win), "win:W", win);
    for (int i = 0; i < kBlocks; ++i) {
      const int out = rank * 10 + i;
      DO(MPI_Put(&out, 1, MPI_INT, to, theirs[i] + (MPI_Aint)sizeof(int), 1, MPI_INT, win),
         "origin_count:i target_rank:r win:W", 1, to, win);
      DO(MPI_Win_fence(0, win), "win:W", win);
    }
    for (int i = 0; i < kBlocks; ++i) {
      EXPECT(blocks[i][1] == from * 10 + i);
      DO(MPI_Win_detach(win, blocks[i]), "win:W", win);
    }
    L_Barrier(MPI_COMM_WORLD);  // nobody has the next block before all have given back theirs
    free(in_heap);
  }
  L_Win_free(&win);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
