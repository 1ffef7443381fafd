// Preloaded: rank 1 gets no piece of memory of 8 MiB or more, from MPI_Finalize on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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

// The recorder takes large pieces from the system.
void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (is_refusing && (flags & MAP_ANONYMOUS) != 0 && bytes >= (size_t)8 << 20) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}

// The recorder is in front of this, and hands over what it has from inside of the real one.
int MPI_Finalize(void) {
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  is_refusing = rank != NULL && strcmp(rank, "1") == 0;
  int (*const real)(void) = (int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize");
  return real();
}
