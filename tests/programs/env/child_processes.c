// Processes of the program's own beside MPI: fork, vfork, posix_spawn, system() and popen(), while
// messages are under way. They are no ranks: what they print and how they end is theirs, and
// nothing of them is in the trace.
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

extern char** environ;
static int rank, size;

static int status_of(pid_t child) {
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

// What the child wrote into the pipe is exactly `words`.
static void expect_words(int fd, const char* words) {
  char text[256];
  size_t n = 0;
  ssize_t got;
  while ((got = read(fd, text + n, sizeof text - n)) > 0) n += (size_t)got;
  EXPECT(got == 0 && n == strlen(words) && memcmp(text, words, n) == 0);
  close(fd);
}

// A child that is a full copy: it makes memory its own, has a child of its own, and runs the exit
// handlers.
static void forks(void) {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    for (int i = 0; i < 1000; ++i) free(malloc((size_t)(1 + i * 17 % 5000)));
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(write(ends[1], "grandchild\n", 11) == 11 ? 6 : 7);
    const int status = status_of(grandchild);
    if (write(ends[1], "child\n", 6) != 6) _exit(8);
    exit(status + 1);
  }
  close(ends[1]);
  expect_words(ends[0], "grandchild\nchild\n");
  EXPECT(status_of(child) == 7);
}

// A child that borrows the parent's memory until it becomes another program, or fails to.
static void vforks(void) {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  pid_t child = vfork();
  if (child == 0) {
    dup2(ends[1], 1);
    execl("/bin/sh", "sh", "-c", "echo borrowed; exit 4", (char*)NULL);
    _exit(127);
  }
  close(ends[1]);
  expect_words(ends[0], "borrowed\n");
  EXPECT(status_of(child) == 4);
  child = vfork();
  if (child == 0) {
    execl("/no/such/program", "program", (char*)NULL);
    _exit(errno == ENOENT ? 12 : 13);
  }
  EXPECT(status_of(child) == 12);
}

static void spawns(void) {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  posix_spawn_file_actions_t actions;
  EXPECT(posix_spawn_file_actions_init(&actions) == 0);
  EXPECT(posix_spawn_file_actions_adddup2(&actions, ends[1], 1) == 0);
  // On standard error too: a recorder in a child has nothing to say.
  EXPECT(posix_spawn_file_actions_adddup2(&actions, ends[1], 2) == 0);
  EXPECT(posix_spawn_file_actions_addclose(&actions, ends[0]) == 0);
  char* const words[] = {"sh", "-c", "echo spawned; /bin/true; (exit 9)", NULL};
  pid_t child;
  EXPECT(posix_spawn(&child, "/bin/sh", &actions, NULL, words, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  expect_words(ends[0], "spawned\n");
  EXPECT(status_of(child) == 9);
}

static void shells(void) {
  EXPECT(system("exit 5") >> 8 == 5);
  FILE* const words = popen("echo piped", "r");
  char text[32] = "";
  EXPECT(words != NULL && fgets(text, sizeof text, words) != NULL);
  EXPECT(strcmp(text, "piped\n") == 0 && pclose(words) == 0);
}

int main(int argc, char** argv) {
  void (*const ways[])(void) = {forks, vforks, spawns, shells};
  log_init(&argc, &argv, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < 4; ++i) {
    int in = -1;
    MPI_Request r[2];
    MPI_Status st[2];
    L_Irecv(&in, 1, MPI_INT, from, i, MPI_COMM_WORLD, &r[0]);
    ways[i]();
    L_Isend(&rank, 1, MPI_INT, to, i, MPI_COMM_WORLD, &r[1]);
    L_Waitall(2, r, st);
    EXPECT(in == from);
    L_Barrier(MPI_COMM_WORLD);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
