// Texts that a program gives to MPI: with quotes, control characters, bytes that are no UTF-8,
// empty ones, long ones; as names of objects and in an info object.
#include "calls.h"

enum { kKeys = 20 };

int main(int argc, char** argv) {
  int rank, size, length, n, flag;
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  const char* names[] = {"quote\" back\\slash", "line\nfeed\ttab\x01", "gr\xc3\xbc\xc3\x9f", "",
                         "x</script>"};
  char got[MPI_MAX_OBJECT_NAME];
  for (int i = 0; i < 5; ++i) {
    DO(MPI_Comm_set_name(W, names[i]), "comm:C comm_name:s", W, names[i]);
    DO(MPI_Comm_get_name(W, got, &length), "comm:C comm_name:s resultlen:i", W, names[i],
       (int)strlen(names[i]));
    EXPECT(strcmp(got, names[i]) == 0);
  }
  // How it is shown is the reader's affair; that it is shown, and what follows, is checked.
  DO(MPI_Comm_set_name(W, "bad\xff\xfe utf\xc3"), "comm:C", W);
  MPI_Datatype pair;
  DO(MPI_Type_contiguous(2, MPI_INT, &pair), "count:i oldtype:D newtype:D+", 2, MPI_INT, pair);
  DO(MPI_Type_set_name(pair, names[0]), "datatype:D type_name:s", pair, names[0]);
  DO(MPI_Type_get_name(pair, got, &length), "datatype:D type_name:s resultlen:i", pair, names[0],
     (int)strlen(names[0]));
  L_Type_free(&pair);

  static char value[MPI_MAX_INFO_VAL], back[MPI_MAX_INFO_VAL + 1];
  memset(value, 'v', sizeof value - 1);
  MPI_Info info, old;
  DO(MPI_Info_create(&info), "info:N+", info);
  for (int i = 0; i < kKeys; ++i) {
    char key[16];
    snprintf(key, sizeof key, "k%d", i);
    const char* shorter = value + i * 10;
    DO(MPI_Info_set(info, key, shorter), "info:N key:s value:s", info, key, shorter);
    DO(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, back, &flag),
       "info:N key:s valuelen:i value:s flag:i", info, key, MPI_MAX_INFO_VAL, shorter, 1);
    EXPECT(strcmp(back, shorter) == 0);
  }
  DO(MPI_Info_get_nkeys(info, &n), "info:N nkeys:i", info, kKeys);
  DO(MPI_Info_get(info, "absent", MPI_MAX_INFO_VAL, back, &flag),
     "info:N key:s valuelen:i value:n flag:i", info, "absent", MPI_MAX_INFO_VAL, 0);
  old = info;
  DO(MPI_Info_free(&info), "info:N-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
