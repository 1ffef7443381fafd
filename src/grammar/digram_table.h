// DigramTable: from the hash of a pair of neighbours to the node where the pair starts.
//
// Laws: linear probing, at most three quarters full; deletion shifts back, so there are no
//       tombstones and the table never needs cleaning. Allocates only when it doubles.
// Budget: 8 bytes a slot; one cache line for most look-ups.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grammar/pod_vector.h"

namespace refrain::grammar {

class DigramTable {
 public:
  // The node of an entry with this hash for which equal(node) holds, or 0.
  template <class Equal>
  uint32_t find(uint32_t hash, Equal equal) const {
    if (slots_.empty()) return 0;
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.node == 0) return 0;
      if (slot.hash == hash && equal(slot.node)) return slot.node;
    }
  }

  // The look-up of this hash is about to come.
  void prefetch(uint32_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & mask()]);
  }

  // Whether insert() will ask for memory.
  bool is_to_grow() const { return 4 * (used_ + 1) > 3 * slots_.size(); }

  // `node` is not 0 and no equal entry is there. False when the table is full and may not grow past
  // `max_bytes` or finds no memory.
  bool insert(uint32_t hash, uint32_t node, size_t max_bytes) {
    if (is_to_grow() && !grow(max_bytes)) return false;
    place(slots_, Slot{node, hash});
    ++used_;
    return true;
  }

  // The entry of this node must be there.
  void erase(uint32_t hash, uint32_t node) {
    size_t hole = hash & mask();
    while (slots_[hole].node != node) hole = (hole + 1) & mask();
    for (size_t i = (hole + 1) & mask(); slots_[i].node != 0; i = (i + 1) & mask()) {
      const size_t home = slots_[i].hash & mask();
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].node = 0;
    --used_;
  }

  size_t size() const { return used_; }
  size_t memory_bytes() const { return slots_.capacity_bytes(); }

 private:
  struct Slot {
    uint32_t node = 0;
    uint32_t hash = 0;
  };

  size_t mask() const { return slots_.size() - 1; }

  static void place(PodVector<Slot>& slots, Slot slot) {
    const size_t mask = slots.size() - 1;
    size_t i = slot.hash & mask;
    // The analyser does not see that every slot was set.
    while (slots[i].node != 0) i = (i + 1) & mask;  // NOLINT(clang-analyzer-core*)
    slots[i] = slot;
  }

  bool grow(size_t max_bytes) {
    const size_t capacity = slots_.empty() ? 64 : 2 * slots_.size();
    PodVector<Slot> bigger;
    if (capacity * sizeof(Slot) > max_bytes || !bigger.resize_zeroed(capacity)) return false;
    for (size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].node != 0) place(bigger, slots_[i]);
    slots_.swap(bigger);
    return true;
  }

  PodVector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace refrain::grammar
