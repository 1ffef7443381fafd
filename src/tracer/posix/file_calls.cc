// Functions of files by descriptor and by name.
#include <fcntl.h>
#include <sys/types.h>

#include <cstdarg>

#include "tracer/posix/posix_library.h"

using namespace refrain::tracer;

struct iovec;

// ---- open: with a mode only where a file may be made ----

#define REFRAIN_OPEN(symbol)                                               \
  REFRAIN_NEXT(symbol, #symbol);                                           \
  REFRAIN_SYMBOL(int, symbol, (const char* path, int flags, ...));         \
  int counted_##symbol(const char* path, int flags, ...) {                 \
    mode_t mode = 0;                                                       \
    if (has_mode(flags)) {                                                 \
      va_list rest;                                                        \
      va_start(rest, flags);                                               \
      mode = va_arg(rest, mode_t);                                         \
      va_end(rest);                                                        \
    }                                                                      \
    auto* const next = next_of<int(const char*, int, ...)>(next_##symbol); \
    if (next == nullptr) return not_there<int>();                          \
    PosixCall call(__builtin_return_address(0));                           \
    const int result = next(path, flags, mode);                            \
    if (call.ends()) call.count(PosixFunction::kOpen, 0, result < 0);      \
    return result;                                                         \
  }                                                                        \
  static_assert(true)

#define REFRAIN_OPENAT(symbol)                                                  \
  REFRAIN_NEXT(symbol, #symbol);                                                \
  REFRAIN_SYMBOL(int, symbol, (int folder, const char* path, int flags, ...));  \
  int counted_##symbol(int folder, const char* path, int flags, ...) {          \
    mode_t mode = 0;                                                            \
    if (has_mode(flags)) {                                                      \
      va_list rest;                                                             \
      va_start(rest, flags);                                                    \
      mode = va_arg(rest, mode_t);                                              \
      va_end(rest);                                                             \
    }                                                                           \
    auto* const next = next_of<int(int, const char*, int, ...)>(next_##symbol); \
    if (next == nullptr) return not_there<int>();                               \
    PosixCall call(__builtin_return_address(0));                                \
    const int result = next(folder, path, flags, mode);                         \
    if (call.ends()) call.count(PosixFunction::kOpenat, 0, result < 0);         \
    return result;                                                              \
  }                                                                             \
  static_assert(true)

namespace {
bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }
}  // namespace

REFRAIN_OPEN(open);
REFRAIN_OPEN(open64);
REFRAIN_OPENAT(openat);
REFRAIN_OPENAT(openat64);

// What has an int as its result, and no bytes.
#define REFRAIN_PLAIN(symbol, function, parameters, arguments) \
  REFRAIN_COUNTED(int, symbol, function, parameters, arguments, 0, result < 0)

REFRAIN_PLAIN(__open_2, kOpen, (const char* path, int flags), (path, flags));
REFRAIN_PLAIN(__open64_2, kOpen, (const char* path, int flags), (path, flags));
REFRAIN_PLAIN(__openat_2, kOpenat, (int folder, const char* path, int flags),
              (folder, path, flags));
REFRAIN_PLAIN(__openat64_2, kOpenat, (int folder, const char* path, int flags),
              (folder, path, flags));
REFRAIN_PLAIN(creat, kCreat, (const char* path, mode_t mode), (path, mode));
REFRAIN_PLAIN(creat64, kCreat, (const char* path, mode_t mode), (path, mode));
REFRAIN_PLAIN(close, kClose, (int fd), (fd));

// ---- bytes ----

#define REFRAIN_BYTES(symbol, function, parameters, arguments) \
  REFRAIN_COUNTED(ssize_t, symbol, function, parameters, arguments, bytes_of(result), result < 0)

REFRAIN_BYTES(read, kRead, (int fd, void* to, size_t n), (fd, to, n));
REFRAIN_BYTES(__read_chk, kRead, (int fd, void* to, size_t n, size_t room), (fd, to, n, room));
REFRAIN_BYTES(write, kWrite, (int fd, const void* from, size_t n), (fd, from, n));
REFRAIN_BYTES(pread, kPread, (int fd, void* to, size_t n, off_t at), (fd, to, n, at));
REFRAIN_BYTES(pread64, kPread, (int fd, void* to, size_t n, off64_t at), (fd, to, n, at));
REFRAIN_BYTES(__pread_chk, kPread, (int fd, void* to, size_t n, off_t at, size_t room),
              (fd, to, n, at, room));
REFRAIN_BYTES(__pread64_chk, kPread, (int fd, void* to, size_t n, off64_t at, size_t room),
              (fd, to, n, at, room));
REFRAIN_BYTES(pwrite, kPwrite, (int fd, const void* from, size_t n, off_t at), (fd, from, n, at));
REFRAIN_BYTES(pwrite64, kPwrite, (int fd, const void* from, size_t n, off64_t at),
              (fd, from, n, at));
REFRAIN_BYTES(readv, kReadv, (int fd, const iovec* to, int n), (fd, to, n));
REFRAIN_BYTES(writev, kWritev, (int fd, const iovec* from, int n), (fd, from, n));
REFRAIN_BYTES(preadv, kPreadv, (int fd, const iovec* to, int n, off_t at), (fd, to, n, at));
REFRAIN_BYTES(preadv64, kPreadv, (int fd, const iovec* to, int n, off64_t at), (fd, to, n, at));
REFRAIN_BYTES(preadv2, kPreadv, (int fd, const iovec* to, int n, off_t at, int flags),
              (fd, to, n, at, flags));
REFRAIN_BYTES(preadv64v2, kPreadv, (int fd, const iovec* to, int n, off64_t at, int flags),
              (fd, to, n, at, flags));
REFRAIN_BYTES(pwritev, kPwritev, (int fd, const iovec* from, int n, off_t at), (fd, from, n, at));
REFRAIN_BYTES(pwritev64, kPwritev, (int fd, const iovec* from, int n, off64_t at),
              (fd, from, n, at));
REFRAIN_BYTES(pwritev2, kPwritev, (int fd, const iovec* from, int n, off_t at, int flags),
              (fd, from, n, at, flags));
REFRAIN_BYTES(pwritev64v2, kPwritev, (int fd, const iovec* from, int n, off64_t at, int flags),
              (fd, from, n, at, flags));
REFRAIN_BYTES(sendfile, kSendfile, (int to, int from, off_t* at, size_t n), (to, from, at, n));
REFRAIN_BYTES(sendfile64, kSendfile, (int to, int from, off64_t* at, size_t n), (to, from, at, n));
REFRAIN_BYTES(copy_file_range, kCopyFileRange,
              (int from, off64_t* from_at, int to, off64_t* to_at, size_t n, unsigned flags),
              (from, from_at, to, to_at, n, flags));

// ---- places and the disk ----

REFRAIN_COUNTED(off_t, lseek, kLseek, (int fd, off_t by, int from), (fd, by, from), 0, result < 0);
REFRAIN_COUNTED(off64_t, lseek64, kLseek, (int fd, off64_t by, int from), (fd, by, from), 0,
                result < 0);
REFRAIN_PLAIN(fsync, kFsync, (int fd), (fd));
REFRAIN_PLAIN(fdatasync, kFdatasync, (int fd), (fd));
REFRAIN_PLAIN(syncfs, kSyncfs, (int fd), (fd));
REFRAIN_PLAIN(truncate, kTruncate, (const char* path, off_t n), (path, n));
REFRAIN_PLAIN(truncate64, kTruncate, (const char* path, off64_t n), (path, n));
REFRAIN_PLAIN(ftruncate, kFtruncate, (int fd, off_t n), (fd, n));
REFRAIN_PLAIN(ftruncate64, kFtruncate, (int fd, off64_t n), (fd, n));
REFRAIN_PLAIN(fallocate, kFallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n));
REFRAIN_PLAIN(fallocate64, kFallocate, (int fd, int mode, off64_t at, off64_t n),
              (fd, mode, at, n));
// Its result is the error.
REFRAIN_COUNTED(int, posix_fallocate, kPosixFallocate, (int fd, off_t at, off_t n), (fd, at, n), 0,
                result != 0);
REFRAIN_COUNTED(int, posix_fallocate64, kPosixFallocate, (int fd, off64_t at, off64_t n),
                (fd, at, n), 0, result != 0);

REFRAIN_NEXT(sync, "sync");
REFRAIN_SYMBOL(void, sync, ());
void counted_sync() {
  auto* const next = next_of<void()>(next_sync);
  if (next == nullptr) return;
  PosixCall call(__builtin_return_address(0));
  next();
  if (call.ends()) call.count(PosixFunction::kSync, 0, false);
}

// ---- what is known of files; what is read is not looked at here ----

#define REFRAIN_STAT(name, function)                                         \
  REFRAIN_PLAIN(name, function, (const char* path, void* out), (path, out)); \
  REFRAIN_PLAIN(name##64, function, (const char* path, void* out), (path, out))

REFRAIN_STAT(stat, kStat);
REFRAIN_STAT(lstat, kLstat);
REFRAIN_PLAIN(fstat, kFstat, (int fd, void* out), (fd, out));
REFRAIN_PLAIN(fstat64, kFstat, (int fd, void* out), (fd, out));
REFRAIN_PLAIN(fstatat, kFstatat, (int folder, const char* path, void* out, int flags),
              (folder, path, out, flags));
REFRAIN_PLAIN(fstatat64, kFstatat, (int folder, const char* path, void* out, int flags),
              (folder, path, out, flags));
REFRAIN_PLAIN(__xstat, kStat, (int version, const char* path, void* out), (version, path, out));
REFRAIN_PLAIN(__xstat64, kStat, (int version, const char* path, void* out), (version, path, out));
REFRAIN_PLAIN(__lxstat, kLstat, (int version, const char* path, void* out), (version, path, out));
REFRAIN_PLAIN(__lxstat64, kLstat, (int version, const char* path, void* out), (version, path, out));
REFRAIN_PLAIN(__fxstat, kFstat, (int version, int fd, void* out), (version, fd, out));
REFRAIN_PLAIN(__fxstat64, kFstat, (int version, int fd, void* out), (version, fd, out));
REFRAIN_PLAIN(__fxstatat, kFstatat,
              (int version, int folder, const char* path, void* out, int flags),
              (version, folder, path, out, flags));
REFRAIN_PLAIN(__fxstatat64, kFstatat,
              (int version, int folder, const char* path, void* out, int flags),
              (version, folder, path, out, flags));
REFRAIN_PLAIN(statx, kStatx, (int folder, const char* path, int flags, unsigned mask, void* out),
              (folder, path, flags, mask, out));
REFRAIN_PLAIN(access, kAccess, (const char* path, int mode), (path, mode));
REFRAIN_PLAIN(faccessat, kFaccessat, (int folder, const char* path, int mode, int flags),
              (folder, path, mode, flags));

// ---- names ----

REFRAIN_PLAIN(unlink, kUnlink, (const char* path), (path));
REFRAIN_PLAIN(unlinkat, kUnlinkat, (int folder, const char* path, int flags),
              (folder, path, flags));
REFRAIN_PLAIN(remove, kRemove, (const char* path), (path));
REFRAIN_PLAIN(rename, kRename, (const char* from, const char* to), (from, to));
REFRAIN_PLAIN(renameat, kRenameat,
              (int from_folder, const char* from, int to_folder, const char* to),
              (from_folder, from, to_folder, to));
REFRAIN_PLAIN(renameat2, kRenameat,
              (int from_folder, const char* from, int to_folder, const char* to, unsigned flags),
              (from_folder, from, to_folder, to, flags));
REFRAIN_PLAIN(mkdir, kMkdir, (const char* path, mode_t mode), (path, mode));
REFRAIN_PLAIN(mkdirat, kMkdirat, (int folder, const char* path, mode_t mode), (folder, path, mode));
REFRAIN_PLAIN(rmdir, kRmdir, (const char* path), (path));
REFRAIN_PLAIN(link, kLink, (const char* from, const char* to), (from, to));
REFRAIN_PLAIN(symlink, kSymlink, (const char* from, const char* to), (from, to));
REFRAIN_COUNTED(ssize_t, readlink, kReadlink, (const char* path, char* to, size_t room),
                (path, to, room), 0, result < 0);
REFRAIN_COUNTED(ssize_t, __readlink_chk, kReadlink,
                (const char* path, char* to, size_t n, size_t room), (path, to, n, room), 0,
                result < 0);
REFRAIN_COUNTED(void*, opendir, kOpendir, (const char* path), (path), 0, result == nullptr);
// Null at the end, too: no error is told apart here.
REFRAIN_COUNTED(void*, readdir, kReaddir, (void* folder), (folder), 0, false);
REFRAIN_COUNTED(void*, readdir64, kReaddir, (void* folder), (folder), 0, false);
REFRAIN_PLAIN(closedir, kClosedir, (void* folder), (folder));
