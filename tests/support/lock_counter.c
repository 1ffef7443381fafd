/* Preloaded by tests/race/locks.py: counts the mutexes that the calling thread locks on behalf of
 * the recorder. A program finds lock_counter_value() by dlsym(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static uintptr_t recorder_begin, recorder_end;
static __thread unsigned long count __attribute__((tls_model("initial-exec")));

unsigned long lock_counter_value(void) { return count; }

static int look(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size, (void)unused;
  const char* const slash = strrchr(info->dlpi_name, '/');
  const char* const name = slash == NULL ? info->dlpi_name : slash + 1;
  if (strncmp(name, "librefrain-", strlen("librefrain-")) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const ph = &info->dlpi_phdr[i];
    if (ph->p_type != PT_LOAD || (ph->p_flags & PF_X) == 0) continue;
    recorder_begin = info->dlpi_addr + ph->p_vaddr;
    recorder_end = recorder_begin + ph->p_memsz;
  }
  return 0;
}

__attribute__((constructor)) static void begin(void) { dl_iterate_phdr(look, NULL); }

static int is_recorder(const void* address) {
  return (uintptr_t)address >= recorder_begin && (uintptr_t)address < recorder_end;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static int (*real)(pthread_mutex_t*);
  if (real == NULL) real = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_lock");
  if (is_recorder(__builtin_return_address(0))) ++count;
  return real(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  static int (*real)(pthread_mutex_t*);
  if (real == NULL) real = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_trylock");
  if (is_recorder(__builtin_return_address(0))) ++count;
  return real(mutex);
}
