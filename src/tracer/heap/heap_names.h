// HeapNames: symbolic ids of blocks, by first use and reused; Pilgrim, section 3.3.3, gives them by
// order of allocation instead.
//
// Blocks of malloc are in a HeapIndex and get an entry here when an MPI call first uses them; a
// program has few of those. Areas (memory of an accelerator, or handed out by the MPI library) are
// few by nature: a sorted list.
//
// Laws: as heap_index.h. A lock is taken where a name is given, asked for or lost, and for areas;
// never for a block without a name. A static object works before any constructor has run.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/heap/heap_index.h"
#include "tracer/heap/heap_table.h"
#include "tracer/heap/raw_memory.h"

namespace refrain::tracer {

// Numbers from 0, always the lowest that is free.
class RawIdPool {
 public:
  int64_t take();  // -1: no memory
  void give_back(int64_t id);

 private:
  RawArray<uint64_t> words_;
  size_t lowest_ = 0;  // no free number in the words below this one
};

class HeapNames {
 public:
  constexpr HeapNames() = default;

  void allocated(uintptr_t begin, size_t bytes) { index_.insert(begin & kGranule, bytes); }
  void freed(uintptr_t begin) {
    if (index_.remove(begin & kGranule) == HeapIndex::Found::kMarked) [[unlikely]]
      drop(begin & kGranule);
  }

  // A realloc: taken() before, moved() after it with the place where the block is now (the old one
  // if it failed). The block keeps its id: it is the same buffer with another size.
  struct Taken {
    size_t bytes = 0;  // as they were; 0: a block that is not in the index
    int64_t id = -1;
  };
  Taken taken(uintptr_t begin);
  void moved(const Taken& taken, uintptr_t begin, size_t bytes);
  void ended(const Taken& taken);  // it was a free after all

  void add_area(uintptr_t begin, size_t bytes, format::BufferClass where, int32_t device);
  void remove_area(uintptr_t begin);

  bool name(uintptr_t address, BufferName* out);
  void watch(std::atomic<uint64_t>* changes);
  uint64_t refused() const { return index_.refused(); }
  bool used() const { return index_.used(); }

 private:
  static constexpr uintptr_t kGranule = ~uintptr_t{15};
  static constexpr int kDevices = 64;  // devices above share the last pool

  struct Named {
    uintptr_t begin;  // 0: free slot
    int64_t id;
  };
  struct Area {
    uintptr_t begin, end;
    int64_t id;  // -1: not used yet
    int32_t device;
    format::BufferClass where;
  };

  void drop(uintptr_t begin);
  // All below: lock held.
  size_t slot_of(uintptr_t begin) const;
  bool put(uintptr_t begin, int64_t id);
  int64_t pull(uintptr_t begin);
  bool grow();
  bool name_area(uintptr_t address, BufferName* out);
  size_t first_area_behind(uintptr_t address) const;
  void erase_areas(size_t from, size_t to);
  RawIdPool& pool(format::BufferClass where, int32_t device);
  void changed();

  HeapIndex index_;
  SpinLock lock_;
  RawArray<Named> named_;  // open addressing; a power of two, at most half full
  size_t named_count_ = 0;
  RawArray<Area> areas_;  // by begin, never overlapping
  std::atomic<size_t> area_count_{0};
  RawIdPool heap_ids_, managed_ids_, pinned_ids_, device_ids_[kDevices];
  std::atomic<std::atomic<uint64_t>*> changes_{nullptr};
};

}  // namespace refrain::tracer
