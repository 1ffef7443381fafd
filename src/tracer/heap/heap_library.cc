// librefrain-heap.so: sees what the program allocates. Preloaded by `refrain record --buffers on`.
//
//   program --malloc--> here --> the malloc that the program would have had
//                        |
//                    HeapNames <--name()-- recorder, when an MPI call uses an address
//
// Laws: results, errno and the allocator itself are the program's: everything is forwarded to what
// stands behind this library, whichever allocator that is. Nothing here allocates, or needs a
// constructor: malloc is called before any has run. A block leaves the index before it is freed and
// enters it after it was made, so that a place is never known twice.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tracer/heap/heap_library.h"

#define REFRAIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace refrain::tracer {

constinit HeapNames g_heap_names;

namespace {

// False in a forked child, which is not a rank, and when the record is closed.
constinit std::atomic<bool> g_on{true};

struct Allocator {
  void* (*malloc)(size_t);
  void (*free)(void*);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*memalign)(size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
};
constinit Allocator g_next{};
constinit std::atomic<bool> g_resolved{false};
__attribute__((tls_model("initial-exec"))) constinit thread_local bool t_resolving = false;

// What dlsym itself asks for while the allocator is being looked up. Never given back.
alignas(16) constinit char g_first_bytes[16384];
constinit std::atomic<size_t> g_first_used{0};

void* first_bytes(size_t n) {
  n = (n + 15) & ~size_t{15};
  const size_t at = g_first_used.fetch_add(n, std::memory_order_relaxed);
  if (n > sizeof g_first_bytes || at > sizeof g_first_bytes - n) return nullptr;
  return g_first_bytes + at;
}

bool is_first_bytes(const void* p) {
  const auto a = reinterpret_cast<uintptr_t>(p);
  const auto begin = reinterpret_cast<uintptr_t>(g_first_bytes);
  return a >= begin && a < begin + sizeof g_first_bytes;
}

template <class F>
void look_up(F*& slot, const char* name) {
  slot = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

// Two threads may do this at the same time: they find the same.
void resolve() {
  const int before = errno;
  t_resolving = true;
  Allocator next{};
  look_up(next.malloc, "malloc");
  look_up(next.free, "free");
  look_up(next.calloc, "calloc");
  look_up(next.realloc, "realloc");
  look_up(next.memalign, "memalign");
  look_up(next.aligned_alloc, "aligned_alloc");
  look_up(next.posix_memalign, "posix_memalign");
  look_up(next.valloc, "valloc");
  look_up(next.pvalloc, "pvalloc");
  g_next = next;
  g_resolved.store(true, std::memory_order_release);
  t_resolving = false;
  errno = before;
}

// False: this very thread is looking it up.
inline bool ready() {
  if (g_resolved.load(std::memory_order_acquire)) [[likely]]
    return true;
  if (t_resolving) return false;
  resolve();
  return true;
}

inline bool on() { return g_on.load(std::memory_order_relaxed); }

inline void* entered(void* p, size_t bytes) {
  if (p != nullptr && on()) g_heap_names.allocated(reinterpret_cast<uintptr_t>(p), bytes);
  return p;
}

template <class Real>
void* resized(void* old, size_t bytes, Real real) {
  if (old == nullptr) return entered(real(), bytes);
  if (is_first_bytes(old)) {
    const auto left =
        static_cast<size_t>(g_first_bytes + sizeof g_first_bytes - static_cast<char*>(old));
    void* p = malloc(bytes);
    if (p != nullptr) std::memcpy(p, old, bytes < left ? bytes : left);
    return p;
  }
  if (!on()) return real();
  const HeapNames::Taken taken = g_heap_names.taken(reinterpret_cast<uintptr_t>(old));
  void* p = real();
  if (p != nullptr)
    g_heap_names.moved(taken, reinterpret_cast<uintptr_t>(p), bytes);
  else if (bytes == 0)  // freed
    g_heap_names.ended(taken);
  else if (taken.bytes != 0)
    g_heap_names.moved(taken, reinterpret_cast<uintptr_t>(old), taken.bytes);
  return p;
}

void in_child() { g_on.store(false, std::memory_order_relaxed); }

__attribute__((constructor)) void watch_forks() { pthread_atfork(nullptr, nullptr, in_child); }

}  // namespace
}  // namespace refrain::tracer

using namespace refrain::tracer;

REFRAIN_EXPORT void* malloc(size_t bytes) {
  if (!ready()) return first_bytes(bytes);
  return entered(g_next.malloc(bytes), bytes);
}

REFRAIN_EXPORT void free(void* p) {
  if (p == nullptr || is_first_bytes(p)) return;
  if (!ready()) return;
  if (on()) g_heap_names.freed(reinterpret_cast<uintptr_t>(p));
  g_next.free(p);
}

REFRAIN_EXPORT void* calloc(size_t count, size_t size) {
  if (!ready()) return first_bytes(count * size);  // zero, as all static memory
  return entered(g_next.calloc(count, size), count * size);
}

REFRAIN_EXPORT void* realloc(void* old, size_t bytes) {
  if (!ready()) return first_bytes(bytes);
  return resized(old, bytes, [=] { return g_next.realloc(old, bytes); });
}

REFRAIN_EXPORT void* reallocarray(void* old, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(old, bytes);
}

REFRAIN_EXPORT void* memalign(size_t alignment, size_t bytes) {
  if (!ready()) return nullptr;
  return entered(g_next.memalign(alignment, bytes), bytes);
}

REFRAIN_EXPORT void* aligned_alloc(size_t alignment, size_t bytes) {
  if (!ready()) return nullptr;
  return entered(g_next.aligned_alloc(alignment, bytes), bytes);
}

REFRAIN_EXPORT int posix_memalign(void** p, size_t alignment, size_t bytes) {
  if (!ready()) return ENOMEM;
  const int rc = g_next.posix_memalign(p, alignment, bytes);
  if (rc == 0) entered(*p, bytes);
  return rc;
}

REFRAIN_EXPORT void* valloc(size_t bytes) {
  if (!ready()) return nullptr;
  return entered(g_next.valloc(bytes), bytes);
}

REFRAIN_EXPORT void* pvalloc(size_t bytes) {
  if (!ready()) return nullptr;
  return entered(g_next.pvalloc(bytes), bytes);
}

namespace {

bool name(uintptr_t address, BufferName* out) { return on() && g_heap_names.name(address, out); }
void watch(std::atomic<uint64_t>* changes) { g_heap_names.watch(changes); }
void add_area(uintptr_t begin, size_t bytes) {
  if (on()) g_heap_names.add_area(begin, bytes, refrain::format::BufferClass::kHeap, 0);
}
void remove_area(uintptr_t begin) {
  if (on()) g_heap_names.remove_area(begin);
}
uint64_t refused() { return g_heap_names.refused(); }
bool used() { return g_heap_names.used(); }
void stop() { g_on.store(false, std::memory_order_relaxed); }

}  // namespace

REFRAIN_EXPORT const HeapTable refrain_heap_table;
const HeapTable refrain_heap_table = {HeapTable::kVersion, name,    watch, add_area,
                                      remove_area,         refused, used,  stop};
