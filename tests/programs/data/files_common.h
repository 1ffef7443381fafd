// A file of a test program, in a directory of its own, and the calls on it that differ in one word.
#ifndef REFRAIN_TESTS_FILES_COMMON_H_
#define REFRAIN_TESTS_FILES_COMMON_H_

#include "calls.h"

#define kAccess "fh:F count:i datatype:D"
#define kAccessAt "fh:F offset:l count:i datatype:D"
#define L_Access(name, f, b, n, st) DO(name(f, b, n, MPI_INT, st), kAccess, f, n, MPI_INT)
#define L_AccessAt(name, f, at, b, n, st) \
  DO(name(f, at, b, n, MPI_INT, st), kAccessAt, f, (long long)(at), n, MPI_INT)
#define L_Start(name, f, b, n, r) \
  DO(name(f, b, n, MPI_INT, r), kAccess " request:R+", f, n, MPI_INT, r)
#define L_StartAt(name, f, at, b, n, r) \
  DO(name(f, at, b, n, MPI_INT, r), kAccessAt " request:R+", f, (long long)(at), n, MPI_INT, r)
#define L_Begin(name, f, b, n) DO(name(f, b, n, MPI_INT), kAccess, f, n, MPI_INT)
#define L_BeginAt(name, f, at, b, n) \
  DO(name(f, at, b, n, MPI_INT), kAccessAt, f, (long long)(at), n, MPI_INT)
#define L_End(name, f, b, st) DO(name(f, b, st), "fh:F", f)
#define L_File_seek(f, at)                                                             \
  DO(MPI_File_seek(f, at, MPI_SEEK_SET), "fh:F offset:l whence:s", f, (long long)(at), \
     "MPI_SEEK_SET")

#define kFileMode (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE)

// Into `f`; one file for all ranks.
#define L_File_open(f, name)                                                            \
  do {                                                                                  \
    const char* const path_ = file_path(name);                                          \
    DO(MPI_File_open(MPI_COMM_WORLD, path_, kFileMode, MPI_INFO_NULL, f),               \
       "comm:C filename:s amode:s info:N fh:F+", MPI_COMM_WORLD, path_,                 \
       "|MPI_MODE_CREATE|MPI_MODE_RDWR|MPI_MODE_DELETE_ON_CLOSE", MPI_INFO_NULL, *(f)); \
  } while (0)
#define L_File_close(f)                   \
  do {                                    \
    const MPI_File old_ = *(f);           \
    L_Barrier(MPI_COMM_WORLD);            \
    DO(MPI_File_close(f), "fh:F-", old_); \
  } while (0)

static inline const char* file_path(const char* name) {
  static char path[4096];
  const char* const folder = getenv("REFRAIN_TEST_DIR");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : "/tmp", name);
  return path;
}

#endif  // REFRAIN_TESTS_FILES_COMMON_H_
