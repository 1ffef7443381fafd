// Signal handlers of the program's own stay its own, and run in the middle of calls.
//
//   signals timer    a timer interrupts everything from before MPI_Init to after MPI_Finalize
//   signals jump     a handler leaves a call by a jump, on a signal out of an error handler: the
//                    call never returns, so it is lost and counted (the manifest says how often)
//   signals fault    a handler of SIGSEGV jumps out of the program's own code, between calls, and
//                    out of a call that was given a bad address: that one is lost
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>

#include "calls.h"

enum { kTimes = 3, kMicroseconds = 500, kEnough = 20 };
static int rank, size, to, from;
static volatile sig_atomic_t ticks;
static volatile sig_atomic_t may_jump;
static sigjmp_buf back;

static void on_tick(int number) {
  (void)number;
  ++ticks;
}

static void on_jump(int number) {
  if (may_jump == 0) _exit(98);
  may_jump = 0;
  siglongjmp(back, number);
}

// Without SA_RESTART: system calls are interrupted, the recorder's among them.
static void handle(int number, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  EXPECT(sigaction(number, &action, NULL) == 0);
}

static void expect_handled(int number, void (*handler)(int)) {
  struct sigaction now;
  EXPECT(sigaction(number, NULL, &now) == 0 && now.sa_handler == handler);
}

static void set_timer(int microseconds, int again) {
  struct itimerval timer;
  memset(&timer, 0, sizeof timer);
  timer.it_value.tv_usec = microseconds;
  timer.it_interval.tv_usec = again ? microseconds : 0;
  EXPECT(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void neighbours(int tag) {
  int in = -1;
  MPI_Request r[2];
  MPI_Status st[2];
  L_Irecv(&in, 1, MPI_INT, from, tag, MPI_COMM_WORLD, &r[0]);
  L_Isend(&rank, 1, MPI_INT, to, tag, MPI_COMM_WORLD, &r[1]);
  L_Waitall(2, r, st);
  EXPECT(in == from);
}

// As many steps as it takes for each rank to be interrupted often.
static void work_under_a_timer(void) {
  for (int step = 0, all = 0; all < kEnough; ++step) {
    for (int i = 0; i < 50; ++i) neighbours(i % 7);
    int mine = ticks;
    if (step % 4 == 0) {
      MPI_Comm dup;
      DO(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "comm:C newcomm:C+", MPI_COMM_WORLD, dup, "@@dup");
      L_Comm_free(&dup);
    }
    L_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
}

static void on_error(MPI_Comm* c, int* code, ...) {
  (void)c, (void)code;
  may_jump = 1;
  raise(SIGUSR1);
  _exit(97);
}

static void leave_calls(void) {
  MPI_Errhandler jumps;
  DO(MPI_Comm_create_errhandler(on_error, &jumps), "errhandler:E+", jumps);
  DO(MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumps), "comm:C errhandler:E", MPI_COMM_WORLD, jumps);
  handle(SIGUSR1, on_jump);
  for (int i = 0; i < kTimes; ++i) {
    L_Barrier(MPI_COMM_WORLD);
    if (sigsetjmp(back, 1) == 0) {
      MPI_Send(&rank, 1, MPI_INT, size + 7, 1, MPI_COMM_WORLD);
      EXPECT(!"a send to nobody returns");
    }
    expect_handled(SIGUSR1, on_jump);
    neighbours(10 + i);
  }
}

static void touch_nothing(void) {
  handle(SIGSEGV, on_jump);
  for (int i = 0; i < kTimes; ++i) {
    int* volatile nowhere = NULL;
    neighbours(20 + i);
    may_jump = 1;
    if (sigsetjmp(back, 1) == 0) {
      *(volatile int*)nowhere = 1;
      EXPECT(!"nothing is at address 0");
    }
    expect_handled(SIGSEGV, on_jump);
  }
  char room[64];
  int position = 0;
  may_jump = 1;
  if (sigsetjmp(back, 1) == 0) {
    MPI_Pack((void*)(intptr_t)8, 1, MPI_INT, room, sizeof room, &position, MPI_COMM_WORLD);
    EXPECT(!"nothing is at address 8");
  }
  neighbours(30);
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  const char* const way = argv[1];
  const int timer = strcmp(way, "timer") == 0;
  if (timer) handle(SIGALRM, on_tick);
  if (timer) set_timer(kMicroseconds, 1);
  log_init(&argc, &argv, &rank, &size);
  to = (rank + 1) % size, from = (rank + size - 1) % size;
  if (timer) work_under_a_timer();
  if (strcmp(way, "jump") == 0) leave_calls();
  if (strcmp(way, "fault") == 0) touch_nothing();
  if (timer) expect_handled(SIGALRM, on_tick);
  log_finalize();
  if (timer) set_timer(0, 0);
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
