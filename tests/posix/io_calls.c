/* Calls functions of files and of stdio, and logs after MPI_Finalize what it called: lines
 * `function calls errors bytes` in $REFRAIN_TEST_LOG.RANK.
 *
 *   io_calls MODE
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMostFunctions = 64 };
static struct {
  const char* name;
  long calls, errors, bytes;
} did_[kMostFunctions];
static int functions_;
static int rank_, size_;
static char folder_[512];

static void die(const char* what) {
  fprintf(stderr, "io_calls: rank %d: %s (%s)\n", rank_, what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(condition)               \
  do {                                 \
    if (!(condition)) die(#condition); \
  } while (0)

static void did_many(const char* name, long calls, long errors, long bytes) {
  int i = 0;
  while (i < functions_ && strcmp(did_[i].name, name) != 0) ++i;
  if (i == functions_) did_[functions_++].name = name;
  did_[i].calls += calls;
  did_[i].errors += errors;
  did_[i].bytes += bytes;
}
static void did(const char* name, long bytes) { did_many(name, 1, 0, bytes); }
static void failed(const char* name) { did_many(name, 1, 1, 0); }

static void write_log(void) {
  char path[600];
  snprintf(path, sizeof path, "%s.%d", getenv("REFRAIN_TEST_LOG"), rank_);
  FILE* log = fopen(path, "w");
  for (int i = 0; i < functions_; ++i)
    if (did_[i].calls > 0)
      fprintf(log, "%s %ld %ld %ld\n", did_[i].name, did_[i].calls, did_[i].errors, did_[i].bytes);
  fclose(log);
}

static const char* name_of(const char* what) {
  static char path[4][700];
  static int next;
  char* const out = path[next = (next + 1) % 4];
  snprintf(out, sizeof path[0], "%s/%s.%d", folder_, what, rank_);
  return out;
}

static int opened(const char* what, int flags) {
  const int fd = open(name_of(what), flags | O_CREAT, 0640);
  CHECK(fd >= 0);
  did("open", 0);
  return fd;
}
static void closed(int fd) {
  CHECK(close(fd) == 0);
  did("close", 0);
}

static void files(void) {
  char text[1000];
  memset(text, 'x', sizeof text);
  const mode_t mask = umask(0);
  int fd = opened("f", O_RDWR | O_TRUNC);
  struct stat known;
  CHECK(fstat(fd, &known) == 0 && (known.st_mode & 0777) == 0640); /* the mode came through */
  did("fstat", 0);
  umask(mask);
  for (int i = 0; i < 10 + rank_; ++i) {
    CHECK(write(fd, text, 100) == 100);
    did("write", 100);
  }
  CHECK(lseek(fd, 0, SEEK_SET) == 0);
  did("lseek", 0);
  ssize_t n = 0;
  while ((n = read(fd, text, 300)) > 0) did("read", n);
  CHECK(n == 0);
  did("read", 0);
  CHECK(pwrite(fd, text, 7, 3) == 7);
  did("pwrite", 7);
  CHECK(pread(fd, text, 11, 5) == 11);
  did("pread", 11);
  struct iovec parts[2] = {{text, 20}, {text + 50, 30}};
  CHECK(lseek(fd, 0, SEEK_SET) == 0);
  did("lseek", 0);
  CHECK(writev(fd, parts, 2) == 50);
  did("writev", 50);
  CHECK(readv(fd, parts, 2) == 50);
  did("readv", 50);
  CHECK(pwritev(fd, parts, 2, 100) == 50);
  did("pwritev", 50);
  CHECK(preadv(fd, parts, 2, 100) == 50);
  did("preadv", 50);
  CHECK(fsync(fd) == 0);
  did("fsync", 0);
  CHECK(fdatasync(fd) == 0);
  did("fdatasync", 0);
  CHECK(ftruncate(fd, 500) == 0);
  did("ftruncate", 0);
  closed(fd);
  CHECK(stat(name_of("f"), &known) == 0 && known.st_size == 500);
  did("stat", 0);
  CHECK(lstat(name_of("f"), &known) == 0);
  did("lstat", 0);
  CHECK(access(name_of("f"), R_OK) == 0);
  did("access", 0);
  CHECK(rename(name_of("f"), name_of("g")) == 0);
  did("rename", 0);
  CHECK(unlink(name_of("g")) == 0);
  did("unlink", 0);
  CHECK(mkdir(name_of("d"), 0700) == 0);
  did("mkdir", 0);
  CHECK(rmdir(name_of("d")) == 0);
  did("rmdir", 0);
  fd = openat(AT_FDCWD, name_of("h"), O_CREAT | O_WRONLY, 0600);
  CHECK(fd >= 0);
  did("openat", 0);
  closed(fd);
  fd = creat(name_of("h"), 0600);
  CHECK(fd >= 0);
  did("creat", 0);
  closed(fd);
  /* Errors are the program's. */
  errno = 0;
  CHECK(open(name_of("nowhere/f"), O_RDONLY) == -1 && errno == ENOENT);
  failed("open");
  errno = 0;
  CHECK(close(-1) == -1 && errno == EBADF);
  failed("close");
  errno = 0;
  CHECK(read(-1, text, 1) == -1 && errno == EBADF);
  failed("read");
  errno = EDOM; /* what succeeds leaves it */
  CHECK(access(name_of("h"), F_OK) == 0 && errno == EDOM);
  did("access", 0);
}

static int formatted(FILE* file, const char* form, ...) {
  va_list list;
  va_start(list, form);
  const int n = vfprintf(file, form, list);
  va_end(list);
  did("vfprintf", n);
  return n;
}

static void stdio_calls(void) {
  FILE* file = fopen(name_of("s"), "w+");
  CHECK(file != NULL);
  did("fopen", 0);
  int n = 0;
  for (int i = 0; i < 5; ++i) {
    n = fprintf(file, "%d %s %.3f %Lg %lld %c %5.1f %d %d %d %*d\n", i, "word", 1.5 * i, 2.25L,
                1LL << 40, 'c', 2.5, 7, 8, 9, 4, i);
    CHECK(n > 0);
    did("fprintf", n);
  }
  CHECK(formatted(file, "%s %d\n", "list", 12) == 8);
  const char* volatile line = "a line\n";
  CHECK(fputs(line, file) >= 0);
  did("fputs", 7);
  CHECK(fputc('z', file) == 'z');
  did("fputc", 1);
  CHECK(putc('\n', file) == '\n');
  did("putc", 1);
  double numbers[6] = {1, 2, 3, 4, 5, 6};
  CHECK(fwrite(numbers, sizeof numbers[0], 6, file) == 6);
  did("fwrite", sizeof numbers);
  CHECK(fflush(file) == 0);
  did("fflush", 0);
  const long end = ftell(file);
  did("ftell", 0);
  CHECK(fseek(file, 0, SEEK_SET) == 0);
  did("fseek", 0);
  for (int i = 0; i < 5; ++i) {
    int first = -1, given[4];
    char word[16], c = 0;
    double a = 0, b = 0;
    long double l = 0;
    long long large = 0;
    CHECK(fscanf(file, "%d %15s %lf %Lg %lld %c %lf %d %d %d %d\n", &first, word, &a, &l, &large,
                 &c, &b, &given[0], &given[1], &given[2], &given[3]) == 11);
    did("fscanf", 0);
    CHECK(first == i && strcmp(word, "word") == 0 && a == 1.5 * i && l == 2.25L &&
          large == 1LL << 40 && c == 'c' && b == 2.5 && given[0] == 7 && given[2] == 9 &&
          given[3] == i);
  }
  char text[200];
  CHECK(fgets(text, sizeof text, file) == text && strcmp(text, "list 12\n") == 0);
  did("fgets", 8);
  char* whole = NULL;
  size_t room = 0;
  CHECK(getline(&whole, &room, file) == 7);
  did("getline", 7);
  free(whole);
  CHECK(fgetc(file) == 'z');
  did("fgetc", 1);
  CHECK(getc(file) == '\n');
  did("getc", 1);
  memset(numbers, 0, sizeof numbers);
  CHECK(fread(numbers, sizeof numbers[0], 6, file) == 6 && numbers[5] == 6);
  did("fread", sizeof numbers);
  CHECK(fread(numbers, 1, 1, file) == 0 && feof(file)); /* the end is no error */
  did("fread", 0);
  CHECK(ftell(file) == end);
  did("ftell", 0);
  rewind(file);
  did("rewind", 0);
  n = dprintf(fileno(file), "%d and %s", 12, "more");
  CHECK(n == 11);
  did("dprintf", n);
  CHECK(fclose(file) == 0);
  did("fclose", 0);
  n = printf("rank %d of %d\n", rank_, size_);
  CHECK(n > 0);
  did("printf", n);
  errno = 0;
  CHECK(fopen(name_of("nowhere/s"), "r") == NULL && errno == ENOENT);
  failed("fopen");
}

/* ROMIO and OMPIO write: their calls are not the program's. */
static void mpi_io(void) {
  char text[4096];
  memset(text, 'm', sizeof text);
  MPI_File file;
  snprintf(text, sizeof text, "%s/shared", folder_);
  CHECK(MPI_File_open(MPI_COMM_WORLD, text, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS);
  for (int i = 0; i < 4; ++i) {
    MPI_File_write_at_all(file, (MPI_Offset)(i * size_ + rank_) * 4096, text, 4096, MPI_BYTE,
                          MPI_STATUS_IGNORE);
    MPI_File_read_at(file, (MPI_Offset)(i * size_ + rank_) * 4096, text, 4096, MPI_BYTE,
                     MPI_STATUS_IGNORE);
  }
  MPI_File_sync(file);
  MPI_File_close(&file);
  const int fd = opened("own", O_WRONLY);
  CHECK(write(fd, text, 10) == 10);
  did("write", 10);
  closed(fd);
}

/* A child is no rank: what it does is not counted. */
static void forks(void) {
  const int fd = opened("fork", O_WRONLY | O_TRUNC);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100; ++i)
      if (write(fd, "child", 5) != 5) _exit(1);
    _exit(0);
  }
  int status = 1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  for (int i = 0; i < 3; ++i) {
    CHECK(write(fd, "parent", 6) == 6);
    did("write", 6);
  }
  closed(fd);
}

static void* writes(void* argument) {
  const int fd = *(const int*)argument;
  for (int i = 0; i < 1000; ++i)
    if (write(fd, "0123456789", 10) != 10) abort();
  return NULL;
}

static void* waits(void* argument) {
  char byte;
  /* A cancellation point, in which nothing ever comes. */
  while (read(*(const int*)argument, &byte, 1) == 0) {
  }
  return NULL;
}

/* While threads write, the first one is in MPI calls. */
static void threads(void) {
  enum { kThreads = 4 };
  pthread_t all[kThreads], waiting;
  int fd = opened("threads", O_WRONLY | O_TRUNC), ends[2];
  CHECK(pipe(ends) == 0 && pthread_create(&waiting, NULL, waits, &ends[0]) == 0);
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&all[i], NULL, writes, &fd) == 0);
  for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(all[i], NULL) == 0);
  did_many("write", kThreads * 1000, 0, kThreads * 10000);
  CHECK(pthread_cancel(waiting) == 0);
  void* result = NULL;
  CHECK(pthread_join(waiting, &result) == 0 && result == PTHREAD_CANCELED);
  for (int i = 0; i < 2; ++i) closed(ends[i]);
  closed(fd);
}

static volatile sig_atomic_t ticks_;
static volatile int tick_fd_ = -1;
static void on_tick(int number) {
  (void)number;
  const int before = errno;
  if (write(tick_fd_, "tick", 4) == 4) ++ticks_;
  errno = before;
}

static void signals(void) {
  tick_fd_ = opened("ticks", O_WRONLY | O_TRUNC);
  struct sigaction action = {0};
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (1) { /* together, in MPI calls most of the time */
    int mine = ticks_, least = 0;
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (least >= 50) break;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  did_many("write", ticks_, 0, 4 * ticks_);
  closed(tick_fd_);
}

static int operation_fd_, operations_;
static void operate(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
  if (write(operation_fd_, "operation", 9) == 9) ++operations_;
}

/* A callback is the program's, also inside of an MPI call. */
static void callbacks(void) {
  operation_fd_ = opened("callbacks", O_WRONLY | O_TRUNC);
  MPI_Op op;
  MPI_Op_create(operate, 1, &op);
  for (int i = 0; i < 10; ++i) {
    int mine = rank_, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sum == size_ * (size_ - 1) / 2);
  }
  MPI_Op_free(&op);
  did_many("write", operations_, 0, 9 * operations_);
  closed(operation_fd_);
}

/* Nothing but messages. */
static void messages(void) {
  int all[64] = {0};
  for (int i = 0; i < 4000; ++i) {
    int mine = i, next = (rank_ + 1) % size_, before = (rank_ + size_ - 1) % size_;
    MPI_Sendrecv(&mine, 1, MPI_INT, next, i % 7, all, 1, MPI_INT, before, i % 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

static void dies(void) {
  const int fd = opened("dies", O_WRONLY | O_TRUNC);
  for (int i = 0; i < 25; ++i) {
    CHECK(write(fd, "last words", 10) == 10);
    did("write", 10);
  }
  closed(fd);
  MPI_Barrier(MPI_COMM_WORLD);
  const int last = rank_ == size_ - 1;
  if (!last) MPI_Barrier(MPI_COMM_WORLD);
  kill(getpid(), SIGKILL);
}

/* For seconds, so that somebody can look on. */
static void lasts(void) {
  const int fd = opened("lasts", O_WRONLY | O_TRUNC);
  for (int i = 0; i < 40; ++i) {
    CHECK(write(fd, "0123456789", 10) == 10);
    did("write", 10);
    usleep(50000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  closed(fd);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kModes[] = {{"files", files},         {"stdio", stdio_calls}, {"mpi_io", mpi_io},
                {"forks", forks},         {"threads", threads},   {"signals", signals},
                {"callbacks", callbacks}, {"messages", messages}, {"dies", dies},
                {"lasts", lasts}};
  snprintf(folder_, sizeof folder_, "%s", getenv("REFRAIN_TEST_DIR"));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  for (size_t i = 0; i < sizeof kModes / sizeof kModes[0]; ++i)
    if (argc > 1 && strcmp(argv[1], kModes[i].name) == 0) kModes[i].run();
  MPI_Finalize();
  write_log();
  return 0;
}
