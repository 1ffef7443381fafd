// Error classes, codes and strings of the program's own, removed again (MPI 4.1).
#include "calls.h"

int main(int argc, char** argv) {
#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
  (void)argc, (void)argv;
  SKIP("error classes cannot be removed in this MPI");
#else
  int rank, size, new_class, code, length;
  char text[MPI_MAX_ERROR_STRING];
  log_init(&argc, &argv, &rank, &size);
  for (int round = 0; round < 3; ++round) {
    DO(MPI_Add_error_class(&new_class), "errorclass:i", new_class);
    DO(MPI_Add_error_code(new_class, &code), "errorclass:i errorcode:i", new_class, code);
    DO(MPI_Add_error_string(code, "our own"), "errorcode:i string:s", code, "our own");
    DO(MPI_Error_string(code, text, &length), "errorcode:i string:s resultlen:i", code, "our own",
       7);
    EXPECT(strcmp(text, "our own") == 0);
    DO(MPI_Remove_error_string(code), "errorcode:i", code);
    DO(MPI_Remove_error_code(code), "errorcode:i", code);
    DO(MPI_Remove_error_class(new_class), "errorclass:i", new_class);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
