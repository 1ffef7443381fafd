// Preloaded: the files of a conventional trace stay when the recorder has read them back.
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int unlink(const char* path) {
  if (strstr(path, ".plain/") != NULL) return 0;
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
