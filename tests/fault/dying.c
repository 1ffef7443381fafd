// A program that dies in a way of its own choice, and logs what it did by its own hand.
//
//   dying WAY RANK CALLS
//
// Rank RANK ("all": every rank) dies after CALLS calls, and the others then wait for it. WAY
// "alarm-..." dies in a signal handler of its own, in the middle of a receive that never ends.
// "finish" does not die; "lose" removes the rank's file from $REFRAIN_TEST_SPOOL and finishes much
// later; "starve" gets no memory for the recorder from then on. REFRAIN_TEST_TAGS: how many tags
// the polling calls have, in random order. REFRAIN_TEST_PAUSE: a request is made while recording is
// paused. REFRAIN_TEST_FILES: it opens files until there is no descriptor left. Each call is a JSON
// line in $REFRAIN_TEST_LOG.<rank>, written by one write(2) when the call has returned: a process
// that dies may have made one call more than it wrote, never less.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "refrain/mark.h"

static int log_fd = -1;
static long made;  // calls of the loop

static void say(const char* call, const char* format, long a, long b, long c) {
  char line[256], args[160];
  snprintf(args, sizeof args, format, a, b, c);
  const int n = snprintf(line, sizeof line, "{\"call\":\"%s\",\"args\":{%s}}\n", call, args);
  if (log_fd >= 0 && write(log_fd, line, (size_t)n) != n) _exit(99);
  ++made;
}

static void open_log(void) {
  const char* base = getenv("REFRAIN_TEST_LOG");
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (base == NULL) return;
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", base, rank ? rank : "0");
  log_fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
}

// MPICH 4.2 comes back from MPI_Abort while the launcher ends the job.
static void abort_job(void) {
  MPI_Abort(MPI_COMM_WORLD, 7);
  for (;;) pause();
}

static const char* last_way;

static void on_alarm(int number) {
  (void)number;
  if (strcmp(last_way, "alarm-abort") == 0) abort_job();
  if (strcmp(last_way, "alarm-exit") == 0) exit(5);
  _exit(5);
}

static void wait_for_alarm(const char* way) {
  int nothing, me;
  last_way = way;
  signal(SIGALRM, on_alarm);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  say("MPI_Comm_rank", "\"rank\":%ld", me, 0, 0);
  alarm(1);
  MPI_Recv(&nothing, 1, MPI_INT, me, 12345, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void die(const char* way) {
  if (strncmp(way, "alarm", 5) == 0) wait_for_alarm(way);
  if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(way, "segv") == 0) {
    volatile int* volatile nowhere = NULL;
    *nowhere = 1;
  }
  if (strcmp(way, "term") == 0) kill(getpid(), SIGTERM);
  if (strcmp(way, "abort") == 0) abort_job();
  if (strcmp(way, "exit") == 0) exit(5);
  if (strcmp(way, "_exit") == 0) _exit(5);
  // No such rank, and the handler of errors is that of every program.
  if (strcmp(way, "error") == 0) MPI_Send(&log_fd, 1, MPI_INT, 1 << 20, 0, MPI_COMM_WORLD);
  if (strcmp(way, "hang") == 0)
    for (;;) pause();
}

static void lose(int rank) {
  char pattern[4096];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/*-%06d-*", getenv("REFRAIN_TEST_SPOOL"), rank);
  if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc != 1 || unlink(found.gl_pathv[0]) != 0)
    _exit(96);
  globfree(&found);
}

// From here on the preload no_memory.c refuses the recorder memory.
static void starve(void) {
  void (*begin)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "refrain_test_starve");
  if (begin == NULL) _exit(94);
  begin();
}

// The recorders of the ranks agree on the name of a communicator.
static void exchange_comm(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  say("MPI_Comm_dup", "", 0, 0, 0);
  MPI_Comm_free(&comm);
  say("MPI_Comm_free", "", 0, 0, 0);
}

// Made unseen, completed in sight.
static void make_while_paused(int rank) {
  int in = 0, out = 1;
  MPI_Request request;
  refrain_pause();
  MPI_Irecv(&in, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &request);
  refrain_resume();
  MPI_Send(&out, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
  say("MPI_Send", "\"count\":%ld,\"dest\":%ld,\"tag\":%ld", 1, rank, 7);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say("MPI_Wait", "\"status\":\"MPI_STATUS_IGNORE\"", 0, 0, 0);
}

// Deterministic, and hardly anything repeats.
static unsigned long seed = 12345;
static int noise(int below) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int)((seed >> 33) % (unsigned long)below);
}

static void exchange(int rank, int size, int irregular) {
  static char out[4096], in[4096];
  const int count = irregular ? 1 + noise(1000) : 16, tag = irregular ? noise(30000) : 3;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Request request;
  MPI_Irecv(in, 4096, MPI_CHAR, previous, tag, MPI_COMM_WORLD, &request);
  say("MPI_Irecv", "\"count\":%ld,\"source\":%ld,\"tag\":%ld", 4096, previous, tag);
  MPI_Send(out, count, MPI_CHAR, next, tag, MPI_COMM_WORLD);
  say("MPI_Send", "\"count\":%ld,\"dest\":%ld,\"tag\":%ld", count, next, tag);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say("MPI_Wait", "\"status\":\"MPI_STATUS_IGNORE\"", 0, 0, 0);
}

// Tags of their own, so that the ranks' common random numbers stay common.
static void poll(int times, int tags) {
  static unsigned long mine = 1;
  for (int i = 0; i < times; ++i) {
    mine = mine * 6364136223846793005u + 1442695040888963407u;
    const int tag = 31000 + (int)((mine >> 33) % (unsigned long)tags);
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    say("MPI_Iprobe", "\"tag\":%ld,\"flag\":%ld", tag, flag, 0);
  }
}

// As a program that forgets to close its files, under a limit that it could raise.
static void use_up_descriptors(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) _exit(94);
  files.rlim_cur = files.rlim_max / 4;
  if (setrlimit(RLIMIT_NOFILE, &files) != 0) _exit(94);
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
}

int main(int argc, char** argv) {
  const char* way = argv[1];
  const int victim = strcmp(argv[2], "all") == 0 ? -1 : atoi(argv[2]);
  const int finishes =
      strcmp(way, "finish") == 0 || strcmp(way, "lose") == 0 || strcmp(way, "starve") == 0;
  int starved = 0;
  long calls = atol(argv[3]);
  const int tags = getenv("REFRAIN_TEST_TAGS") ? atoi(getenv("REFRAIN_TEST_TAGS")) : 1;
  int rank, size;
  open_log();
  MPI_Init(&argc, &argv);
  say("MPI_Init", "\"argc\":%ld", argc, 0, 0);
  // Not before: MPI itself has files to set up.
  const char* limit = getenv("REFRAIN_TEST_FSIZE");
  if (limit != NULL) {
    const struct rlimit bytes = {(rlim_t)atol(limit), (rlim_t)atol(limit)};
    if (setrlimit(RLIMIT_FSIZE, &bytes) != 0) return 95;
  }
  if (getenv("REFRAIN_TEST_FILES") != NULL) use_up_descriptors();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  say("MPI_Comm_rank", "\"rank\":%ld", rank, 0, 0);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  say("MPI_Comm_size", "\"size\":%ld", size, 0, 0);
  // As much as every rank needs to have its files there before the first one dies.
  MPI_Barrier(MPI_COMM_WORLD);
  say("MPI_Barrier", "", 0, 0, 0);
  if (getenv("REFRAIN_TEST_PAUSE") != NULL) make_while_paused(rank);
  for (int step = 0;; ++step) {
    exchange(rank, size, starved || (step < 100 && step % 50 < 25));
    if (step % 10 == 0) {
      int one = 1, all = 0;
      MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      say("MPI_Allreduce", "\"count\":%ld", 1, 0, 0);
      if (all != size) _exit(98);
    }
    if (starved && step % 20 == 0) exchange_comm();
    poll(step % 7, 1);
    if (step % 100 == 99) poll(2000, tags);
    if (made < calls) continue;
    if (strcmp(way, "finish") == 0) break;
    if (strcmp(way, "starve") == 0) starved = 1;
    if (victim == rank || victim == -1) {
      if (starved) {
        starve();
      } else if (finishes) {
        lose(rank);
      } else {
        die(way);
      }
    }
    if (finishes) way = "finish", calls *= 5;
  }
  // Whether all ranks come here at the same step follows from what they do being the same.
  MPI_Finalize();
  if (log_fd >= 0) {
    static const char last[] = "{\"call\":\"MPI_Finalize\",\"args\":{}}\n";
    if (write(log_fd, last, sizeof last - 1) < 0) return 97;
  }
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
