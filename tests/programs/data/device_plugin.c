// The part of device_buffers that is opened at run time and uses the driver's interface.
#include <stdint.h>
#include <stdlib.h>

#include "calls.h"

// Without the line: the comparison knows one source file only.
#define USE(buf, name)                              \
  do {                                              \
    MPI_Bcast(buf, 0, MPI_CHAR, 0, MPI_COMM_WORLD); \
    DID("MPI_Bcast", "buffer:s count:i", name, 0);  \
  } while (0)

int fake_driver_use(int number);
int fake_driver_alive(void);
int cuMemAlloc(uint32_t* p, uint32_t bytes);
int cuMemAlloc_v2(uint64_t* p, size_t bytes);
int cuMemAllocManaged(uint64_t* p, size_t bytes, unsigned flags);
int cuMemAllocAsync(uint64_t* p, size_t bytes, void* stream);
int cuMemAllocHost_v2(void** p, size_t bytes);
int cuMemHostAlloc(void** p, size_t bytes, unsigned flags);
int cuMemFree(uint32_t p);
int cuMemFree_v2(uint64_t p);
int cuMemFreeAsync(uint64_t p, void* stream);
int cuMemFreeHost(void* p);

void use_driver(void);

void use_driver(void) {
  uint64_t a, b, managed;
  uint32_t old;
  void *pinned, *more;
  fake_driver_use(5);
  EXPECT(cuMemAlloc_v2(&a, 1000) == 0 && cuMemAllocAsync(&b, 1000, NULL) == 0);
  EXPECT(cuMemAllocManaged(&managed, 1000, 1) == 0 && cuMemAllocHost_v2(&pinned, 1000) == 0);
  EXPECT(cuMemHostAlloc(&more, 1000, 0) == 0 && cuMemAlloc(&old, 1000) == 0);
  EXPECT(fake_driver_alive() == 5);
  USE((char*)b + 8, "device5#0+8");
  USE((char*)a, "device5#1");
  USE((char*)managed + 999, "managed#0+999");
  USE(more, "pinned#0");
  USE(pinned, "pinned#1");
  USE((char*)(uintptr_t)old + 4, "device5#2+4");
  EXPECT(cuMemFree_v2(a) == 0 && cuMemFreeAsync(b, NULL) == 0 && cuMemFree_v2(managed) == 0);
  EXPECT(cuMemFreeHost(pinned) == 0 && cuMemFreeHost(more) == 0 && cuMemFree(old) == 0);
  EXPECT(cuMemFree(old + 1) == 1);
  EXPECT(fake_driver_alive() == 0);
}
