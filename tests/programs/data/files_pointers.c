// Access to a file at its individual pointer and at offsets: blocking, nonblocking, collective.
#include "files_common.h"

static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI

enum { kMine = 4 };  // ints of a rank

static void at_the_pointer(MPI_File f) {
  int out[kMine] = {rank, rank + 1, rank + 2, rank + 3}, in[kMine];
  MPI_Offset at = 0, byte = 0;
  MPI_Request r;
  MPI_Status st;
  DO(MPI_File_set_view(f, (MPI_Offset)(kMine * sizeof(int)) * rank, MPI_INT, MPI_INT, "native",
                       MPI_INFO_NULL),
     "fh:F disp:l etype:D filetype:D datarep:s info:N", f, (long long)(kMine * sizeof(int)) * rank,
     MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_Offset disp;
  MPI_Datatype etype, filetype;
  char datarep[MPI_MAX_DATAREP_STRING];
  DO(MPI_File_get_view(f, &disp, &etype, &filetype, datarep),
     "fh:F disp:l etype:D filetype:D datarep:s", f, (long long)(kMine * sizeof(int)) * rank,
     MPI_INT, MPI_INT, "native");
  EXPECT(etype == MPI_INT);
  L_Access(MPI_File_write, f, out, 2, &st);
  DO(MPI_File_get_position(f, &at), "fh:F offset:i", f, 2);
  EXPECT(at == 2);
  DO(MPI_File_get_byte_offset(f, 2, &byte), "fh:F offset:i disp:l", f, 2,
     (long long)(kMine * rank + 2) * (long long)sizeof(int));
  L_Start(MPI_File_iwrite, f, out + 2, 2, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  DO(MPI_File_sync(f), "fh:F", f);
  L_File_seek(f, 0);
  L_Access(MPI_File_read, f, in, 3, &st);
  EXPECT(in[0] == rank && in[2] == rank + 2);
  L_Start(MPI_File_iread, f, in, 1, &r);
  L_Wait(&r, &st);
  EXPECT(in[0] == rank + 3);
  L_File_seek(f, 0);
  L_Access(MPI_File_write_all, f, out, kMine, &st);
  L_File_seek(f, 0);
  L_Access(MPI_File_read_all, f, in, kMine, &st);
  EXPECT(in[3] == rank + 3);
}

static void at_offsets(MPI_File f) {
  int out[kMine] = {10 * rank, 1, 2, 3}, in[kMine];
  MPI_Request r;
  MPI_Status st;
  L_AccessAt(MPI_File_write_at, f, 0, out, kMine, &st);
  L_AccessAt(MPI_File_read_at, f, 0, in, 1, &st);
  EXPECT(in[0] == 10 * rank);
  L_AccessAt(MPI_File_write_at_all, f, 0, out, kMine, &st);
  L_AccessAt(MPI_File_read_at_all, f, 0, in, kMine, &st);
  EXPECT(in[0] == 10 * rank && in[3] == 3);
  L_StartAt(MPI_File_iwrite_at, f, 1, out, 1, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  L_StartAt(MPI_File_iread_at, f, 1, in, 1, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  EXPECT(in[0] == 10 * rank);
}

static void nonblocking_collectives(MPI_File f) {
#if MPI_VERSION > 3 || (MPI_VERSION == 3 && MPI_SUBVERSION >= 1)
  int out[kMine] = {20 * rank, 5, 6, 7}, in[kMine];
  MPI_Request r;
  L_File_seek(f, 0);
  L_Start(MPI_File_iwrite_all, f, out, kMine, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  L_File_seek(f, 0);
  L_Start(MPI_File_iread_all, f, in, kMine, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  EXPECT(in[0] == 20 * rank && in[3] == 7);
  L_StartAt(MPI_File_iwrite_at_all, f, 2, out, 1, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  L_StartAt(MPI_File_iread_at_all, f, 2, in, 1, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  EXPECT(in[0] == 20 * rank);
#else
  (void)f;
#endif
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  MPI_File f;
  L_File_open(&f, "refrain_test_pointers");
  at_the_pointer(f);
  at_offsets(f);
  nonblocking_collectives(f);
  L_File_close(&f);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
