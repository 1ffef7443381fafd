// KeyIndex: 64-bit keys -> 32-bit values, for tables on the path of a call.
//
// Budget: about 12 instructions to find, insert or erase where no two keys collide. Open
// addressing, linear probing, deletion without tombstones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::tracer {

class KeyIndex {
 public:
  static constexpr uint32_t kMissing = UINT32_MAX;

  KeyIndex() : slots_(kFirstSize), mask_(kFirstSize - 1), room_(kFirstSize / 2) {}

  uint32_t find(uint64_t key) const {
    for (size_t i = home(key);; i = (i + 1) & mask_) {
      const Slot& s = slots_[i];
      if (s.key == key || s.value == kMissing) return s.value;
    }
  }

  // The value of `key`, which is set to `value` when there is none yet: then the result is
  // kMissing.
  uint32_t find_or_insert(uint64_t key, uint32_t value) {
    if (room_ == 0) [[unlikely]]
      grow();
    size_t i = home(key);
    for (; slots_[i].value != kMissing; i = (i + 1) & mask_)
      if (slots_[i].key == key) return slots_[i].value;
    slots_[i] = Slot{key, value};
    --room_;
    return kMissing;
  }

  void put(uint64_t key, uint32_t value) {
    if (find_or_insert(key, value) != kMissing) slots_[place(key)].value = value;
  }

  void erase(uint64_t key) {
    const size_t i = place(key);
    if (slots_[i].value == kMissing) return;
    ++room_;
    const size_t next = (i + 1) & mask_;
    if (slots_[next].value != kMissing) [[unlikely]]
      return close_gap(i);
    slots_[i] = Slot{};
  }

 private:
  static constexpr size_t kFirstSize = 64;
  // A free slot has key 0 and kMissing, so that the first test of find() serves both.
  struct Slot {
    uint64_t key = 0;
    uint32_t value = kMissing;
  };

  size_t home(uint64_t key) const {
    return static_cast<size_t>((key * 0xff51afd7ed558ccdu) >> 32) & mask_;
  }
  size_t place(uint64_t key) const {
    size_t i = home(key);
    while (slots_[i].value != kMissing && slots_[i].key != key) i = (i + 1) & mask_;
    return i;
  }
  void grow();
  void close_gap(size_t i);

  std::vector<Slot> slots_;
  size_t mask_;
  size_t room_;  // until half of the slots are in use
};

}  // namespace refrain::tracer
