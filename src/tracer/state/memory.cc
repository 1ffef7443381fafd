#include "tracer/state/memory.h"

#include <malloc.h>

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

std::atomic<size_t> held{0}, most{0};

void* count(void* p) {
  if (p == nullptr) return p;
  const size_t bytes = malloc_usable_size(p);
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

}  // namespace

size_t held_memory() { return held.load(std::memory_order_relaxed); }
size_t most_memory() { return most.load(std::memory_order_relaxed); }

bool memory_for(size_t bytes) {
  void* const probe = std::malloc(bytes);
  std::free(probe);
  return probe != nullptr;
}

}  // namespace refrain::tracer

void* operator new(size_t bytes) {
  void* const p = std::malloc(bytes == 0 ? 1 : bytes);
  return p != nullptr ? refrain::tracer::count(p) : refrain::tracer::from_reserve(bytes);
}
void* operator new[](size_t bytes) { return operator new(bytes); }
// Whoever asks like this can do without.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return refrain::tracer::count(std::malloc(bytes == 0 ? 1 : bytes));
}
// Of base/raw_memory.h: large pieces move without a copy, and pages are zero when the system gives
// them.
void* refrain::base::raw_regrow(void* old, size_t old_bytes, size_t bytes) noexcept {
  if (old == nullptr || refrain::tracer::is_in_reserve(old)) {
    void* const p = operator new(bytes, std::nothrow);
    if (p != nullptr && old_bytes > 0) std::memcpy(p, old, old_bytes);
    return p;
  }
  const size_t before = malloc_usable_size(old);
  void* const p = std::realloc(old, bytes);
  if (p != nullptr) refrain::tracer::held.fetch_sub(before, std::memory_order_relaxed);
  return refrain::tracer::count(p);
}
void* refrain::base::raw_zeroed(size_t bytes) noexcept {
  return refrain::tracer::count(std::calloc(1, bytes));
}
void operator delete(void* p) noexcept {
  if (p == nullptr || refrain::tracer::is_in_reserve(p)) return;
  refrain::tracer::held.fetch_sub(malloc_usable_size(p), std::memory_order_relaxed);
  std::free(p);
}
void operator delete[](void* p) noexcept { operator delete(p); }
void operator delete(void* p, size_t) noexcept { operator delete(p); }
void operator delete[](void* p, size_t) noexcept { operator delete(p); }
