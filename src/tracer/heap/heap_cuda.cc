// Memory of CUDA: the runtime's and the driver's functions by name, without their headers.
//
// They are wrapped where the program calls them by symbol (a shared libcudart or libcuda); a static
// libcudart reaches the driver through pointers of its own, and its memory stays unknown. Results
// are those of the real function; where there is none, as without this library, the call fails.
#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "tracer/heap/heap_library.h"

#define REFRAIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace refrain::tracer {
namespace {

using format::BufferClass;

constexpr int kSuccess = 0;
constexpr int kNoDevice = 100;  // cudaErrorNoDevice and CUDA_ERROR_NO_DEVICE

// The definition behind ours. A library that was opened with dlopen may have it for itself, where
// RTLD_NEXT does not look.
struct Search {
  const char* name;
  void* ours;
  void* found = nullptr;

  static int visit(dl_phdr_info* info, size_t, void* self) {
    auto& search = *static_cast<Search*>(self);
    if (info->dlpi_name == nullptr || std::strstr(info->dlpi_name, "libcu") == nullptr) return 0;
    void* library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return 0;
    void* symbol = dlsym(library, search.name);
    if (symbol != nullptr && symbol != search.ours) search.found = symbol;
    dlclose(library);
    return search.found != nullptr ? 1 : 0;
  }
};

void* find_next(const char* name, void* ours) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found != nullptr) return found;
  Search search{name, ours};
  dl_iterate_phdr(&Search::visit, &search);
  return search.found;
}

// Remembered once found: a library may yet be opened.
template <class F>
F* next_function(std::atomic<void*>& slot, const char* name, F* ours) {
  void* f = slot.load(std::memory_order_acquire);
  if (f == nullptr) {
    f = find_next(name, reinterpret_cast<void*>(ours));
    slot.store(f, std::memory_order_release);
  }
  return reinterpret_cast<F*>(f);
}

using DeviceQuery = int(int*);

int ask_device(std::atomic<void*>& slot, const char* name, int otherwise) {
  auto* query = next_function<DeviceQuery>(slot, name, nullptr);
  int device = 0;
  return query != nullptr && query(&device) == kSuccess ? device : otherwise;
}

int runtime_device(int otherwise) {
  static constinit std::atomic<void*> slot{nullptr};
  return ask_device(slot, "cudaGetDevice", otherwise);
}
int driver_device() {
  static constinit std::atomic<void*> slot{nullptr};
  const int device = ask_device(slot, "cuCtxGetDevice", -1);
  return device >= 0 ? device : runtime_device(0);
}

void enter(uint64_t begin, size_t bytes, BufferClass where, int device = 0) {
  g_heap_names.add_area(static_cast<uintptr_t>(begin), bytes, where, device);
}
uint64_t value_at(void** p) { return reinterpret_cast<uint64_t>(*p); }

}  // namespace
}  // namespace refrain::tracer

// What follows is extern "C", and uses nearly all of it.
using namespace refrain::tracer;  // NOLINT(google-build-using-namespace)
using refrain::format::BufferClass;

// Forwards and gives `rc`, or leaves with the error where there is nothing to forward to.
#define REFRAIN_FORWARD(name, ...)                      \
  static constinit std::atomic<void*> slot{nullptr};    \
  auto* const real = next_function(slot, #name, &name); \
  const int rc = real == nullptr ? kNoDevice : real(__VA_ARGS__)

// -- the runtime --

REFRAIN_EXPORT int cudaMalloc(void** p, size_t bytes) {
  REFRAIN_FORWARD(cudaMalloc, p, bytes);
  if (rc == kSuccess) enter(value_at(p), bytes, BufferClass::kDevice, runtime_device(0));
  return rc;
}

REFRAIN_EXPORT int cudaMallocPitch(void** p, size_t* pitch, size_t width, size_t height) {
  REFRAIN_FORWARD(cudaMallocPitch, p, pitch, width, height);
  if (rc == kSuccess) enter(value_at(p), *pitch * height, BufferClass::kDevice, runtime_device(0));
  return rc;
}

REFRAIN_EXPORT int cudaMallocManaged(void** p, size_t bytes, unsigned flags) {
  REFRAIN_FORWARD(cudaMallocManaged, p, bytes, flags);
  if (rc == kSuccess) enter(value_at(p), bytes, BufferClass::kManaged);
  return rc;
}

REFRAIN_EXPORT int cudaMallocHost(void** p, size_t bytes) {
  REFRAIN_FORWARD(cudaMallocHost, p, bytes);
  if (rc == kSuccess) enter(value_at(p), bytes, BufferClass::kPinned);
  return rc;
}

REFRAIN_EXPORT int cudaHostAlloc(void** p, size_t bytes, unsigned flags) {
  REFRAIN_FORWARD(cudaHostAlloc, p, bytes, flags);
  if (rc == kSuccess) enter(value_at(p), bytes, BufferClass::kPinned);
  return rc;
}

// The twin names are those of a program that was compiled with one default stream per thread.
#define REFRAIN_MALLOC_ASYNC(name)                                                          \
  REFRAIN_EXPORT int name(void** p, size_t bytes, void* stream) {                           \
    REFRAIN_FORWARD(name, p, bytes, stream);                                                \
    if (rc == kSuccess) enter(value_at(p), bytes, BufferClass::kDevice, runtime_device(0)); \
    return rc;                                                                              \
  }
#define REFRAIN_MALLOC_FROM_POOL(name)                                                      \
  REFRAIN_EXPORT int name(void** p, size_t bytes, void* pool, void* stream) {               \
    REFRAIN_FORWARD(name, p, bytes, pool, stream);                                          \
    if (rc == kSuccess) enter(value_at(p), bytes, BufferClass::kDevice, runtime_device(0)); \
    return rc;                                                                              \
  }
#define REFRAIN_FREE(name)                                    \
  REFRAIN_EXPORT int name(void* p) {                          \
    g_heap_names.remove_area(reinterpret_cast<uintptr_t>(p)); \
    REFRAIN_FORWARD(name, p);                                 \
    return rc;                                                \
  }
#define REFRAIN_FREE_ASYNC(name)                              \
  REFRAIN_EXPORT int name(void* p, void* stream) {            \
    g_heap_names.remove_area(reinterpret_cast<uintptr_t>(p)); \
    REFRAIN_FORWARD(name, p, stream);                         \
    return rc;                                                \
  }

REFRAIN_MALLOC_ASYNC(cudaMallocAsync)
REFRAIN_MALLOC_ASYNC(cudaMallocAsync_ptsz)
REFRAIN_MALLOC_FROM_POOL(cudaMallocFromPoolAsync)
REFRAIN_MALLOC_FROM_POOL(cudaMallocFromPoolAsync_ptsz)
REFRAIN_FREE(cudaFree)
REFRAIN_FREE(cudaFreeHost)
REFRAIN_FREE_ASYNC(cudaFreeAsync)
REFRAIN_FREE_ASYNC(cudaFreeAsync_ptsz)

// -- the driver: device pointers are integers, of 32 bits in the first version of its interface --

REFRAIN_EXPORT int cuMemAlloc_v2(uint64_t* p, size_t bytes) {
  REFRAIN_FORWARD(cuMemAlloc_v2, p, bytes);
  if (rc == kSuccess) enter(*p, bytes, BufferClass::kDevice, driver_device());
  return rc;
}

REFRAIN_EXPORT int cuMemAlloc(uint32_t* p, uint32_t bytes) {
  REFRAIN_FORWARD(cuMemAlloc, p, bytes);
  if (rc == kSuccess) enter(*p, bytes, BufferClass::kDevice, driver_device());
  return rc;
}

REFRAIN_EXPORT int cuMemAllocPitch_v2(uint64_t* p, size_t* pitch, size_t width, size_t height,
                                      unsigned element_bytes) {
  REFRAIN_FORWARD(cuMemAllocPitch_v2, p, pitch, width, height, element_bytes);
  if (rc == kSuccess) enter(*p, *pitch * height, BufferClass::kDevice, driver_device());
  return rc;
}

REFRAIN_EXPORT int cuMemAllocManaged(uint64_t* p, size_t bytes, unsigned flags) {
  REFRAIN_FORWARD(cuMemAllocManaged, p, bytes, flags);
  if (rc == kSuccess) enter(*p, bytes, BufferClass::kManaged);
  return rc;
}

REFRAIN_EXPORT int cuMemAllocAsync(uint64_t* p, size_t bytes, void* stream) {
  REFRAIN_FORWARD(cuMemAllocAsync, p, bytes, stream);
  if (rc == kSuccess) enter(*p, bytes, BufferClass::kDevice, driver_device());
  return rc;
}

REFRAIN_EXPORT int cuMemAllocHost_v2(void** p, size_t bytes) {
  REFRAIN_FORWARD(cuMemAllocHost_v2, p, bytes);
  if (rc == kSuccess) enter(value_at(p), bytes, BufferClass::kPinned);
  return rc;
}

REFRAIN_EXPORT int cuMemHostAlloc(void** p, size_t bytes, unsigned flags) {
  REFRAIN_FORWARD(cuMemHostAlloc, p, bytes, flags);
  if (rc == kSuccess) enter(value_at(p), bytes, BufferClass::kPinned);
  return rc;
}

REFRAIN_EXPORT int cuMemFree_v2(uint64_t p) {
  g_heap_names.remove_area(p);
  REFRAIN_FORWARD(cuMemFree_v2, p);
  return rc;
}

REFRAIN_EXPORT int cuMemFree(uint32_t p) {
  g_heap_names.remove_area(p);
  REFRAIN_FORWARD(cuMemFree, p);
  return rc;
}

REFRAIN_EXPORT int cuMemFreeAsync(uint64_t p, void* stream) {
  g_heap_names.remove_area(p);
  REFRAIN_FORWARD(cuMemFreeAsync, p, stream);
  return rc;
}

REFRAIN_FREE(cuMemFreeHost)
