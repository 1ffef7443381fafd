// How much heap a program of one thread has, and had at most. Replaces operator new: include it in
// one source of the program.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

static uint64_t g_heap = 0, g_heap_peak = 0;  // bytes

void* operator new(size_t n) {
  void* p = std::malloc(n);
  if (p == nullptr) std::abort();
  g_heap += malloc_usable_size(p);
  if (g_heap > g_heap_peak) g_heap_peak = g_heap;
  return p;
}
void operator delete(void* p) noexcept {
  g_heap -= malloc_usable_size(p);
  std::free(p);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }
