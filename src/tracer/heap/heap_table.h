// The interface between the recorder and librefrain-heap.so: one table of functions, found by name.
//
// The heap library is preloaded together with the recorder if `--buffers on` is given; without it
// no allocation function is intercepted. Neither library links the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/signatures/signature.h"

namespace refrain::tracer {

// An address in symbolic form. Ids count from 0 for each class (and each device) in the order in
// which blocks are first named, and the lowest that is free is given out: what a rank does with its
// buffers decides them, not where its allocator puts things.
struct BufferName {
  format::BufferClass where = format::BufferClass::kUnknown;
  int32_t device = 0;  // of kDevice
  int64_t id = -1;
  int64_t offset = 0;
};

struct HeapTable {
  static constexpr uint32_t kVersion = 1;
  static constexpr const char* kSymbol = "refrain_heap_table";

  uint32_t version;
  // The block around an address, which gets an id if it has none. False: in no known block.
  bool (*name)(uintptr_t address, BufferName* out);
  // *changes is counted up whenever an address may have lost its name.
  void (*watch)(std::atomic<uint64_t>* changes);
  // Memory that the MPI library hands out: a block of the heap, whatever lies below it.
  void (*add_area)(uintptr_t begin, size_t bytes);
  void (*remove_area)(uintptr_t begin);
  // Blocks that could not be entered.
  uint64_t (*refused)();
  // Whether any allocation was seen: an allocator inside of the program is not.
  bool (*used)();
  // The record is closed: from now on the library only forwards.
  void (*stop)();
};

}  // namespace refrain::tracer
