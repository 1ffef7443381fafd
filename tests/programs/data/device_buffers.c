// Memory of an accelerator, through the runtime and, in a library opened later, the driver.
#include <dlfcn.h>
#include <stdint.h>

#include "calls.h"

// The memory is the stand-in's; real memory of a device could not be sent by every MPI.
#define USE(buf, name) \
  DO(MPI_Bcast(buf, 0, MPI_CHAR, 0, MPI_COMM_WORLD), "buffer:s count:i", name, 0)

int fake_runtime_alive(void);
int cudaSetDevice(int number);
int cudaMalloc(void** p, size_t bytes);
int cudaMallocPitch(void** p, size_t* pitch, size_t width, size_t height);
int cudaMallocManaged(void** p, size_t bytes, unsigned flags);
int cudaMallocHost(void** p, size_t bytes);
int cudaHostAlloc(void** p, size_t bytes, unsigned flags);
int cudaMallocAsync(void** p, size_t bytes, void* stream);
int cudaFree(void* p);
int cudaFreeHost(void* p);
int cudaFreeAsync(void* p, void* stream);

static void use_runtime(void) {
  char *a, *b, *c, *pitched, *managed, *pinned, *more;
  size_t pitch;
  EXPECT(cudaMalloc((void**)&a, 1 << 20) == 0);
  EXPECT(cudaMalloc((void**)&b, 100) == 0);
  USE(b + 64, "device0#0+64");
  USE(a, "device0#1");
  EXPECT(cudaSetDevice(2) == 0);
  EXPECT(cudaMallocAsync((void**)&c, 4096, NULL) == 0);
  EXPECT(cudaMallocPitch((void**)&pitched, &pitch, 100, 10) == 0);
  USE(pitched + 9 * pitch + 99, "device2#0+4707");
  USE(c, "device2#1");
  EXPECT(cudaMallocManaged((void**)&managed, 100, 1) == 0);
  EXPECT(cudaMallocHost((void**)&pinned, 100) == 0);
  EXPECT(cudaHostAlloc((void**)&more, 100, 0) == 0);
  USE(managed + 2, "managed#0+2");
  USE(more, "pinned#0");
  USE(pinned, "pinned#1");
  char* on_host = malloc(100);
  USE(on_host, "heap#0");
  EXPECT(cudaFree(b) == 0);
  EXPECT(cudaMalloc((void**)&b, SIZE_MAX) == 2);
  EXPECT(cudaSetDevice(0) == 0 && cudaMalloc((void**)&b, 300) == 0);
  USE(b + 299, "device0#0+299");
  EXPECT(fake_runtime_alive() == 7);
  EXPECT(cudaFree(a) == 0 && cudaFree(b) == 0 && cudaFree(pitched) == 0 && cudaFree(managed) == 0);
  EXPECT(cudaFreeAsync(c, NULL) == 0 && cudaFreeHost(pinned) == 0 && cudaFreeHost(more) == 0);
  EXPECT(cudaFree(NULL) == 0 && fake_runtime_alive() == 0);
  free(on_host);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  use_runtime();
  // For itself, as interpreters open what they extend themselves with.
  EXPECT(argc == 2);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  EXPECT(library != NULL);
  void (*use_driver)(void) = (void (*)(void))dlsym(library, "use_driver");
  EXPECT(use_driver != NULL);
  use_driver();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
