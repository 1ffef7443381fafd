// Attributes whose functions ask their communicator, of one that MPI copies for files and windows:
// what a delete function is given there, no call has made.
#include "files_common.h"

static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)keyval, (void)extra;
  int size;
  DO(MPI_Comm_size(comm, &size), "size:i", size);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_fn(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)value, (void)extra;
  int size;
  DO(MPI_Comm_size(comm, &size), "size:i", size);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int me, n, keyval, freed, memory[4] = {0};
  log_init(&argc, &argv, &me, &n);
  DO(MPI_Comm_create_keyval(copy, delete_fn, &keyval, NULL), "comm_keyval:K+", keyval);
  DO(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, memory), "comm:C comm_keyval:K", MPI_COMM_WORLD,
     keyval);
  MPI_File f;
  L_File_open(&f, "inner");
  L_File_close(&f);
  MPI_Comm dup;
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "comm:C newcomm:C+", MPI_COMM_WORLD, dup, "@@dup");
  L_Comm_free(&dup);
  MPI_Win w, old;
  DO(MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w),
     "size:l disp_unit:i comm:C win:W+", (long long)sizeof(memory), 4, MPI_COMM_WORLD, w);
  old = w;
  DO(MPI_Win_free(&w), "win:W-", old);
  DO(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval), "comm:C comm_keyval:K", MPI_COMM_WORLD, keyval);
  freed = keyval;
  DO(MPI_Comm_free_keyval(&keyval), "comm_keyval:K-", freed);
  log_finalize();
  return 0;
}
