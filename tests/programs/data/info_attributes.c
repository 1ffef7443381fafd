// Info objects; attributes with callbacks, which call MPI themselves: those calls are the
// program's.
#include "calls.h"

static int copies, deletions;

static int copy(MPI_Comm c, int keyval, void* extra, void* in, void* out, int* flag) {
  int n;
  (void)keyval, (void)extra;
  L_Comm_size(c, &n);
  *(void**)out = in;
  *flag = 1;
  ++copies;
  return MPI_SUCCESS;
}

static int delete_fn(MPI_Comm c, int keyval, void* value, void* extra) {
  int flag;
  (void)c, (void)keyval, (void)value, (void)extra;
  DO(MPI_Initialized(&flag), "flag:i", 1);
  ++deletions;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int rank, size, n, flag, length;
  log_init(&argc, &argv, &rank, &size);
  MPI_Info info, twin, old;
  char value[64], key[MPI_MAX_INFO_KEY];
  DO(MPI_Info_create(&info), "info:N+", info);
  DO(MPI_Info_set(info, "colour", "blue \"and\" green"), "info:N key:s value:s", info, "colour",
     "blue \"and\" green");
  DO(MPI_Info_set(info, "size", "3"), "info:N key:s value:s", info, "size", "3");
  DO(MPI_Info_dup(info, &twin), "info:N newinfo:N+", info, twin);
  DO(MPI_Info_get(twin, "colour", 63, value, &flag), "info:N key:s valuelen:i value:s flag:i", twin,
     "colour", 63, "blue \"and\" green", 1);
  DO(MPI_Info_get(twin, "absent", 63, value, &flag), "info:N key:s value:n flag:i", twin, "absent",
     0);
  DO(MPI_Info_get_nkeys(info, &n), "info:N nkeys:i", info, 2);
  DO(MPI_Info_get_nthkey(info, 0, key), "info:N n:i key:s", info, 0, key);
  DO(MPI_Info_get_valuelen(info, "size", &length, &flag), "info:N key:s valuelen:i flag:i", info,
     "size", 1, 1);
  DO(MPI_Info_delete(info, "size"), "info:N key:s", info, "size");
  MPI_Comm named;
  DO(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &named), "comm:C info:N newcomm:C+",
     MPI_COMM_WORLD, info, named, "@@named");
  old = info;
  DO(MPI_Info_free(&info), "info:N-", old);
  old = twin;
  DO(MPI_Info_free(&twin), "info:N-", old);

  int keyval, freed, *tag_ub;
  static int payload = 17;
  void* got;
  DO(MPI_Comm_create_keyval(copy, delete_fn, &keyval, NULL), "comm_keyval:K+", keyval);
  DO(MPI_Comm_set_attr(named, keyval, &payload), "comm:C comm_keyval:K", named, keyval);
  DO(MPI_Comm_get_attr(named, keyval, &got, &flag), "comm:C comm_keyval:K flag:i", named, keyval,
     1);
  EXPECT(got == &payload);
  DO(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag), "comm:C comm_keyval:K flag:i",
     MPI_COMM_WORLD, MPI_TAG_UB, 1);
  MPI_Comm second;
  DO(MPI_Comm_dup(named, &second), "comm:C newcomm:C+", named, second, "@@second");
  DO(MPI_Comm_get_attr(second, keyval, &got, &flag), "comm:C comm_keyval:K flag:i", second, keyval,
     1);
  EXPECT(got == &payload);
  DO(MPI_Comm_delete_attr(named, keyval), "comm:C comm_keyval:K", named, keyval);
  L_Comm_free(&second);
  freed = keyval;
  DO(MPI_Comm_free_keyval(&keyval), "comm_keyval:K-", freed);
  EXPECT(copies == 1 && deletions == 2);
  L_Comm_free(&named);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
