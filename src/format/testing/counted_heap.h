// How often each thread of a test or benchmark asks for memory, and how much of it it has and had
// at most. Replaces operator new: one source of a program includes it.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

// Of this thread: what was asked for, and how much of it is in use now and was at most.
struct Heap {
  uint64_t calls = 0;
  int64_t now = 0, most = 0;
};
thread_local Heap heap;

void* counted_or_null(size_t bytes) {
  void* const p = std::malloc(bytes == 0 ? 1 : bytes);
  if (p == nullptr) return nullptr;
  ++heap.calls;
  heap.now += static_cast<int64_t>(malloc_usable_size(p));
  heap.most = std::max(heap.most, heap.now);
  return p;
}
void* counted(size_t bytes) {
  void* const p = counted_or_null(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void uncounted(void* p) {
  if (p != nullptr) heap.now -= static_cast<int64_t>(malloc_usable_size(p));
  std::free(p);
}

}  // namespace

void* operator new(size_t bytes) { return counted(bytes); }
void* operator new[](size_t bytes) { return counted(bytes); }
// Those of a sanitizer would not come from malloc().
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return counted_or_null(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return counted_or_null(bytes);
}
void operator delete(void* p) noexcept { uncounted(p); }
void operator delete[](void* p) noexcept { uncounted(p); }
void operator delete(void* p, size_t) noexcept { uncounted(p); }
void operator delete[](void* p, size_t) noexcept { uncounted(p); }
