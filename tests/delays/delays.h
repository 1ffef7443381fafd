// Programs whose delays are known because they are put in, in the manner of the APART test suite: a
// pattern of communication, repeated, with a piece of work in each iteration, and a cause that
// makes that work longer, on some ranks, in some iterations.
//
//   delays PATTERN CAUSE ITERATIONS WORK_US DELAY_US LOG
//
// LOG.RANK gets the lines between which setting up is ("setup A B C", see write_log()), and a line
// for each place of a delay: kind (between or call); file (0: the pattern's, 1: delays.c) and line
// of the MPI call before it; the same of the one after it; microseconds put in; how often. For a
// call both are its own.
#pragma once

#include <mpi.h>

// An MPI call, with its line noted.
#define CALL(expression) \
  do {                   \
    note_call(__LINE__); \
    (expression);        \
  } while (0)

// The work of an iteration, with what the cause adds to it.
#define WORK(iteration)            \
  do {                             \
    if (is_slow_call(iteration)) { \
      work(iteration, 0);          \
      slow_call(iteration);        \
    } else {                       \
      work(iteration, 1);          \
    }                              \
  } while (0)

struct run {
  int rank, size, iterations;
  const char* cause;
  int first;  // the rank with the delay, for most causes; see put_in()
};

extern struct run run;

void note_call(int line);
int is_slow_call(int iteration);
void slow_call(int iteration);
void work(int iteration, int with_delay);

struct pattern {
  const char* name;
  void (*program)(void);
  int first;  // the rank that others wait for when it is late
};

extern const struct pattern messages[];     // ends with an empty one
extern const struct pattern collectives[];  // the same
extern const struct pattern others[];       // the same
