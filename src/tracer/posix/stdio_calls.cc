// Functions of stdio. What the C library reads and writes for them is none of the program's calls.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "tracer/posix/posix_library.h"

using namespace refrain::tracer;

// ---- files ----

#define REFRAIN_FILE(symbol, function, parameters, arguments) \
  REFRAIN_COUNTED(FILE*, symbol, function, parameters, arguments, 0, result == nullptr)

REFRAIN_FILE(fopen, kFopen, (const char* path, const char* mode), (path, mode));
REFRAIN_FILE(fopen64, kFopen, (const char* path, const char* mode), (path, mode));
REFRAIN_FILE(fdopen, kFdopen, (int fd, const char* mode), (fd, mode));
REFRAIN_FILE(freopen, kFreopen, (const char* path, const char* mode, FILE* file),
             (path, mode, file));
REFRAIN_FILE(freopen64, kFreopen, (const char* path, const char* mode, FILE* file),
             (path, mode, file));
REFRAIN_FILE(tmpfile, kTmpfile, (), ());
REFRAIN_FILE(tmpfile64, kTmpfile, (), ());
REFRAIN_COUNTED(int, fclose, kFclose, (FILE * file), (file), 0, result != 0);
REFRAIN_COUNTED(int, fflush, kFflush, (FILE * file), (file), 0, result != 0);

REFRAIN_COUNTED(int, fseek, kFseek, (FILE * file, long by, int from), (file, by, from), 0,
                result != 0);
REFRAIN_COUNTED(int, fseeko, kFseeko, (FILE * file, off_t by, int from), (file, by, from), 0,
                result != 0);
REFRAIN_COUNTED(int, fseeko64, kFseeko, (FILE * file, off64_t by, int from), (file, by, from), 0,
                result != 0);
REFRAIN_COUNTED(long, ftell, kFtell, (FILE * file), (file), 0, result < 0);
REFRAIN_COUNTED(off_t, ftello, kFtello, (FILE * file), (file), 0, result < 0);
REFRAIN_COUNTED(off64_t, ftello64, kFtello, (FILE * file), (file), 0, result < 0);

REFRAIN_NEXT(rewind, "rewind");
REFRAIN_SYMBOL(void, rewind, (FILE * file));
void counted_rewind(FILE* file) {
  auto* const next = next_of<void(FILE*)>(next_rewind);
  if (next == nullptr) return;
  PosixCall call(__builtin_return_address(0));
  next(file);
  if (call.ends()) call.count(PosixFunction::kRewind, 0, false);
}

// ---- blocks, characters, lines: the end of a file is no error ----

#define REFRAIN_BLOCK(symbol, function, parameters, arguments)                   \
  REFRAIN_COUNTED(size_t, symbol, function, parameters, arguments, result* size, \
                  result < n && ferror(file) != 0)

REFRAIN_BLOCK(fread, kFread, (void* to, size_t size, size_t n, FILE* file), (to, size, n, file));
REFRAIN_BLOCK(fread_unlocked, kFread, (void* to, size_t size, size_t n, FILE* file),
              (to, size, n, file));
REFRAIN_BLOCK(__fread_chk, kFread, (void* to, size_t room, size_t size, size_t n, FILE* file),
              (to, room, size, n, file));
REFRAIN_BLOCK(__fread_unlocked_chk, kFread,
              (void* to, size_t room, size_t size, size_t n, FILE* file),
              (to, room, size, n, file));
REFRAIN_BLOCK(fwrite, kFwrite, (const void* from, size_t size, size_t n, FILE* file),
              (from, size, n, file));
REFRAIN_BLOCK(fwrite_unlocked, kFwrite, (const void* from, size_t size, size_t n, FILE* file),
              (from, size, n, file));

#define REFRAIN_GET(symbol, function, parameters, arguments, file)                     \
  REFRAIN_COUNTED(int, symbol, function, parameters, arguments, result == EOF ? 0 : 1, \
                  result == EOF && ferror(file) != 0)
#define REFRAIN_PUT(symbol, function, parameters, arguments)                           \
  REFRAIN_COUNTED(int, symbol, function, parameters, arguments, result == EOF ? 0 : 1, \
                  result == EOF)

REFRAIN_GET(fgetc, kFgetc, (FILE * file), (file), file);
REFRAIN_GET(fgetc_unlocked, kFgetc, (FILE * file), (file), file);
REFRAIN_GET(getc, kGetc, (FILE * file), (file), file);
REFRAIN_GET(getc_unlocked, kGetc, (FILE * file), (file), file);
REFRAIN_GET(_IO_getc, kGetc, (FILE * file), (file), file);
REFRAIN_GET(getchar, kGetchar, (), (), stdin);
REFRAIN_GET(getchar_unlocked, kGetchar, (), (), stdin);
REFRAIN_PUT(fputc, kFputc, (int c, FILE* file), (c, file));
REFRAIN_PUT(fputc_unlocked, kFputc, (int c, FILE* file), (c, file));
REFRAIN_PUT(putc, kPutc, (int c, FILE* file), (c, file));
REFRAIN_PUT(putc_unlocked, kPutc, (int c, FILE* file), (c, file));
REFRAIN_PUT(_IO_putc, kPutc, (int c, FILE* file), (c, file));
REFRAIN_PUT(putchar, kPutchar, (int c), (c));
REFRAIN_PUT(putchar_unlocked, kPutchar, (int c), (c));

#define REFRAIN_LINE(symbol, parameters, arguments)             \
  REFRAIN_COUNTED(char*, symbol, kFgets, parameters, arguments, \
                  result == nullptr ? 0 : std::strlen(result),  \
                  result == nullptr && ferror(file) != 0)

REFRAIN_LINE(fgets, (char* to, int n, FILE* file), (to, n, file));
REFRAIN_LINE(fgets_unlocked, (char* to, int n, FILE* file), (to, n, file));
REFRAIN_LINE(__fgets_chk, (char* to, size_t room, int n, FILE* file), (to, room, n, file));
REFRAIN_LINE(__fgets_unlocked_chk, (char* to, size_t room, int n, FILE* file), (to, room, n, file));
REFRAIN_COUNTED(int, fputs, kFputs, (const char* text, FILE* file), (text, file),
                result == EOF ? 0 : std::strlen(text), result == EOF);
REFRAIN_COUNTED(int, fputs_unlocked, kFputs, (const char* text, FILE* file), (text, file),
                result == EOF ? 0 : std::strlen(text), result == EOF);
REFRAIN_COUNTED(int, puts, kPuts, (const char* text), (text),
                result == EOF ? 0 : std::strlen(text) + 1, result == EOF);
REFRAIN_COUNTED(ssize_t, getline, kGetline, (char** to, size_t* room, FILE* file), (to, room, file),
                bytes_of(result), result < 0 && ferror(file) != 0);
REFRAIN_COUNTED(ssize_t, getdelim, kGetdelim, (char** to, size_t* room, int end, FILE* file),
                (to, room, end, file), bytes_of(result), result < 0 && ferror(file) != 0);
// What headers make of getline().
REFRAIN_COUNTED(ssize_t, __getdelim, kGetline, (char** to, size_t* room, int end, FILE* file),
                (to, room, end, file), bytes_of(result), result < 0 && ferror(file) != 0);

// ---- formats: a list of arguments can be passed on as one only ----

// `last` is the parameter before the list, and `given` the arguments before it.
#define REFRAIN_LIST_OF(symbol, v_symbol, function, parameters, given_types, given, last, bytes, \
                        is_error)                                                                \
  REFRAIN_NEXT(symbol, #v_symbol);                                                               \
  REFRAIN_SYMBOL(int, symbol, parameters);                                                       \
  int counted_##symbol parameters {                                                              \
    auto* const next = next_of<int given_types>(next_##symbol);                                  \
    if (next == nullptr) return not_there<int>();                                                \
    PosixCall call(__builtin_return_address(0));                                                 \
    va_list list;                                                                                \
    va_start(list, last);                                                                        \
    const int result = next given;                                                               \
    va_end(list);                                                                                \
    if (call.ends()) call.count(PosixFunction::function, bytes, is_error);                       \
    return result;                                                                               \
  }                                                                                              \
  static_assert(true)

// Written bytes are the result; how much scanf() has read is not known.
#define REFRAIN_PRINTF(symbol, v_symbol, function, parameters, given_types, given)  \
  REFRAIN_LIST_OF(symbol, v_symbol, function, parameters, given_types, given, form, \
                  bytes_of(result), result < 0)
#define REFRAIN_SCANF(symbol, v_symbol, function, parameters, given_types, given, file) \
  REFRAIN_LIST_OF(symbol, v_symbol, function, parameters, given_types, given, form, 0,  \
                  result == EOF && ferror(file) != 0)

REFRAIN_PRINTF(printf, vprintf, kPrintf, (const char* form, ...), (const char*, va_list),
               (form, list));
REFRAIN_PRINTF(__printf_chk, __vprintf_chk, kPrintf, (int flag, const char* form, ...),
               (int, const char*, va_list), (flag, form, list));
REFRAIN_PRINTF(fprintf, vfprintf, kFprintf, (FILE * file, const char* form, ...),
               (FILE*, const char*, va_list), (file, form, list));
REFRAIN_PRINTF(__fprintf_chk, __vfprintf_chk, kFprintf,
               (FILE * file, int flag, const char* form, ...), (FILE*, int, const char*, va_list),
               (file, flag, form, list));
REFRAIN_PRINTF(dprintf, vdprintf, kDprintf, (int fd, const char* form, ...),
               (int, const char*, va_list), (fd, form, list));
REFRAIN_PRINTF(__dprintf_chk, __vdprintf_chk, kDprintf, (int fd, int flag, const char* form, ...),
               (int, int, const char*, va_list), (fd, flag, form, list));

REFRAIN_SCANF(scanf, vscanf, kScanf, (const char* form, ...), (const char*, va_list), (form, list),
              stdin);
REFRAIN_SCANF(__isoc99_scanf, __isoc99_vscanf, kScanf, (const char* form, ...),
              (const char*, va_list), (form, list), stdin);
REFRAIN_SCANF(__isoc23_scanf, __isoc23_vscanf, kScanf, (const char* form, ...),
              (const char*, va_list), (form, list), stdin);
REFRAIN_SCANF(fscanf, vfscanf, kFscanf, (FILE * file, const char* form, ...),
              (FILE*, const char*, va_list), (file, form, list), file);
REFRAIN_SCANF(__isoc99_fscanf, __isoc99_vfscanf, kFscanf, (FILE * file, const char* form, ...),
              (FILE*, const char*, va_list), (file, form, list), file);
REFRAIN_SCANF(__isoc23_fscanf, __isoc23_vfscanf, kFscanf, (FILE * file, const char* form, ...),
              (FILE*, const char*, va_list), (file, form, list), file);

#define REFRAIN_V_PRINTF(symbol, function, parameters, arguments) \
  REFRAIN_COUNTED(int, symbol, function, parameters, arguments, bytes_of(result), result < 0)

REFRAIN_V_PRINTF(vprintf, kVprintf, (const char* form, va_list list), (form, list));
REFRAIN_V_PRINTF(__vprintf_chk, kVprintf, (int flag, const char* form, va_list list),
                 (flag, form, list));
REFRAIN_V_PRINTF(vfprintf, kVfprintf, (FILE * file, const char* form, va_list list),
                 (file, form, list));
REFRAIN_V_PRINTF(__vfprintf_chk, kVfprintf, (FILE * file, int flag, const char* form, va_list list),
                 (file, flag, form, list));
REFRAIN_V_PRINTF(vdprintf, kVdprintf, (int fd, const char* form, va_list list), (fd, form, list));
REFRAIN_V_PRINTF(__vdprintf_chk, kVdprintf, (int fd, int flag, const char* form, va_list list),
                 (fd, flag, form, list));

#define REFRAIN_V_SCANF(symbol, function, parameters, arguments, file) \
  REFRAIN_COUNTED(int, symbol, function, parameters, arguments, 0,     \
                  result == EOF && ferror(file) != 0)

REFRAIN_V_SCANF(vscanf, kVscanf, (const char* form, va_list list), (form, list), stdin);
REFRAIN_V_SCANF(__isoc99_vscanf, kVscanf, (const char* form, va_list list), (form, list), stdin);
REFRAIN_V_SCANF(__isoc23_vscanf, kVscanf, (const char* form, va_list list), (form, list), stdin);
REFRAIN_V_SCANF(vfscanf, kVfscanf, (FILE * file, const char* form, va_list list),
                (file, form, list), file);
REFRAIN_V_SCANF(__isoc99_vfscanf, kVfscanf, (FILE * file, const char* form, va_list list),
                (file, form, list), file);
REFRAIN_V_SCANF(__isoc23_vfscanf, kVfscanf, (FILE * file, const char* form, va_list list),
                (file, form, list), file);
