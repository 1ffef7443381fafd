// MPI-IO in a directory of its own. The library's own calls inside (ROMIO makes many) do not count.
#include <unistd.h>

#include "calls.h"

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  const char* folder = getenv("REFRAIN_TEST_DIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/refrain_test_file", folder ? folder : "/tmp");
  MPI_File f, old;
  MPI_Status st;
  MPI_Request r;
  int out[4] = {rank, rank, rank, rank}, in[4];
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  if (rank == 0) {  // it is not there yet
    const int rc =
        DO(MPI_File_delete(path, MPI_INFO_NULL), "filename:s info:N", path, MPI_INFO_NULL);
    EXPECT(rc != MPI_SUCCESS);
  }
  L_Barrier(W);
  DO(MPI_File_open(W, path, mode, MPI_INFO_NULL, &f), "comm:C filename:s amode:s info:N fh:F+", W,
     path, "|MPI_MODE_CREATE|MPI_MODE_RDWR", MPI_INFO_NULL, f);
  const MPI_Offset at = 16 * rank;
  DO(MPI_File_set_size(f, 16 * size), "fh:F size:i", f, 16 * size);
  st.MPI_SOURCE = 0, st.MPI_TAG = 1 << 30;  // ROMIO leaves them as they are
  DO(MPI_File_write_at_all(f, at, out, 4, MPI_INT, &st), "fh:F offset:l count:i datatype:D", f,
     (long long)at, 4, MPI_INT);
  int count;
  DO(MPI_Get_count(&st, MPI_INT, &count), "datatype:D count:i", MPI_INT, 4);
  DO(MPI_File_sync(f), "fh:F", f);
  L_Barrier(W);
  const MPI_Offset next = 16 * ((rank + 1) % size);
  DO(MPI_File_read_at(f, next, in, 4, MPI_INT, &st), "fh:F offset:l count:i datatype:D", f,
     (long long)next, 4, MPI_INT);
  EXPECT(in[0] == (rank + 1) % size);
  MPI_Datatype strided;
  DO(MPI_Type_vector(2, 1, 2, MPI_INT, &strided),
     "count:i blocklength:i stride:i oldtype:D newtype:D+", 2, 1, 2, MPI_INT, strided);
  L_Type_commit(&strided);
  DO(MPI_File_set_view(f, at, MPI_INT, strided, "native", MPI_INFO_NULL),
     "fh:F disp:l etype:D filetype:D datarep:s info:N", f, (long long)at, MPI_INT, strided,
     "native", MPI_INFO_NULL);
  DO(MPI_File_read_all(f, in, 2, MPI_INT, &st), "fh:F count:i datatype:D", f, 2, MPI_INT);
  EXPECT(in[0] == rank);
  DO(MPI_File_seek(f, 0, MPI_SEEK_SET), "fh:F offset:i whence:s", f, 0, "MPI_SEEK_SET");
  DO(MPI_File_iwrite(f, out, 1, MPI_INT, &r), "fh:F count:i datatype:D request:R+", f, 1, MPI_INT,
     &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  DO(MPI_File_iread_at(f, 0, in, 1, MPI_INT, &r), "fh:F offset:i count:i datatype:D request:R+", f,
     0, 1, MPI_INT, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Offset bytes;
  DO(MPI_File_get_size(f, &bytes), "fh:F size:l", f, 16LL * size);
  int got;
  DO(MPI_File_get_amode(f, &got), "fh:F amode:s", f, "|MPI_MODE_CREATE|MPI_MODE_RDWR");
  old = f;
  L_Barrier(W);
  DO(MPI_File_close(&f), "fh:F-", old);
  L_Type_free(&strided);
  if (rank == 0) DO(MPI_File_delete(path, MPI_INFO_NULL), "filename:s info:N", path, MPI_INFO_NULL);
  L_Barrier(W);
  // A file that is not there: an error comes back, and the program goes on.
  const int rc =
      MPI_File_open(MPI_COMM_SELF, "/nonexistent/refrain", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
  log_call(0, "MPI_File_open", rc, "comm:C filename:s amode:s fh:n", MPI_COMM_SELF,
           "/nonexistent/refrain", "MPI_MODE_RDONLY");
  EXPECT(rc != MPI_SUCCESS);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
