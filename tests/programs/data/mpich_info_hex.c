// Bytes as the value of an info key, which MPICH writes as hexadecimal digits.
#include <strings.h>

#include "calls.h"

int main(int argc, char** argv) {
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 40200000
  (void)argc, (void)argv;
  SKIP("no MPIX_Info_set_hex in this MPI");
#else
  int rank, size, flag;
  char text[64];
  log_init(&argc, &argv, &rank, &size);
  const unsigned char value[3] = {1, 0xab, 0xff};
  MPI_Info info;
  DO(MPI_Info_create(&info), "info:N+", info);
  DO(MPIX_Info_set_hex(info, "bytes", value, sizeof value), "info:N key:s value:b value_size:i",
     info, "bytes", value, "stack", (int)sizeof value);
  DO(MPI_Info_get(info, "bytes", 63, text, &flag), "info:N key:s value:s flag:i", info, "bytes",
     text, 1);
  EXPECT(flag && strcasecmp(text, "01abff") == 0);
  const MPI_Info old = info;
  DO(MPI_Info_free(&info), "info:N-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
