// Access to a file at the pointer that all ranks share: in any order, and in that of the ranks.
#include "files_common.h"

static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI

// Which rank writes where is chance; what all of them have written is not.
static void in_any_order(MPI_File f) {
  int out[2] = {rank + 1, rank + 1}, in[2] = {0, 0};
  MPI_Request r;
  MPI_Status st;
  MPI_Offset at = -1;
  L_Access(MPI_File_write_shared, f, out, 1, &st);
  L_Start(MPI_File_iwrite_shared, f, out, 1, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  DO(MPI_File_sync(f), "fh:F", f);
  L_Barrier(W);
  DO(MPI_File_get_position_shared(f, &at), "fh:F offset:i", f, 2 * size);
  EXPECT(at == 2 * size);
  L_Barrier(W);
  DO(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), "fh:F offset:i whence:s", f, 0, "MPI_SEEK_SET");
  L_Barrier(W);
  L_Access(MPI_File_read_shared, f, &in[0], 1, &st);
  L_Start(MPI_File_iread_shared, f, &in[1], 1, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  int mine = in[0] + in[1], all = 0;
  L_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, W);
  EXPECT(all == size * (size + 1));
}

static void in_order(MPI_File f) {
  int out[2] = {100 + rank, 200 + rank}, in[2] = {0, 0};
  MPI_Status st;
  L_Barrier(W);
  DO(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), "fh:F offset:i whence:s", f, 0, "MPI_SEEK_SET");
  L_Access(MPI_File_write_ordered, f, out, 1, &st);
  L_Begin(MPI_File_write_ordered_begin, f, out + 1, 1);
  L_End(MPI_File_write_ordered_end, f, out + 1, &st);
  DO(MPI_File_sync(f), "fh:F", f);
  L_Barrier(W);
  DO(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), "fh:F offset:i whence:s", f, 0, "MPI_SEEK_SET");
  L_Access(MPI_File_read_ordered, f, in, 1, &st);
  L_Begin(MPI_File_read_ordered_begin, f, in + 1, 1);
  L_End(MPI_File_read_ordered_end, f, in + 1, &st);
  EXPECT(in[0] == 100 + rank && in[1] == 200 + rank);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  MPI_File f;
  L_File_open(&f, "refrain_test_shared");
  // Offsets of the shared pointer count ints.
  DO(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
     "fh:F disp:i etype:D filetype:D datarep:s info:N", f, 0, MPI_INT, MPI_INT, "native",
     MPI_INFO_NULL);
  in_any_order(f);
  in_order(f);
  L_File_close(&f);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
