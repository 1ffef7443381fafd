// Which buffer it is: blocks of every kind of allocation, by first use, with offsets, reused.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>

#include "calls.h"

// The name that a dump gives to the byte at `buf` is `name`.
#define USE(buf, name) \
  DO(MPI_Bcast(buf, 1, MPI_CHAR, 0, MPI_COMM_WORLD), "buffer:s count:i", name, 1)

static char data_buffer[64];

static void blocks_of_malloc(void) {
  char *unused = malloc(100), *a = malloc(5000), *b = malloc(24);
  for (int i = 0; i < 3; ++i) {
    USE(a, "heap#0");
    USE(b, "heap#1");
    USE(a + 4999, "heap#0+4999");
    USE(b + 8, "heap#1+8");
  }
  free(a);
  char* c = malloc(3000);  // perhaps where the other one was
  USE(b, "heap#1");
  USE(c, "heap#0");
  free(unused);
  char *d = calloc(7, 1000), *e = malloc((size_t)3 << 20);
  USE(e + (2 << 20), "heap#2+2097152");
  USE(d, "heap#3");
  for (int i = 0; i < 7000; ++i) EXPECT(d[i] == 0);
  free(b);
  free(c);
  free(d);
  USE(e, "heap#2");
  for (int i = 0; i < 20; ++i) {  // a buffer that lives for one message
    char* once = malloc(64 + (size_t)i * 5000);
    USE(once, "heap#0");
    free(once);
  }
  free(e);
}

static void blocks_that_move(void) {
  char* a = malloc(100);
  char* b = malloc(100);
  USE(b, "heap#0");
  USE(a, "heap#1");
  for (int i = 0; i < 100; ++i) a[i] = (char)i;
  for (size_t size = 200; size < 4000000; size *= 3) {
    a = realloc(a, size);
    char name[32];
    snprintf(name, sizeof name, "heap#1+%zu", size - 1);
    USE(a + size - 1, name);
    for (int i = 0; i < 99; ++i) EXPECT(a[i] == (char)i);
  }
  char* volatile same = a;
  EXPECT(realloc(same, SIZE_MAX / 2) == NULL);
  a = same;
  USE(a, "heap#1");
  a = reallocarray(a, 10, 10);
  USE(a + 99, "heap#1+99");
  char* c = realloc(NULL, 50);
  USE(c, "heap#2");
  free(b);
  free(a);
  free(c);
}

static void blocks_that_are_aligned(void) {
  char *a = memalign(4096, 100), *b = aligned_alloc(256, 512), *c = valloc(100), *d = NULL;
  EXPECT(posix_memalign((void**)&d, 1 << 20, 100) == 0);
  EXPECT(((uintptr_t)a % 4096 | (uintptr_t)b % 256 | (uintptr_t)c % 4096) == 0);
  EXPECT((uintptr_t)d % (1 << 20) == 0);
  USE(a, "heap#0");
  USE(b + 511, "heap#1+511");
  USE(c, "heap#2");
  USE(d + 16, "heap#3+16");
  free(a);
  free(b);
  free(c);
  free(d);
}

static void memory_of_mpi(void) {
  char *a, *own, *first, *block = malloc(64);
  DO(MPI_Alloc_mem(1000, MPI_INFO_NULL, &a), "size:i baseptr:s", 1000, "heap#0");
  USE(a + 10, "heap#0+10");
  MPI_Win win;
  DO(MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win),
     "size:i disp_unit:i baseptr:s win:W+", 4096, 1, "heap#1", win);
  USE(own + 4095, "heap#1+4095");
  USE(block, "heap#2");
  const MPI_Win freed = win;
  DO(MPI_Win_free(&win), "win:W-", freed);
  DO(MPI_Free_mem(a), "base:s", "heap#0");
  USE(block + 1, "heap#2+1");
  MPI_Comm node;
  DO(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
     "newcomm:C+", node, "@@node");
  int rank, ranks;
  L_Comm_rank(node, &rank);
  L_Comm_size(node, &ranks);
  DO(MPI_Win_allocate_shared(512, 1, MPI_INFO_NULL, node, &own, &win), "baseptr:s win:W+", "heap#0",
     win);
  MPI_Aint bytes;
  int unit, neighbour = (rank + 1) % ranks;
  DO(MPI_Win_shared_query(win, neighbour, &bytes, &unit, &first), "rank:r size:i baseptr:s",
     neighbour, 512, ranks > 1 ? "heap#1" : "heap#0");
  USE(own + 8, "heap#0+8");
  USE(first + 8, ranks > 1 ? "heap#1+8" : "heap#0+8");
  const MPI_Win shared = win;
  DO(MPI_Win_free(&win), "win:W-", shared);
  L_Comm_free(&node);
  free(block);
}

int main(int argc, char** argv) {
  int rank, size;
  char on_stack[64];
  log_init(&argc, &argv, &rank, &size);
  USE(on_stack, "stack#0");
  DO(MPI_Bcast(data_buffer, 1, MPI_CHAR, 0, MPI_COMM_WORLD), "buffer:b", data_buffer, "data");
  blocks_of_malloc();
  blocks_that_move();
  blocks_that_are_aligned();
  memory_of_mpi();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
