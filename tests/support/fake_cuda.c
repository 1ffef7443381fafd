// A stand-in for CUDA: exports the runtime's and the driver's functions that allocate, on memory of
// the host. It counts what is alive, so that a test sees that every call came through.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int device;
static int alive;

static int make(void** p, size_t bytes) {
  if (bytes == SIZE_MAX) return 2;  // cudaErrorMemoryAllocation
  *p = aligned_alloc(512, (bytes + 511) / 512 * 512);
  ++alive;
  return 0;
}

static int end(void* p) {
  if (p != NULL) --alive;
  free(p);
  return 0;
}

#ifdef FAKE_RUNTIME
int fake_runtime_alive(void) { return alive; }
int cudaSetDevice(int number) { return device = number, 0; }
int cudaGetDevice(int* number) { return *number = device, 0; }
int cudaMalloc(void** p, size_t bytes) { return make(p, bytes); }
int cudaMallocManaged(void** p, size_t bytes, unsigned flags) {
  return (void)flags, make(p, bytes);
}
int cudaMallocHost(void** p, size_t bytes) { return make(p, bytes); }
int cudaHostAlloc(void** p, size_t bytes, unsigned flags) { return (void)flags, make(p, bytes); }
int cudaMallocAsync(void** p, size_t bytes, void* stream) { return (void)stream, make(p, bytes); }
int cudaMallocPitch(void** p, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return make(p, *pitch * height);
}
int cudaFree(void* p) { return end(p); }
int cudaFreeHost(void* p) { return end(p); }
int cudaFreeAsync(void* p, void* stream) { return (void)stream, end(p); }
#else
int fake_driver_alive(void) { return alive; }
int fake_driver_use(int number) { return device = number, 0; }
int cuCtxGetDevice(int* number) { return *number = device, 0; }
int cuMemAlloc_v2(uint64_t* p, size_t bytes) { return make((void**)p, bytes); }
int cuMemAllocManaged(uint64_t* p, size_t bytes, unsigned flags) {
  return (void)flags, make((void**)p, bytes);
}
int cuMemAllocAsync(uint64_t* p, size_t bytes, void* stream) {
  return (void)stream, make((void**)p, bytes);
}
int cuMemAllocHost_v2(void** p, size_t bytes) { return make(p, bytes); }
int cuMemHostAlloc(void** p, size_t bytes, unsigned flags) { return (void)flags, make(p, bytes); }
int cuMemFree_v2(uint64_t p) { return end((void*)p); }
int cuMemFreeAsync(uint64_t p, void* stream) { return (void)stream, end((void*)p); }
int cuMemFreeHost(void* p) { return end(p); }
// The first version, with pointers of 32 bits: nothing lies there.
int cuMemAlloc(uint32_t* p, uint32_t bytes) { return *p = 0x1000, bytes == 0; }
int cuMemFree(uint32_t p) { return p == 0x1000 ? 0 : 1; }
#endif
