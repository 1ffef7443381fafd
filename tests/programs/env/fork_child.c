// Forks; the child does nothing with MPI, and leaves by exit(), so that all exit handlers run in
// it.
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

int main(int argc, char** argv) {
  int rank, size, status = -1;
  log_init(&argc, &argv, &rank, &size);
  L_Barrier(MPI_COMM_WORLD);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    printf("child of rank %d\n", rank);
    exit(3);
  }
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  EXPECT(system("exit 5") >> 8 == 5);
  L_Barrier(MPI_COMM_WORLD);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
