// Preloaded: rank 1 gets no piece of memory of 8 MiB or more, from MPI_Finalize on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int is_refusing;

extern void* __libc_malloc(size_t bytes);

void* malloc(size_t bytes) {
  if (is_refusing && bytes >= (size_t)8 << 20) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(bytes);
}

// The recorder takes large pieces from the system, past any mmap() of ours where UCX has hooks of
// its own: the system itself is told to give no more than a little.
static void bound_the_system(void) {
  const size_t kMore = (size_t)7 << 20;
  unsigned long pages = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%lu", &pages) != 1) abort();
  fclose(file);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = (rlim_t)pages * (size_t)sysconf(_SC_PAGESIZE) + kMore;
  setrlimit(RLIMIT_AS, &limit);
}

// The recorder is in front of this, and hands over what it has from inside of the real one.
int MPI_Finalize(void) {
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  is_refusing = rank != NULL && strcmp(rank, "1") == 0;
  if (is_refusing) bound_the_system();
  int (*const real)(void) = (int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize");
  return real();
}
