// What belongs to a window beside its memory: error handler, hints, name, attributes; and a test
// for the end of an exposure.
#include "calls.h"

static int handled;

static void handler(MPI_Win* w, int* code, ...) {
  (void)w;
  int error_class;
  DO(MPI_Error_class(*code, &error_class), "errorcode:i errorclass:s", *code, "MPI_ERR_OTHER");
  ++handled;
}

static void errors(MPI_Win win) {
  MPI_Errhandler own, got, old;
  DO(MPI_Win_create_errhandler(handler, &own), "errhandler:E+", own);
  DO(MPI_Win_set_errhandler(win, own), "win:W errhandler:E", win, own);
  DO(MPI_Win_call_errhandler(win, MPI_ERR_OTHER), "win:W errorcode:i", win, MPI_ERR_OTHER);
  EXPECT(handled == 1);
  DO(MPI_Win_get_errhandler(win, &got), "win:W errhandler:E", win, own);
  EXPECT(got == own);
  DO(MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL), "win:W errhandler:E", win,
     MPI_ERRORS_ARE_FATAL);
  old = got;
  DO(MPI_Errhandler_free(&got), "errhandler:E-", old);  // the other handle of it stays
}

static void describe(MPI_Win win) {
  MPI_Info info, used, old;
  DO(MPI_Info_create(&info), "info:N+", info);
  DO(MPI_Info_set(info, "no_locks", "false"), "info:N key:s value:s", info, "no_locks", "false");
  DO(MPI_Win_set_info(win, info), "win:W info:N", win, info);
  DO(MPI_Win_get_info(win, &used), "win:W info_used:N+", win, used);
  old = used;
  DO(MPI_Info_free(&used), "info:N-", old);
  old = info;
  DO(MPI_Info_free(&info), "info:N-", old);
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0, keyval, freed, flag;
  DO(MPI_Win_set_name(win, "halo"), "win:W win_name:s", win, "halo");
  DO(MPI_Win_get_name(win, name, &length), "win:W win_name:s resultlen:i", win, "halo", 4);
  static int payload;
  void* got = NULL;
  DO(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL),
     "win_keyval:K+", keyval);
  DO(MPI_Win_set_attr(win, keyval, &payload), "win:W win_keyval:K", win, keyval);
  DO(MPI_Win_get_attr(win, keyval, &got, &flag), "win:W win_keyval:K flag:i", win, keyval, 1);
  EXPECT(got == &payload);
  DO(MPI_Win_delete_attr(win, keyval), "win:W win_keyval:K", win, keyval);
  freed = keyval;
  DO(MPI_Win_free_keyval(&keyval), "win_keyval:K-", freed);
}

// Everybody writes to the next rank, and asks whether the one before is done with it.
static void exposure(MPI_Win win, int rank, int size, const int* memory) {
  MPI_Group world, writer, target;
  const int before = (rank + size - 1) % size, next = (rank + 1) % size;
  DO(MPI_Comm_group(MPI_COMM_WORLD, &world), "comm:C group:G+", MPI_COMM_WORLD, world);
  DO(MPI_Group_incl(world, 1, &before, &writer), "group:G n:i ranks:k newgroup:G+", world, 1, 1,
     &before, writer);
  DO(MPI_Group_incl(world, 1, &next, &target), "group:G n:i ranks:k newgroup:G+", world, 1, 1,
     &next, target);
  int value = rank + 40, flag = 0;
  DO(MPI_Win_post(writer, 0, win), "group:G win:W", writer, win);
  DO(MPI_Win_start(target, 0, win), "group:G win:W", target, win);
  DO(MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win), "origin_count:i target_rank:r win:W", 1,
     next, win);
  DO(MPI_Win_complete(win), "win:W", win);
  while (flag == 0) DO(MPI_Win_test(win, &flag), "win:W flag:i", win, flag);
  EXPECT(memory[0] == before + 40);
  L_Group_free(&target);
  L_Group_free(&writer);
  L_Group_free(&world);
}

static void passive(MPI_Win win, int rank, int size) {
  const int next = (rank + 1) % size;
  int value = rank;
  L_Barrier(MPI_COMM_WORLD);
  DO(MPI_Win_lock_all(0, win), "win:W", win);
  DO(MPI_Put(&value, 1, MPI_INT, next, 1, 1, MPI_INT, win), "origin_count:i target_rank:r win:W", 1,
     next, win);
  DO(MPI_Win_flush_local_all(win), "win:W", win);
  value = -1;  // may be written over from here on
  DO(MPI_Win_unlock_all(win), "win:W", win);
  L_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  int* memory;
  MPI_Win win, old;
  DO(MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win),
     "size:i disp_unit:i info:N comm:C win:W+", 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win);
  errors(win);
  describe(win);
  exposure(win, rank, size, memory);
  passive(win, rank, size);
  old = win;
  DO(MPI_Win_free(&win), "win:W-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
