// A program with a malloc of its own that keeps nothing in front of its pieces, and no other
// function that knows their sizes. What lies in front of a piece is a piece of somebody else.
#include <stddef.h>
#include <stdint.h>

#include "calls.h"

enum { kMost = 1 << 20 };
static char arena[1 << 28];
static size_t used, count;
static size_t begins[kMost];  // of the pieces, which are never given back

static void lock(int on) {
  static int taken;
  while (on && __atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE) != 0) {
  }
  if (!on) __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
}

static void* take(size_t alignment, size_t bytes) {
  if (alignment < 16) alignment = 16;
  void* p = NULL;
  lock(1);
  const size_t begin = (used + alignment - 1) / alignment * alignment;
  if (count < kMost && bytes < sizeof arena - begin) {
    used = begin + (bytes == 0 ? 1 : bytes);
    begins[count++] = begin;
    p = arena + begin;
  }
  lock(0);
  // No chunk of the C library's malloc is that large.
  if (p != NULL) memset(p, 0xAB, bytes);
  return p;
}

// As far as the next piece.
static size_t size_of(const char* p) {
  const size_t at = (size_t)(p - arena);
  lock(1);
  size_t low = 0, high = count;
  while (low + 1 < high) {
    const size_t middle = (low + high) / 2;
    if (begins[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  const size_t size = (high < count ? begins[high] : used) - at;
  lock(0);
  return size;
}

void* malloc(size_t bytes) { return take(16, bytes); }
void free(void* p) { (void)p; }
void* memalign(size_t alignment, size_t bytes) { return take(alignment, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return take(alignment, bytes); }
int posix_memalign(void** p, size_t alignment, size_t bytes) {
  *p = take(alignment, bytes);
  return *p == NULL ? 12 : 0;
}
void* calloc(size_t n, size_t size) {
  volatile char* p = take(16, n * size);  // no call of calloc is made of it
  for (size_t i = 0; p != NULL && i < n * size; ++i) p[i] = 0;
  return (void*)p;
}
void* realloc(void* old, size_t bytes) {
  const size_t before = old == NULL ? 0 : size_of(old);
  void* p = take(16, bytes);
  if (old == NULL || p == NULL) return p;
  return memcpy(p, old, before < bytes ? before : bytes);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  for (int i = 1; i <= 500; ++i) {
    int* mine = malloc(sizeof(int) * (size_t)i);
    for (int k = 0; k < i; ++k) mine[k] = rank;
    L_Allreduce(MPI_IN_PLACE, mine, i, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(mine[i - 1] == size * (size - 1) / 2);
    free(mine);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
