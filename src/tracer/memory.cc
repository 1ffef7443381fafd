#include "tracer/memory.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tracer/recording.h"

// In an archive of its own, and therefore hidden: the program keeps its operator new.

namespace refrain::tracer {

constinit std::atomic<uint32_t> g_unusual{0};

namespace {

// More than the call under way and handing over nothing in MPI_Finalize take. Pages that are never
// touched cost nothing.
constexpr size_t kReserve = size_t{8} << 20;
constexpr size_t kAlignment = 16;
alignas(kAlignment) char reserve[kReserve];
std::atomic<size_t> used{0};

void* from_reserve(size_t bytes) {
  set_unusual(unusual::kOutOfMemory, true);
  const size_t need = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const size_t at = used.fetch_add(need);
  return need <= kReserve && at <= kReserve - need ? reserve + at : nullptr;
}

bool is_in_reserve(const void* p) {
  const auto at = reinterpret_cast<uintptr_t>(p), begin = reinterpret_cast<uintptr_t>(reserve);
  return at >= begin && at < begin + kReserve;
}

}  // namespace

bool memory_for(size_t bytes) {
  void* const probe = std::malloc(bytes);
  std::free(probe);
  return probe != nullptr;
}

}  // namespace refrain::tracer

void* operator new(size_t bytes) {
  void* const p = std::malloc(bytes == 0 ? 1 : bytes);
  return p != nullptr ? p : refrain::tracer::from_reserve(bytes);
}
void* operator new[](size_t bytes) { return operator new(bytes); }
// Whoever asks like this can do without.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* p) noexcept {
  if (!refrain::tracer::is_in_reserve(p)) std::free(p);
}
void operator delete[](void* p) noexcept { operator delete(p); }
void operator delete(void* p, size_t) noexcept { operator delete(p); }
void operator delete[](void* p, size_t) noexcept { operator delete(p); }
