#include "delays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Lines of this file are counted from kHere on, to tell them from those of the pattern's file.
enum { kMostPlaces = 64, kHere = 1000000 };

struct place {
  int is_call, from, to, count;
  double us;
};

struct run run;
static double work_us, delay_us;
static struct place places[kMostPlaces];
static int place_count;
static int main_line, program_line, setup_line;  // see write_log()
// What was done since the last MPI call: of a thread, but under SMPI, whose ranks share what a
// thread has to itself.
#ifdef DELAYS_WITH_THREADS
#define PER_THREAD __thread
#else
#define PER_THREAD
#endif
static PER_THREAD int last_line, is_pending;
static PER_THREAD double pending_us;
static MPI_Op slow_op;
static MPI_Comm passing = MPI_COMM_NULL;  // apart from the pattern's messages, for pass_on()
static double slow_us;

static int is(const char* cause) { return strcmp(run.cause, cause) == 0; }

static void note(int is_call, int from, int to, double us) {
  // Only one thread has a delay.
  int i = 0;
  while (i < place_count &&
         (places[i].is_call != is_call || places[i].from != from || places[i].to != to))
    ++i;
  if (i == kMostPlaces) exit(3);
  if (i == place_count) {
    const struct place made = {is_call, from, to, 0, 0};
    places[place_count++] = made;
  }
  places[i].us += us;
  ++places[i].count;
}

void note_call(int line) {
  if (is_pending) note(0, last_line, line, pending_us);
  is_pending = 0;
  last_line = line;
}

// What the cause puts in on this rank in this iteration.
static double put_in(int iteration) {
  const int r = run.rank, first = run.first;
  if (is("none")) return 0;
  if (is("passed_on")) return r == (first + 2) % run.size ? delay_us : 0;
  if (is("several")) return r == first || r == (first + 1) % run.size ? delay_us : 0;
  if (is("turns")) return r == (first + iteration) % 3 + 1 ? delay_us : 0;
  if (r != first) return 0;
  if (is("tenth")) return iteration % 10 == 4 ? 4 * delay_us : 0;
  if (is("growing")) return 2 * delay_us * (iteration + 1) / run.iterations;
  return delay_us;
}

static unsigned next_random(unsigned* state) {
  *state = *state * 1664525U + 1013904223U;
  return *state >> 16;
}

// From the rank with the delay over another one to the rank that the others wait for.
static void pass_on(void) {
  const int third = run.first, second = (third + 1) % run.size, first = (third + 2) % run.size;
  int token = 0;
  if (run.rank == second || run.rank == third) {
    note_call(kHere + __LINE__ + 1);
    MPI_Recv(&token, 1, MPI_INT, run.rank == third ? second : first, 0, passing, MPI_STATUS_IGNORE);
  }
  if (run.rank == first || run.rank == second) {
    note_call(kHere + __LINE__ + 1);
    MPI_Send(&token, 1, MPI_INT, run.rank == first ? second : third, 0, passing);
  }
}

void work(int iteration, int with_delay) {
  double us = work_us;
  if (setup_line == 0) setup_line = last_line;
  if (is("noise")) {  // half as much again, or half, on every rank
    unsigned state = 97U * (unsigned)run.rank + 31U * (unsigned)iteration + 7U;
    next_random(&state);
    us *= 0.5 + (next_random(&state) % 1000) / 1000.0;
  }
  const double more = with_delay ? put_in(iteration) : 0;
  if (more > 0) {
    is_pending = 1;
    pending_us = more;
  }
  usleep((useconds_t)(us + more));
  if (is("passed_on")) pass_on();
}

int is_slow_call(int iteration) {
  (void)iteration;
  return is("call");
}

static void sleeping_sum(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in;
  (void)inout;
  (void)count;
  (void)type;
  if (slow_us > 0) usleep((useconds_t)slow_us);
}

void slow_call(int iteration) {
  int a = 1, b = 2;
  slow_us = put_in(iteration);
  if (slow_us > 0) note(1, kHere + __LINE__ + 1, kHere + __LINE__ + 1, slow_us);
  MPI_Reduce_local(&a, &b, 1, MPI_INT, slow_op);
  slow_us = 0;
}

static const struct pattern* find(const char* name) {
  const struct pattern* const lists[] = {messages, collectives, others};
  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); ++i)
    for (const struct pattern* p = lists[i]; p->name != NULL; ++p)
      if (strcmp(p->name, name) == 0) return p;
  fprintf(stderr, "no pattern %s\n", name);
  exit(2);
}

static void write_log(const char* name) {
  char path[4096];
  snprintf(path, sizeof(path), "%s.%d", name, run.rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) exit(3);
  // Begin of main(), call of the pattern, MPI call before its first work.
  fprintf(file, "setup %d %d %d\n", main_line, program_line, setup_line);
  for (int i = 0; i < place_count; ++i)
    fprintf(file, "%s %d %d %d %d %.0f %d\n", places[i].is_call ? "call" : "between",
            places[i].from / kHere, places[i].from % kHere, places[i].to / kHere,
            places[i].to % kHere, places[i].us, places[i].count);
  fclose(file);
}

int main(int argc, char** argv) {
  int provided = 0;
  main_line = __LINE__;
  if (argc != 7) return 2;
  const struct pattern* const pattern = find(argv[1]);
  run.cause = argv[2];
  run.iterations = atoi(argv[3]);
  work_us = atof(argv[4]);
  delay_us = atof(argv[5]);
  const int threads = strcmp(pattern->name, "threads") == 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.size);
  run.first = is("root") ? 0 : pattern->first;
  MPI_Op_create(sleeping_sum, 1, &slow_op);
  if (is("passed_on")) MPI_Comm_dup(MPI_COMM_WORLD, &passing);
  program_line = __LINE__;
  pattern->program();
  MPI_Op_free(&slow_op);
  if (passing != MPI_COMM_NULL) MPI_Comm_free(&passing);
  write_log(argv[6]);
  MPI_Finalize();
  return 0;
}
