// One-sided communication: all kinds of windows, synchronisations and accesses.
#include "calls.h"

static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI

#define kAccess \
  "origin_count:i origin_datatype:D target_rank:r target_disp:i target_count:i target_datatype:D"

static void fences(void) {
  int* base;
  MPI_Win win;
  DO(MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, W, &base, &win),
     "size:i disp_unit:i info:N comm:C win:W+", 64, 4, MPI_INFO_NULL, W, win);
  const int to = (rank + 1) % size;
  int value = rank + 1, got = -1;
  for (int i = 0; i < 16; ++i) base[i] = 0;
  DO(MPI_Win_fence(0, win), "win:W", win);
  DO(MPI_Put(&value, 1, MPI_INT, to, 3, 1, MPI_INT, win), kAccess " win:W", 1, MPI_INT, to, 3, 1,
     MPI_INT, win);
  DO(MPI_Accumulate(&value, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, win), kAccess " op:O win:W", 1,
     MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, win);
  DO(MPI_Win_fence(0, win), "win:W", win);
  DO(MPI_Get(&got, 1, MPI_INT, to, 3, 1, MPI_INT, win), kAccess " win:W", 1, MPI_INT, to, 3, 1,
     MPI_INT, win);
  DO(MPI_Win_fence(0, win), "win:W", win);
  EXPECT(got == rank + 1 && (rank != 0 || base[5] == size * (size + 1) / 2));
  L_Win_free(&win);
}

static void post_start(void) {
  static int memory[8];
  MPI_Win win;
  MPI_Group world, others;
  DO(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, W, &win),
     "size:i disp_unit:i info:N comm:C win:W+", 32, 4, MPI_INFO_NULL, W, win);
  DO(MPI_Comm_group(W, &world), "comm:C group:G+", W, world);
  int partner = rank ^ 1;
  if (partner < size) {
    DO(MPI_Group_incl(world, 1, &partner, &others), "group:G n:i ranks:V newgroup:G+", world, 1, 1,
       &partner, others);
    DO(MPI_Win_post(others, 0, win), "group:G win:W", others, win);
    DO(MPI_Win_start(others, 0, win), "group:G win:W", others, win);
    DO(MPI_Put(&rank, 1, MPI_INT, partner, 1, 1, MPI_INT, win), kAccess " win:W", 1, MPI_INT,
       partner, 1, 1, MPI_INT, win);
    DO(MPI_Win_complete(win), "win:W", win);
    DO(MPI_Win_wait(win), "win:W", win);
    EXPECT(memory[1] == partner);
    L_Group_free(&others);
  }
  L_Group_free(&world);
  L_Win_free(&win);
}

static void locks(void) {
  int* base;
  MPI_Win win;
  DO(MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, W, &base, &win),
     "size:i disp_unit:i comm:C win:W+", 16, 4, W, win);
  base[0] = base[1] = base[2] = base[3] = 0;
  L_Barrier(W);
  const int to = (rank + 1) % size;
  int one = 1, old = -1, two = 2, zero = 0;
  MPI_Request r[4];
  DO(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win), "lock_type:s rank:r win:W", "MPI_LOCK_EXCLUSIVE",
     to, win);
  DO(MPI_Put(&two, 1, MPI_INT, to, 2, 1, MPI_INT, win), kAccess " win:W", 1, MPI_INT, to, 2, 1,
     MPI_INT, win);
  DO(MPI_Win_flush(to, win), "rank:r win:W", to, win);
  DO(MPI_Win_unlock(to, win), "rank:r win:W", to, win);
  DO(MPI_Win_lock_all(0, win), "win:W", win);
  DO(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win),
     "datatype:D target_rank:r target_disp:i op:O win:W", MPI_INT, 0, 0, MPI_SUM, win);
  DO(MPI_Win_flush_all(win), "win:W", win);
  DO(MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, to, 1, win),
     "datatype:D target_rank:r target_disp:i win:W", MPI_INT, to, 1, win);
  DO(MPI_Get_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, to, 3, 1, MPI_INT, MPI_REPLACE, win),
     "origin_count:i result_count:i target_rank:r target_disp:i op:O win:W", 1, 1, to, 3,
     MPI_REPLACE, win);
  DO(MPI_Win_flush_local(to, win), "rank:r win:W", to, win);
  DO(MPI_Rput(&one, 1, MPI_INT, to, 2, 1, MPI_INT, win, &r[0]), kAccess " win:W request:R+", 1,
     MPI_INT, to, 2, 1, MPI_INT, win, &r[0]);
  L_Wait(&r[0], MPI_STATUS_IGNORE);
  DO(MPI_Rget(&old, 1, MPI_INT, to, 0, 1, MPI_INT, win, &r[1]), kAccess " win:W request:R+", 1,
     MPI_INT, to, 0, 1, MPI_INT, win, &r[1]);
  L_Wait(&r[1], MPI_STATUS_IGNORE);
  DO(MPI_Raccumulate(&one, 1, MPI_INT, to, 2, 1, MPI_INT, MPI_SUM, win, &r[2]),
     kAccess " op:O win:W request:R+", 1, MPI_INT, to, 2, 1, MPI_INT, MPI_SUM, win, &r[2]);
  L_Wait(&r[2], MPI_STATUS_IGNORE);
  DO(MPI_Rget_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, to, 2, 1, MPI_INT, MPI_SUM, win,
                         &r[3]),
     "target_rank:r op:O win:W request:R+", to, MPI_SUM, win, &r[3]);
  L_Wait(&r[3], MPI_STATUS_IGNORE);
  DO(MPI_Win_sync(win), "win:W", win);
  DO(MPI_Win_unlock_all(win), "win:W", win);
  L_Barrier(W);
  EXPECT(rank != 0 || base[0] == size);
  L_Win_free(&win);
}

static void shared_and_dynamic(void) {
  int *mine, *theirs;
  MPI_Win win;
  MPI_Comm node;
  DO(MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
     "comm:C split_type:s key:i newcomm:C+", W, "MPI_COMM_TYPE_SHARED", 0, node, "?");
  DO(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win),
     "size:i disp_unit:i comm:C win:W+", 4, 4, node, win);
  int node_rank;
  L_Comm_rank(node, &node_rank);
  *mine = node_rank;
  MPI_Aint bytes;
  int unit;
  DO(MPI_Win_fence(0, win), "win:W", win);
  DO(MPI_Win_shared_query(win, 0, &bytes, &unit, &theirs), "win:W rank:r size:i disp_unit:i", win,
     0, 4, 4);
  EXPECT(*theirs == 0);
  DO(MPI_Win_fence(0, win), "win:W", win);
  L_Win_free(&win);
  L_Comm_free(&node);
  static int memory[4];
  MPI_Aint address, target;
  DO(MPI_Win_create_dynamic(MPI_INFO_NULL, W, &win), "info:N comm:C win:W+", MPI_INFO_NULL, W, win);
  DO(MPI_Win_attach(win, memory, sizeof memory), "win:W size:i", win, 16);
  DO(MPI_Get_address(memory, &address), "");
  MPI_Status st;
  DO(MPI_Sendrecv(&address, 1, MPI_AINT, (rank + size - 1) % size, 0, &target, 1, MPI_AINT,
                  (rank + 1) % size, 0, W, &st),
     "dest:r source:r status:S", (rank + size - 1) % size, (rank + 1) % size, &st);
  DO(MPI_Win_fence(0, win), "win:W", win);
  DO(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, target, 1, MPI_INT, win),
     "origin_count:i target_rank:r win:W", 1, (rank + 1) % size, win);
  DO(MPI_Win_fence(0, win), "win:W", win);
  EXPECT(memory[0] == (rank + size - 1) % size);
  DO(MPI_Win_detach(win, memory), "win:W", win);
  DO(MPI_Win_set_name(win, "dynamic"), "win:W win_name:s", win, "dynamic");
  MPI_Group g;
  DO(MPI_Win_get_group(win, &g), "win:W group:G+", win, g);
  L_Group_free(&g);
  L_Win_free(&win);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  for (int round = 0; round < 2; ++round) {
    fences();
    post_start();
    locks();
    shared_and_dynamic();
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
