// Collective access to files in two halves: it is begun, and later ended.
#include "files_common.h"

static int rank, size;

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  MPI_File f;
  L_File_open(&f, "refrain_test_split");
  int out[4] = {rank, rank + 10, rank + 20, rank + 30}, in[4] = {0};
  MPI_Status st;
  const MPI_Offset at = (MPI_Offset)sizeof out * rank;
  for (int round = 0; round < 3; ++round) {
    L_File_seek(f, at);
    L_Begin(MPI_File_write_all_begin, f, out, 2);
    L_End(MPI_File_write_all_end, f, out, &st);
    L_BeginAt(MPI_File_write_at_all_begin, f, at + 2 * (MPI_Offset)sizeof(int), out + 2, 2);
    L_End(MPI_File_write_at_all_end, f, out + 2, &st);
    DO(MPI_File_sync(f), "fh:F", f);
    L_File_seek(f, at);
    L_Begin(MPI_File_read_all_begin, f, in, 3);
    L_End(MPI_File_read_all_end, f, in, &st);
    EXPECT(in[0] == rank && in[2] == rank + 20);
    L_BeginAt(MPI_File_read_at_all_begin, f, at + 3 * (MPI_Offset)sizeof(int), in, 1);
    L_End(MPI_File_read_at_all_end, f, in, &st);
    EXPECT(in[0] == rank + 30);
  }
  L_File_close(&f);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
