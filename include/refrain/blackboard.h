/* refrain/blackboard.h: data that come in pieces, and functions that work on them in parallel as
 * soon as what they need is there. C, with a few lines for C++ at the end; link
 * librefrain-blackboard.so.
 *
 *   static void add(refrain_blackboard* board, refrain_entry* const* entries, int count, void*
 * context) {
 *     ...                                          works on entries[0] .. entries[count - 1], may
 * submit others
 *   }
 *
 *   refrain_blackboard* board = refrain_blackboard_new(4, 0);
 *   const refrain_type pack = refrain_type_of("job 7", "event pack");
 *   refrain_source_add(board, "unpacker", &pack, 1, add, context);
 *   refrain_blackboard_submit_copy(board, pack, data, bytes);
 *   refrain_blackboard_wait(board);                until nothing is left to do
 *   refrain_blackboard_free(board);
 *
 * examples/blackboard/words.c is a program that counts words. The idea is the parallel blackboard
 * of the online-coupling paper (section III-B, Figure 13): *entries* have a type and a payload; a
 * *knowledge source* is a list of types, its sensitivities, and an operation. An entry is put
 * behind the others of its type that wait at each source that is sensitive to it. When every
 * sensitivity of a source has one, the first ones of each are a job. Jobs are in an array of
 * queues, each with a lock of its own: a thread has one of its own, and looks into the others from
 * a random place on.
 *
 * What is fixed and what is not. Entries of one thread reach a source in their order, so which of
 * them come together in a job does not depend on the number of workers; entries of several threads,
 * and of operations, come in any order. Jobs run in any order, also those of one source, several at
 * a time.
 *
 * Threads. All functions may be called by any thread at any time, also inside of operations, unless
 * said otherwise.
 *
 * Memory. An entry is freed when its last reference is released. A board holds at most a number of
 * bytes of payload: then threads that submit wait, except operations, which never do.
 *
 * Ranks. A board is one process's; refrain/shared_blackboard.h has boards of all ranks of an MPI
 * job.
 *
 * Failures. Functions that return int give 0 or a code below zero; nothing ends the program. An
 * operation that throws (in C++) is noted with its source, which gets no further jobs; the others
 * go on.
 */
#ifndef REFRAIN_BLACKBOARD_H_
#define REFRAIN_BLACKBOARD_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: what a program was compiled with, and (the function) what it runs
 * with. */
#define REFRAIN_BLACKBOARD_VERSION 1
int refrain_blackboard_version(void);

#define REFRAIN_BOARD_EINVALID (-1) /* an argument, or a call that an operation may not make */
#define REFRAIN_BOARD_EFULL \
  (-2) /* the bound is reached by entries that wait for others which do not come */
#define REFRAIN_BOARD_ENOMEM (-3)

typedef struct refrain_blackboard refrain_blackboard;
typedef struct refrain_entry refrain_entry;

/* -- types -- */

/* 64 bits out of a level and a name; never 0. Equal names on different levels are different types:
 * a level for each program that is analysed keeps them apart. */
typedef uint64_t refrain_type;
refrain_type refrain_type_of(const char* level, const char* name);

/* -- entries -- */

/* A new entry with room for `bytes` (not set to anything), and one reference, which is the
 * caller's. NULL: no memory. */
refrain_entry* refrain_entry_new(refrain_type type, size_t bytes);
refrain_type refrain_entry_type(const refrain_entry* entry);
size_t refrain_entry_bytes(const refrain_entry* entry);
/* To read. Valid as long as the caller has a reference. */
const void* refrain_entry_data(const refrain_entry* entry);
/* To write: NULL unless the caller has the only reference. */
void* refrain_entry_write(refrain_entry* entry);
/* One reference more (the entry is returned), one less. */
refrain_entry* refrain_entry_keep(refrain_entry* entry);
void refrain_entry_release(refrain_entry* entry);

/* -- boards -- */

/* workers: threads that run jobs, beside those in refrain_blackboard_wait(); 0: none, the jobs run
 * in the order in which they were made; below 0: one for each core. most_bytes: of payload in
 * entries that were submitted; 0: no bound. NULL: no memory, or no threads. */
refrain_blackboard* refrain_blackboard_new(int workers, size_t most_bytes);
/* Waits, as below, and frees it with its sources and all entries that wait. Not inside of an
 * operation. */
void refrain_blackboard_free(refrain_blackboard* board);
/* Runs jobs until none is left, of any thread: so the caller holds no lock that an operation takes.
 * REFRAIN_BOARD_EINVALID inside of an operation. */
int refrain_blackboard_wait(refrain_blackboard* board);

/* 1 when no job is left at this moment, of any thread, and nobody submits; else 0. Does not wait.
 */
int refrain_blackboard_is_idle(const refrain_blackboard* board);

/* Gives an entry to all sources that are sensitive to its type, and takes the caller's reference,
 * also on failure. Waits while the board is full (with 0 workers it runs jobs meanwhile), except in
 * an operation. An entry that no source wants is released. */
int refrain_blackboard_submit(refrain_blackboard* board, refrain_entry* entry);
/* The same with a new entry that has a copy of the data: the caller's buffer is free at once. */
int refrain_blackboard_submit_copy(refrain_blackboard* board, refrain_type type, const void* data,
                                   size_t bytes);

/* -- knowledge sources -- */

/* Entry i is of the type of sensitivity i; the job has the references. */
typedef void (*refrain_operation)(refrain_blackboard* board, refrain_entry* const* entries,
                                  int count, void* context);

/* Number of a source, above 0; the code below zero of a failure. */
typedef int64_t refrain_source;

/* count: 1 to 64 sensitivities. Equal ones are several entries of that type for each job, in their
 * order. The name is for messages. The source gets what is submitted after this call returned, or
 * began, in case of another thread. */
refrain_source refrain_source_add(refrain_blackboard* board, const char* name,
                                  const refrain_type* sensitivities, int count,
                                  refrain_operation operation, void* context);
/* The same, and done(context) is called when the source was removed, or the board is freed, and its
 * last job has ended. */
refrain_source refrain_source_add_owning(refrain_blackboard* board, const char* name,
                                         const refrain_type* sensitivities, int count,
                                         refrain_operation operation, void* context,
                                         void (*done)(void* context));
/* No further jobs are made, and entries that wait for others are released; jobs that were made run.
 * An operation may remove its own source. REFRAIN_BOARD_EINVALID: there is none of this number any
 * more. */
int refrain_source_remove(refrain_blackboard* board, refrain_source source);

/* -- numbers -- */

struct refrain_blackboard_counts {
  uint64_t entries;     /* submitted */
  uint64_t unwanted;    /* of them, those that no source was sensitive to */
  uint64_t jobs;        /* made */
  uint64_t failed_jobs; /* whose operation threw */
  /* of payload: now, and the most there were. A thread that runs jobs tells up to 1 KiB late, at
   * the latest when it finds no job, unless the board has a bound. */
  uint64_t bytes, most_bytes;
};
void refrain_blackboard_count(const refrain_blackboard* board,
                              struct refrain_blackboard_counts* counts);
/* Copies names of sources that failed and what they threw, a line each, into `text`, which ends
 * with 0. Returns the bytes that all of it has. */
size_t refrain_blackboard_failures(const refrain_blackboard* board, char* text, size_t capacity);

/* -- plug-ins of `refrain live` --
 *
 * A shared object that exports the two names below; it need not link librefrain-blackboard.so.
 * `refrain live serve --plugin ./mine.so` runs it in a process of its own, with a board of its own:
 * one that throws, crashes, exits, takes too long or too much memory is named and gets nothing any
 * more, and all else goes on.
 *
 *   REFRAIN_PLUGIN_VERSION                        once, outside of functions
 *   int refrain_plugin_add(refrain_blackboard* board, const char* level)
 *
 * is called once for each job, with a level of its own: it adds sources for what it wants, and
 * returns 0. What it gets, of refrain_type_of(level, NAME):
 *   "look"     the job as JSON, an object of jobs[] as docs/live.md describes it, at each look that
 *              it has time for
 *   "ended"    the path of the job's trace, once, when the job has ended
 * What it submits as refrain_type_of(level, "answer"), UTF-8 text of at most 64 KiB, is shown with
 * the job, the newest one. docs/blackboard.md has an example. */
#ifdef __cplusplus
#define REFRAIN_PLUGIN_VERSION                 \
  extern "C" const int refrain_plugin_version; \
  const int refrain_plugin_version = REFRAIN_BLACKBOARD_VERSION;
#else
#define REFRAIN_PLUGIN_VERSION const int refrain_plugin_version = REFRAIN_BLACKBOARD_VERSION;
#endif
int refrain_plugin_add(refrain_blackboard* board, const char* level);

#ifdef __cplusplus
}

#include <utility>

namespace refrain {

// A reference to an entry that releases itself.
class EntryRef {
 public:
  EntryRef() = default;
  explicit EntryRef(refrain_entry* entry) : entry_(entry) {}  // takes the reference
  EntryRef(const EntryRef& other) : entry_(other.entry_) {
    if (entry_ != nullptr) refrain_entry_keep(entry_);
  }
  EntryRef(EntryRef&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  EntryRef& operator=(EntryRef other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~EntryRef() {
    if (entry_ != nullptr) refrain_entry_release(entry_);
  }
  refrain_entry* get() const { return entry_; }
  refrain_entry* give() {
    return std::exchange(entry_, nullptr);
  }  // for refrain_blackboard_submit()

 private:
  refrain_entry* entry_ = nullptr;
};

}  // namespace refrain
#endif
#endif /* REFRAIN_BLACKBOARD_H_ */
