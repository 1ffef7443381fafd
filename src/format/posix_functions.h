// The POSIX and stdio functions that `record --posix on` counts: ids of the section `posix` of a
// trace (docs/format.md, POSIX functions). Ids are append-only.
//
// A function stands for all its forms: `open` also for open64() and what _FORTIFY_SOURCE makes of
// it, `stat` also for __xstat(), `fscanf` also for __isoc99_fscanf().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace refrain::format {

enum class PosixFunction : uint8_t {
  kOpen = 0,
  kOpenat = 1,
  kCreat = 2,
  kClose = 3,
  kRead = 4,
  kWrite = 5,
  kPread = 6,
  kPwrite = 7,
  kReadv = 8,
  kWritev = 9,
  kPreadv = 10,
  kPwritev = 11,
  kLseek = 12,
  kFsync = 13,
  kFdatasync = 14,
  kSync = 15,
  kSyncfs = 16,
  kTruncate = 17,
  kFtruncate = 18,
  kFallocate = 19,
  kPosixFallocate = 20,
  kStat = 21,
  kLstat = 22,
  kFstat = 23,
  kFstatat = 24,
  kStatx = 25,
  kAccess = 26,
  kFaccessat = 27,
  kUnlink = 28,
  kUnlinkat = 29,
  kRemove = 30,
  kRename = 31,
  kRenameat = 32,
  kMkdir = 33,
  kMkdirat = 34,
  kRmdir = 35,
  kLink = 36,
  kSymlink = 37,
  kReadlink = 38,
  kOpendir = 39,
  kReaddir = 40,
  kClosedir = 41,
  kSendfile = 42,
  kCopyFileRange = 43,
  kFopen = 44,
  kFdopen = 45,
  kFreopen = 46,
  kFclose = 47,
  kTmpfile = 48,
  kFread = 49,
  kFwrite = 50,
  kFgetc = 51,
  kGetc = 52,
  kGetchar = 53,
  kFputc = 54,
  kPutc = 55,
  kPutchar = 56,
  kFgets = 57,
  kFputs = 58,
  kPuts = 59,
  kGetline = 60,
  kGetdelim = 61,
  kPrintf = 62,
  kFprintf = 63,
  kDprintf = 64,
  kVprintf = 65,
  kVfprintf = 66,
  kVdprintf = 67,
  kScanf = 68,
  kFscanf = 69,
  kVscanf = 70,
  kVfscanf = 71,
  kFseek = 72,
  kFseeko = 73,
  kFtell = 74,
  kFtello = 75,
  kRewind = 76,
  kFflush = 77,
};
inline constexpr size_t kPosixFunctions = 78;

// By id.
inline constexpr std::array<std::string_view, kPosixFunctions> kPosixNames = {"open",
                                                                              "openat",
                                                                              "creat",
                                                                              "close",
                                                                              "read",
                                                                              "write",
                                                                              "pread",
                                                                              "pwrite",
                                                                              "readv",
                                                                              "writev",
                                                                              "preadv",
                                                                              "pwritev",
                                                                              "lseek",
                                                                              "fsync",
                                                                              "fdatasync",
                                                                              "sync",
                                                                              "syncfs",
                                                                              "truncate",
                                                                              "ftruncate",
                                                                              "fallocate",
                                                                              "posix_fallocate",
                                                                              "stat",
                                                                              "lstat",
                                                                              "fstat",
                                                                              "fstatat",
                                                                              "statx",
                                                                              "access",
                                                                              "faccessat",
                                                                              "unlink",
                                                                              "unlinkat",
                                                                              "remove",
                                                                              "rename",
                                                                              "renameat",
                                                                              "mkdir",
                                                                              "mkdirat",
                                                                              "rmdir",
                                                                              "link",
                                                                              "symlink",
                                                                              "readlink",
                                                                              "opendir",
                                                                              "readdir",
                                                                              "closedir",
                                                                              "sendfile",
                                                                              "copy_file_range",
                                                                              "fopen",
                                                                              "fdopen",
                                                                              "freopen",
                                                                              "fclose",
                                                                              "tmpfile",
                                                                              "fread",
                                                                              "fwrite",
                                                                              "fgetc",
                                                                              "getc",
                                                                              "getchar",
                                                                              "fputc",
                                                                              "putc",
                                                                              "putchar",
                                                                              "fgets",
                                                                              "fputs",
                                                                              "puts",
                                                                              "getline",
                                                                              "getdelim",
                                                                              "printf",
                                                                              "fprintf",
                                                                              "dprintf",
                                                                              "vprintf",
                                                                              "vfprintf",
                                                                              "vdprintf",
                                                                              "scanf",
                                                                              "fscanf",
                                                                              "vscanf",
                                                                              "vfscanf",
                                                                              "fseek",
                                                                              "fseeko",
                                                                              "ftell",
                                                                              "ftello",
                                                                              "rewind",
                                                                              "fflush"};

// Of a trace that a newer Refrain wrote: none.
constexpr std::string_view posix_name(uint8_t function) {
  return function < kPosixFunctions ? kPosixNames[function] : std::string_view("another function");
}

// Sums of one function on one rank, as the recorder keeps them in memory and in the spool: zero
// before the first call. In ticks of the recorder's clock.
struct PosixCounter {
  uint64_t calls = 0, errors = 0, bytes = 0;
  uint64_t ticks = 0;
  uint64_t least = 0;  // + 1: 0 before the first call
  uint64_t greatest = 0;
  uint64_t reserved[2] = {};
};
static_assert(sizeof(PosixCounter) == 64);

}  // namespace refrain::format
