#include "tracer/state/memory.h"

#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/raw_memory.h"
#include "tracer/state/slow_path_reasons.h"

// In an archive of its own, and therefore hidden: the program keeps its operator new.

namespace refrain::tracer {

constinit std::atomic<uint32_t> g_slow_path_reasons{0};

namespace {

// More than the call under way and handing over nothing in MPI_Finalize take. Pages that are never
// touched cost nothing.
constexpr size_t kReserve = size_t{8} << 20;
constexpr size_t kAlignment = 16;
alignas(kAlignment) char reserve[kReserve];
std::atomic<size_t> used{0};

void* from_reserve(size_t bytes) {
  g_slow_path_reasons.fetch_or(slow_path_reasons::kOutOfMemory);
  const size_t need = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const size_t at = used.fetch_add(need);
  return need <= kReserve && at <= kReserve - need ? reserve + at : nullptr;
}

// Large pieces come from the system, and go back to it. malloc would keep what is freed of them,
// and from the first large piece on that it frees it would take even larger ones of the program's
// from its heap. A piece begins kLargeHead behind the begin of a page, where its head is; what
// malloc gives may lie so, too, and what is in front of it is not this.
constexpr size_t kLarge = size_t{256} << 10, kPage = 4096, kLargeHead = 64;
struct LargeHead {
  uint64_t magic = 0;
  size_t bytes = 0;  // of the mapping
};
uint64_t magic_of(const void* head) {
  return reinterpret_cast<uintptr_t>(head) ^ 0x52664c6172676521;
}
// What lies in front of a piece of malloc's is not ours to read, as sanitizers see it.
__attribute__((no_sanitize("address", "thread"))) LargeHead* large_head(const void* p) {
  const auto at = reinterpret_cast<uintptr_t>(p);
  if (at % kPage != kLargeHead) return nullptr;
  auto* const head = reinterpret_cast<LargeHead*>(at - kLargeHead);
  return head->magic == magic_of(head) ? head : nullptr;
}
void* large(void* mapping, size_t bytes) {
  if (mapping == MAP_FAILED) return nullptr;
  auto* const head = static_cast<LargeHead*>(mapping);
  *head = {magic_of(head), bytes};
  return static_cast<char*>(mapping) + kLargeHead;
}
size_t mapping_for(size_t bytes) { return (bytes + kLargeHead + kPage - 1) / kPage * kPage; }
void* new_mapping(size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
bool is_large(size_t bytes) { return bytes >= kLarge && bytes <= PTRDIFF_MAX / 2; }
void* allocate(size_t bytes) {
  if (!is_large(bytes)) return std::malloc(bytes == 0 ? 1 : bytes);
  const size_t all = mapping_for(bytes);
  return large(new_mapping(all), all);
}

std::atomic<size_t> held{0}, most{0};

// Whether malloc_usable_size() is of the library that malloc is of. A program may have a malloc of
// its own and nothing else; the C library's function then takes for a chunk's size whatever lies in
// front of a piece, and looks for the next chunk there.
bool are_sizes_known() {
  enum : int { kUnknown, kNo, kYes };
  static std::atomic<int> known{kUnknown};
  int now = known.load(std::memory_order_relaxed);
  if (now != kUnknown) [[likely]]
    return now == kYes;
  void* const c_library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);  // it stays anyway
  const auto is_its = [c_library](const char* name, auto* function) {
    return c_library != nullptr && dlsym(c_library, name) == reinterpret_cast<void*>(function);
  };
  now = is_its("malloc", &malloc) == is_its("malloc_usable_size", &malloc_usable_size) ? kYes : kNo;
  known.store(now, std::memory_order_relaxed);
  return now == kYes;
}

// 0: not known, and the piece is not counted.
size_t size_of(void* p) {
  if (const LargeHead* const head = large_head(p); head != nullptr) return head->bytes;
  return are_sizes_known() ? malloc_usable_size(p) : 0;
}
void* count(void* p) {
  if (p == nullptr) return p;
  const size_t bytes = size_of(p);
  const size_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  size_t before = most.load(std::memory_order_relaxed);
  while (now > before && !most.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
  return p;
}

bool is_in_reserve(const void* p) {
  const auto at = reinterpret_cast<uintptr_t>(p), begin = reinterpret_cast<uintptr_t>(reserve);
  return at >= begin && at < begin + kReserve;
}

void release(void* p) {
  if (p == nullptr || is_in_reserve(p)) return;
  held.fetch_sub(size_of(p), std::memory_order_relaxed);
  if (auto* const head = large_head(p); head != nullptr)
    munmap(head, head->bytes);
  else
    std::free(p);
}

}  // namespace

size_t held_memory() { return held.load(std::memory_order_relaxed); }
size_t most_memory() { return most.load(std::memory_order_relaxed); }

bool memory_for(size_t bytes) {
  if (!is_large(bytes)) {
    void* const probe = std::malloc(bytes);
    std::free(probe);
    return probe != nullptr;
  }
  void* const probe = new_mapping(bytes);
  return probe != MAP_FAILED && munmap(probe, bytes) == 0;
}

}  // namespace refrain::tracer

void* operator new(size_t bytes) {
  void* const p = refrain::tracer::allocate(bytes);
  return p != nullptr ? refrain::tracer::count(p) : refrain::tracer::from_reserve(bytes);
}
void* operator new[](size_t bytes) { return operator new(bytes); }
// Whoever asks like this can do without.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return refrain::tracer::count(refrain::tracer::allocate(bytes));
}
// Of base/raw_memory.h: large pieces move without a copy, and pages are zero when the system gives
// them.
void* refrain::base::raw_regrow(void* old, size_t old_bytes, size_t bytes) noexcept {
  using namespace refrain::tracer;
  LargeHead* const head = old != nullptr ? large_head(old) : nullptr;
  if (head == nullptr && (old == nullptr || is_in_reserve(old) || is_large(bytes))) {
    // Not by operator new and delete: GCC knows those as a pair that realloc() below is no part of.
    void* const p = count(allocate(bytes));
    if (p != nullptr && old_bytes > 0) std::memcpy(p, old, old_bytes);
    if (p != nullptr) release(old);
    return p;
  }
  const size_t before = size_of(old), all = mapping_for(bytes);
  void* const p = head == nullptr ? std::realloc(old, bytes)
                                  : large(mremap(head, before, all, MREMAP_MAYMOVE), all);
  if (p != nullptr) held.fetch_sub(before, std::memory_order_relaxed);
  return refrain::tracer::count(p);
}
void* refrain::base::raw_zeroed(size_t bytes) noexcept {
  using namespace refrain::tracer;
  return refrain::tracer::count(is_large(bytes) ? allocate(bytes) : std::calloc(1, bytes));
}
void operator delete(void* p) noexcept { refrain::tracer::release(p); }
void operator delete[](void* p) noexcept { operator delete(p); }
void operator delete(void* p, size_t) noexcept { operator delete(p); }
void operator delete[](void* p, size_t) noexcept { operator delete(p); }
