// Preload: after refrain_test_starve() the recorder's allocations fail. With $REFRAIN_TEST_REFUSALS
// as many of them do, else all; with $REFRAIN_TEST_REFUSE_BYTES only those of that size.
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t bytes);
void refrain_test_starve(void);

static uintptr_t begin, end;  // of the recorder's code
static long refusals;
static size_t refuse_bytes;

static int look(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  if (strstr(info->dlpi_name, "librefrain-") == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || (p->p_flags & PF_X) == 0) continue;
    begin = info->dlpi_addr + p->p_vaddr;
    end = begin + p->p_memsz;
  }
  return 1;
}

void refrain_test_starve(void) {
  const char* n = getenv("REFRAIN_TEST_REFUSALS");
  refusals = n != NULL ? atol(n) : -1;
  const char* size = getenv("REFRAIN_TEST_REFUSE_BYTES");
  refuse_bytes = size != NULL ? (size_t)atol(size) : 0;
  dl_iterate_phdr(look, NULL);
}

void* malloc(size_t bytes) {
  const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
  if (refusals != 0 && caller >= begin && caller < end &&
      (refuse_bytes == 0 || bytes == refuse_bytes)) {
    if (refusals > 0) --refusals;
    return NULL;
  }
  return __libc_malloc(bytes);
}
