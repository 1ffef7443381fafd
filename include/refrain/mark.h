/* refrain/mark.h: what a program can tell Refrain about itself. C and C++, nothing to link.
 *
 *   refrain_pause();                     from here on nothing is recorded ...
 *   refrain_resume();                    ... until here
 *   refrain_region_begin("solve");       a named part of the program; regions nest
 *   refrain_region_end("solve");
 *   refrain_instance("timestep", 17);    number 17 of what the program does again and again
 *
 * Where the program runs without Refrain each of them costs a test. They work on the calling thread
 * (regions, instances) or on the whole rank (pause, resume), before MPI_Init as well as after it.
 * Names are copied; they should be few and constant: every different one is a signature of its own,
 * and so is every different number of an instance.
 *
 * A loop whose iterations are to be seen as such, in `refrain iterations` and `refrain reduce`:
 *
 *   for (long step = 0; step < steps; ++step) {
 *     refrain_instance("step", step);
 *     ...                              MPI calls of this step
 *   }
 *
 * A thread may call them while others do. A region belongs to the thread that began it.
 *
 * refrain_pause() is MPI_Pcontrol(0), refrain_resume() is MPI_Pcontrol(1), without the call in the
 * trace. MPI_Init and MPI_Finalize are recorded all the same; see `refrain record --help`.
 */
#ifndef REFRAIN_MARK_H_
#define REFRAIN_MARK_H_

#include <dlfcn.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface; a later recorder serves every earlier one. */
#define REFRAIN_MARK_VERSION 1

/* What the recorder offers. It finds the program, not the other way round: the program looks for a
 * symbol of this name, and does without where there is none. */
struct refrain_mark_table {
  int version; /* of the recorder: this one or a later one, with more members at the end */
  void (*pause)(void);
  void (*resume)(void);
  void (*region_begin)(const char* name);
  void (*region_end)(const char* name);
  void (*instance)(const char* name, long long number);
};

/* NOLINTBEGIN(modernize-use-nullptr): this is C as well. */
/* The recorder's table, NULL without Refrain. Each source file that includes this asks once and
 * keeps the answer. Several threads may ask at a time: they find the same, and `asked` is set after
 * it. */
static inline const struct refrain_mark_table* refrain_marks(void) {
  static const struct refrain_mark_table* table;
  static int asked;
  if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
    void* found = dlsym((void*)0 /* RTLD_DEFAULT */, "refrain_mark_table");
    const struct refrain_mark_table* candidate = 0;
    memcpy(&candidate, &found, sizeof found);
    if (candidate != 0 && candidate->version >= REFRAIN_MARK_VERSION)
      __atomic_store_n(&table, candidate, __ATOMIC_RELAXED);
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&table, __ATOMIC_RELAXED);
}

/* Always inline: the recorder sees where in the program the call stands. */
#define REFRAIN_MARK_INLINE static inline __attribute__((always_inline))

/* From here on no call of this rank is recorded, of none of its threads; the trace counts them. */
REFRAIN_MARK_INLINE void refrain_pause(void) {
  const struct refrain_mark_table* marks = refrain_marks();
  if (marks != 0) marks->pause();
}

/* Calls are recorded again. Once is enough, however often it was paused. */
REFRAIN_MARK_INLINE void refrain_resume(void) {
  const struct refrain_mark_table* marks = refrain_marks();
  if (marks != 0) marks->resume();
}

/* A region of the calling thread; in it others may begin. `name` is text that ends with 0. */
REFRAIN_MARK_INLINE void refrain_region_begin(const char* name) {
  const struct refrain_mark_table* marks = refrain_marks();
  if (marks != 0) marks->region_begin(name);
}

/* Ends the innermost region of that name. One that was never begun is recorded as it is. */
REFRAIN_MARK_INLINE void refrain_region_end(const char* name) {
  const struct refrain_mark_table* marks = refrain_marks();
  if (marks != 0) marks->region_end(name);
}

/* What follows on this thread, up to the next mark of that name, is instance `number` of it. */
REFRAIN_MARK_INLINE void refrain_instance(const char* name, long long number) {
  const struct refrain_mark_table* marks = refrain_marks();
  if (marks != 0) marks->instance(name, number);
}

/* NOLINTEND(modernize-use-nullptr) */
#ifdef __cplusplus
}
#endif
#endif /* REFRAIN_MARK_H_ */
