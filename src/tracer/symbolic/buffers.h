// Buffers in symbolic form, if librefrain-heap.so is loaded.
//
// Laws: without that library every function costs a branch. Thread safe.
#pragma once

#include <cstdint>

#include "tracer/heap/heap_table.h"

namespace refrain::tracer {

class Process;

extern const HeapTable* g_heap;  // null: buffers are told apart by class only

// Finds the library; before the first call is recorded.
void connect_heap(Process& p);
// The record is closed: what could not be followed becomes a loss.
void disconnect_heap(Process& p);

// A block of the heap, or of an accelerator. False: `address` lies in none that is known.
inline bool heap_name(uintptr_t address, BufferName* out) {
  return g_heap != nullptr && g_heap->name(address, out);
}

// Memory that MPI gave to the program, and that it took back.
void memory_given(const void* begin, int64_t bytes);
void memory_taken(const void* begin);
// The same for the memory of a window, if it came with it: of all ranks where they share it.
void window_memory_given(uint64_t window);  // handle_key()
// Before the window is freed.
void window_memory_taken(uint64_t window);

}  // namespace refrain::tracer
