// A program with an allocator of its own: it is neither replaced nor seen, and the trace says so.
#include <stddef.h>

#include "calls.h"

static char arena[1 << 28];
static size_t used;

// Room for the size in front, which realloc needs. Nothing is ever given back.
static void* take(size_t alignment, size_t bytes) {
  if (alignment < 16) alignment = 16;
  size_t at = __atomic_load_n(&used, __ATOMIC_RELAXED), begin, end;
  do {
    begin = (at + 16 + alignment - 1) / alignment * alignment;
    end = begin + bytes;
    if (end > sizeof arena) return NULL;
  } while (!__atomic_compare_exchange_n(&used, &at, end, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  memcpy(arena + begin - sizeof bytes, &bytes, sizeof bytes);
  return arena + begin;
}

void* malloc(size_t bytes) { return take(16, bytes); }
void free(void* p) { (void)p; }
void* calloc(size_t count, size_t size) { return take(16, count * size); }
void* memalign(size_t alignment, size_t bytes) { return take(alignment, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return take(alignment, bytes); }
int posix_memalign(void** p, size_t alignment, size_t bytes) {
  *p = take(alignment, bytes);
  return *p == NULL ? 12 : 0;
}
void* realloc(void* old, size_t bytes) {
  void* p = take(16, bytes);
  if (old == NULL || p == NULL) return p;
  size_t before;
  memcpy(&before, (char*)old - sizeof before, sizeof before);
  return memcpy(p, old, before < bytes ? before : bytes);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  char* mine = malloc(100);
  EXPECT(mine >= arena && mine < arena + sizeof arena);
  DO(MPI_Bcast(mine, 1, MPI_CHAR, 0, MPI_COMM_WORLD), "buffer:b count:i", mine, "data", 1);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
