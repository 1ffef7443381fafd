// Preloaded: a thread that asked for it stays where the recorder is about to read its frames of
// Python until the interpreter has begun to end and has freed them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread int wants_to_be_held;
static volatile int is_held, is_over;

void hold_first_reading(void) { wants_to_be_held = 1; }
int is_reading_held(void) { return is_held; }

// For Py_AtExit: after threads' states were freed, before mpi4py ends MPI.
void wait_for_reading(void) {
  for (int i = 0; i < 300 && !is_over; ++i) usleep(10000);
  usleep(200000);
}

static void hold(void) {
  int (*is_finalizing)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
  if (is_finalizing == NULL) is_finalizing = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
  is_held = 1;
  while (!is_finalizing()) usleep(1000);
  usleep(300000);
  is_over = 1;
}

// The recorder asks once in each thread whether it is the main one, right before it reads.
long syscall(long number, ...) {
  long word[6];
  va_list words;
  va_start(words, number);
  for (int i = 0; i < 6; ++i) word[i] = va_arg(words, long);
  va_end(words);
  if (number == SYS_gettid && wants_to_be_held) {
    wants_to_be_held = 0;
    hold();
  }
  static long (*real)(long, ...);
  if (real == NULL) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return real(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
