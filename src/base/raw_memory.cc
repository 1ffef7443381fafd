#include "base/raw_memory.h"

#include <cstring>
#include <new>

namespace refrain::base {

// Weak: a program that has its own operator new has its own of these.
__attribute__((weak)) void* raw_regrow(void* old, size_t old_bytes, size_t bytes) noexcept {
  void* const grown = ::operator new(bytes, std::nothrow);
  if (grown == nullptr) return nullptr;
  if (old_bytes > 0) std::memcpy(grown, old, old_bytes);
  ::operator delete(old);
  return grown;
}

__attribute__((weak)) void* raw_zeroed(size_t bytes) noexcept {
  void* const p = ::operator new(bytes, std::nothrow);
  return p == nullptr ? nullptr : std::memset(p, 0, bytes);
}

}  // namespace refrain::base
