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
// The operators do not call each other: GCC 16 would look through the one and take the other for a
// mismatch with malloc().
static void give_back(void* p) {
  g_heap -= malloc_usable_size(p);
  std::free(p);
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete(void* p, size_t) noexcept { give_back(p); }
