// For programs whose recording leaves messages out by their size: what is logged is what must be
// kept.
#ifndef REFRAIN_TESTS_KEPT_H_
#define REFRAIN_TESTS_KEPT_H_

#include "calls.h"

#define W MPI_COMM_WORLD  // no constant in every MPI

static long min_bytes, max_bytes;
static long gone __attribute__((unused));  // calls that are to be left out

static inline void read_bounds(char** argv) {
  min_bytes = atol(argv[1]), max_bytes = atol(argv[2]);
}
static inline int kept(long bytes) { return min_bytes <= bytes && bytes <= max_bytes; }

// Begins a program with so many words, the first of which are the bounds.
#define L_Init_bounds(argc, argv, words, rank, size) \
  do {                                               \
    MPI_Init(&(argc), &(argv));                      \
    EXPECT((argc) == (words));                       \
    DID("MPI_Init", "argc:i", argc);                 \
    read_bounds(argv);                               \
    L_Comm_rank(W, rank);                            \
    L_Comm_size(W, size);                            \
  } while (0)

// Makes a call, and logs it if it is kept.
#define KEPT(kept, call, ...)        \
  do {                               \
    if (kept)                        \
      DO(call, __VA_ARGS__);         \
    else {                           \
      ++gone;                        \
      EXPECT((call) == MPI_SUCCESS); \
    }                                \
  } while (0)
// The same for one that has been made already.
#define WAS_KEPT(kept, name, ...) \
  do {                            \
    if (kept)                     \
      DID(name, __VA_ARGS__);     \
    else                          \
      ++gone;                     \
  } while (0)

#endif  // REFRAIN_TESTS_KEPT_H_
