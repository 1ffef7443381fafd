// What belongs to an open file beside its bytes: error handler, group, hints, atomicity, size,
// extents, and a representation of data that the program defines.
#include "files_common.h"

static int handled;

static void handler(MPI_File* f, int* code, ...) {
  (void)f;
  int error_class;
  DO(MPI_Error_class(*code, &error_class), "errorcode:i errorclass:s", *code, "MPI_ERR_OTHER");
  ++handled;
}

static int file_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)type, (void)state;
  *extent = 8;
  return MPI_SUCCESS;
}

static void errors(MPI_File f) {
  MPI_Errhandler own, got, old;
  DO(MPI_File_create_errhandler(handler, &own), "errhandler:E+", own);
  DO(MPI_File_set_errhandler(f, own), "file:F errhandler:E", f, own);
  DO(MPI_File_call_errhandler(f, MPI_ERR_OTHER), "fh:F errorcode:i", f, MPI_ERR_OTHER);
  EXPECT(handled == 1);
  DO(MPI_File_get_errhandler(f, &got), "file:F errhandler:E", f, own);
  EXPECT(got == own);
  DO(MPI_File_set_errhandler(f, MPI_ERRORS_RETURN), "file:F errhandler:E", f, MPI_ERRORS_RETURN);
  old = got;
  DO(MPI_Errhandler_free(&got), "errhandler:E-", old);  // the other handle of it stays
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  MPI_File f;
  L_File_open(&f, "refrain_test_attributes");
  errors(f);

  MPI_Group group;
  int members;
  DO(MPI_File_get_group(f, &group), "fh:F group:G+", f, group);
  DO(MPI_Group_size(group, &members), "group:G size:i", group, size);
  L_Group_free(&group);

  MPI_Info info, used, old;
  DO(MPI_Info_create(&info), "info:N+", info);
  DO(MPI_Info_set(info, "cb_buffer_size", "65536"), "info:N key:s value:s", info, "cb_buffer_size",
     "65536");
  DO(MPI_File_set_info(f, info), "fh:F info:N", f, info);
  DO(MPI_File_get_info(f, &used), "fh:F info_used:N+", f, used);
  old = used;
  DO(MPI_Info_free(&used), "info:N-", old);
  old = info;
  DO(MPI_Info_free(&info), "info:N-", old);

  int flag = -1;
  DO(MPI_File_set_atomicity(f, 1), "fh:F flag:i", f, 1);
  DO(MPI_File_get_atomicity(f, &flag), "fh:F flag:i", f, 1);
  EXPECT(flag == 1);
  DO(MPI_File_set_atomicity(f, 0), "fh:F flag:i", f, 0);

  MPI_Offset bytes = 0;
  DO(MPI_File_preallocate(f, 4096), "fh:F size:i", f, 4096);
  DO(MPI_File_get_size(f, &bytes), "fh:F size:i", f, 4096);
  EXPECT(bytes == 4096);
  MPI_Aint extent = 0;
  DO(MPI_File_get_type_extent(f, MPI_DOUBLE, &extent), "fh:F datatype:D extent:i", f, MPI_DOUBLE,
     (int)sizeof(double));
  EXPECT(extent == (MPI_Aint)sizeof(double));
  L_File_close(&f);

  DO(MPI_Register_datarep("refrain_test", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                          file_extent, NULL),
     "datarep:s read_conversion_fn:s write_conversion_fn:s extra_state:s", "refrain_test",
     "MPI_CONVERSION_FN_NULL", "MPI_CONVERSION_FN_NULL", "NULL");
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
