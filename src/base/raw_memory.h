// Memory for arrays that grow by far: without a copy, and without writing zeros, where the system
// can do without. Pieces are given back with operator delete.
//
// Whoever replaces operator new replaces these two as well (the recorder: tracer/memory.cc); what
// stands here stands on operator new.
#pragma once

#include <cstddef>

namespace refrain::base {

// `old` (null: nothing) with its first `old_bytes` bytes in a piece of `bytes` bytes, more than
// before, perhaps elsewhere; null when there is no memory, and then `old` stays as it was.
void* raw_regrow(void* old, size_t old_bytes, size_t bytes) noexcept;

// A piece of zero bytes; null when there is no memory.
void* raw_zeroed(size_t bytes) noexcept;

}  // namespace refrain::base
