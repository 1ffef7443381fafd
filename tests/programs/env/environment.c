// What MPI says of itself, of where it runs and of how it was started; and sums of addresses.
#include "calls.h"

int main(int argc, char** argv) {
  int provided = -1, flag = -1, length = 0, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  DID("MPI_Init_thread", "required:s provided:s", "MPI_THREAD_SERIALIZED",
      provided == MPI_THREAD_MULTIPLE     ? "MPI_THREAD_MULTIPLE"
      : provided == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : "?");
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  int again = -1;
  MPI_Query_thread(&again);
  DID("MPI_Query_thread", "provided:s",
      provided == MPI_THREAD_MULTIPLE     ? "MPI_THREAD_MULTIPLE"
      : provided == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : "?");
  EXPECT(again == provided);
  DO(MPI_Is_thread_main(&flag), "flag:i", 1);
  EXPECT(flag == 1);
  char name[MPI_MAX_PROCESSOR_NAME] = "", version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  DO(MPI_Get_processor_name(name, &length), "name:s resultlen:i", name, length);
  EXPECT(length == (int)strlen(name));
  DO(MPI_Get_library_version(version, &length), "version:s resultlen:i", version, length);
  EXPECT(length > 0);

  MPI_Comm parent;
  DO(MPI_Comm_get_parent(&parent), "parent:C", MPI_COMM_NULL);
  EXPECT(parent == MPI_COMM_NULL);

  static int data[4];
  MPI_Aint begin, end;
  MPI_Get_address(&data[0], &begin);
  DID("MPI_Get_address", "location:b", &data[0], "data");
  MPI_Get_address(&data[3], &end);
  DID("MPI_Get_address", "location:b", &data[3], "data");
#ifndef MPI_Aint_diff  // macros of Open MPI
  MPI_Aint sum, difference;
  // Sums and differences of addresses are addresses, or numbers.
  GET(difference, MPI_Aint_diff(end, begin), "=return:i", 12);
  EXPECT(difference == 12);
  GET(sum, MPI_Aint_add(begin, difference), "disp:i", 12);
  EXPECT(sum == end);
#endif

#if MPI_VERSION >= 4
  MPI_Info info, old;
  char value[64] = "";
  int room = sizeof value;
  DO(MPI_Info_create_env(0, NULL, &info), "argc:i info:N+", 0, info);
  old = info;
  DO(MPI_Info_free(&info), "info:N-", old);
  DO(MPI_Info_create(&info), "info:N+", info);
  DO(MPI_Info_set(info, "colour", "blue"), "info:N key:s value:s", info, "colour", "blue");
  DO(MPI_Info_get_string(info, "colour", &room, value, &flag),
     "info:N key:s buflen:i buflen_in:i value:s flag:i", info, "colour", 5, 64, "blue", 1);
  EXPECT(strcmp(value, "blue") == 0 && room == 5);
  room = sizeof value;
  DO(MPI_Info_get_string(info, "absent", &room, value, &flag), "info:N key:s value:n flag:i", info,
     "absent", 0);
  old = info;
  DO(MPI_Info_free(&info), "info:N-", old);
#endif
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
