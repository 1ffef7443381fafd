// What a test program did, in its own words: one JSON line per MPI call, beside what Refrain says.
//
//   DO(MPI_Send(buf, 3, MPI_INT, 1, 7, comm), "count:i datatype:D dest:r tag:t comm:C",
//      3, MPI_INT, 1, 7, comm);
//
// makes the call and appends {"call":"MPI_Send","args":{"count":3,...},"line":41} to
// $REFRAIN_TEST_LOG.<rank>; it has the call's return code as its value, and logs "rc" when that is
// not MPI_SUCCESS. The arguments after the specification are evaluated after the call, so outputs
// are seen. Without REFRAIN_TEST_LOG nothing is logged. Only what the program knows is logged: a
// key that is not there is not compared. tests/README.md has the kinds (the letters after ':').
//
// Thread safe when called between MPI calls of different threads (one lock around each line).
#ifndef REFRAIN_TESTS_LOG_H_
#define REFRAIN_TESTS_LOG_H_

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The MPI library under its own name, for dlopen().
#if defined(OPEN_MPI)
#define MPI_LIBRARY "libmpi.so.40"
#elif defined(MPI_ABI_VERSION)  // of the standard, whichever MPI is behind it
#define MPI_LIBRARY "libmpi_abi.so.1"
#else
#define MPI_LIBRARY "libmpich.so.12"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Names a handle that MPI or the program knows by a name of its own. `alias` begins with "@@" when
// every rank must see the same id for it (communicators), with "@" when it is a matter of one rank.
void log_bind(char kind, const void* handle, size_t size, const char* alias);
// Before a handle is freed: its value may be another thread's by the time that the call is logged.
void log_ending(char kind, const void* handle, size_t size);
void log_call(int line, const char* call, int rc, const char* spec, ...);
// Makes the following lines of this thread carry "thread": name.
void log_thread(const char* name);
// A request variable was copied to another place.
void log_move_request(MPI_Request* from, MPI_Request* to);

// With REFRAIN_TEST_TIMES: the system's clock in ns, else 0; and when the call that this thread's
// next line is about was made and had returned.
long long log_now(void);
void log_times(long long begin, long long end);

// The macro's line, not the closing parenthesis': the same one that the debug information has.
#define DO(mpi_call, ...) log_and_return(__builtin_LINE(), #mpi_call, (mpi_call), __VA_ARGS__)
#define log_and_return(line, name, rc_expr, ...) \
  __extension__({                                \
    const long long log_begin_ = log_now();      \
    const int log_rc_ = (rc_expr);               \
    log_times(log_begin_, log_now());            \
    log_call(line, name, log_rc_, __VA_ARGS__);  \
    log_rc_;                                     \
  })

// A call whose value is no error code: assigns it; ` =return:KIND` in the specification compares
// it.
#define GET(variable, mpi_call, ...)                                 \
  do {                                                               \
    const long long log_begin_ = log_now();                          \
    (variable) = (mpi_call);                                         \
    log_times(log_begin_, log_now());                                \
    log_call(__builtin_LINE(), #mpi_call, MPI_SUCCESS, __VA_ARGS__); \
  } while (0)

// A call that must be made apart from its line, or has none.
#define DID(name, ...) log_call(0, name, MPI_SUCCESS, __VA_ARGS__)

// A run that cannot show anything here: exit status 77 on every rank, counted by the driver.
#define SKIP(why)                       \
  do {                                  \
    fprintf(stderr, "SKIP: %s\n", why); \
    exit(77);                           \
  } while (0)

// A program that finds a wrong result says so and fails: the tests also watch that Refrain changes
// no result.
#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(3);                                                                \
    }                                                                         \
  } while (0)

// {"source":..,"tag":..} for =matched:j; valid until the thread's next call of it.
const char* json_message(int source, int tag);

// Opening and closing that every program has; both are logged.
void log_init(int* argc, char*** argv, int* rank, int* size);
void log_finalize(void);

#ifdef __cplusplus
}
#endif
#endif  // REFRAIN_TESTS_LOG_H_
