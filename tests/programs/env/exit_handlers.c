// Programs that leave MPI to the end of the process.
//
//   exit_handlers handler       an exit handler makes the last calls, MPI_Finalize among them
//   exit_handlers destructor    the same in a destructor of the program
//   exit_handlers ask           an exit handler asks after MPI_Finalize what has become of MPI
#include <unistd.h>

#include "calls.h"

static int rank, size;
static const char* way = "";

static void last_calls(void) {
  int flag = 0, sum = 0;
  DO(MPI_Initialized(&flag), "flag:i", flag);
  EXPECT(flag == 1);
  DO(MPI_Finalized(&flag), "flag:i", flag);
  EXPECT(flag == 0);
  L_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == size * (size - 1) / 2);
  log_finalize();
  printf("rank %d of %d done by a %s\n", rank, size, way);
  // Hydra may lose what is written while the process ends.
  fflush(stdout);
  usleep(300000);
}

// Calls after MPI_Finalize are not in the trace: it has been written.
static void ask(void) {
  int flag = 0, version = 0, subversion = 0;
  EXPECT(MPI_Initialized(&flag) == MPI_SUCCESS && flag == 1);
  EXPECT(MPI_Finalized(&flag) == MPI_SUCCESS && flag == 1);
  EXPECT(MPI_Get_version(&version, &subversion) == MPI_SUCCESS && version >= 3);
  printf("rank %d of %d done and asked\n", rank, size);
}

static void handler(void) { strcmp(way, "ask") == 0 ? ask() : last_calls(); }

__attribute__((destructor)) static void destructor(void) {
  if (strcmp(way, "destructor") == 0) last_calls();
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  way = argv[1];
  const int early = strcmp(way, "ask") == 0;
  // Before MPI has handlers of its own as well as behind them.
  if (early && atexit(handler) != 0) return 2;
  log_init(&argc, &argv, &rank, &size);
  L_Barrier(MPI_COMM_WORLD);
  if (strcmp(way, "handler") == 0 && atexit(handler) != 0) return 2;
  if (early) log_finalize();
  return 0;
}
