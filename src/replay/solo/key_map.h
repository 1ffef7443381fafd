// KeyMap: 64-bit keys -> pointers, for what every call looks up.
//
// Open addressing with linear probing, and deletion without tombstones. No allocation once it has
// been as full before. A null pointer is no value. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace refrain::replay::solo {

template <class T>
class KeyMap {
 public:
  KeyMap() : slots_(kFirstSize) {}

  // Null: none.
  T* find(uint64_t key) const { return slots_[place(key)].value; }
  void put(uint64_t key, T* value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.value == nullptr) ++used_;
    slot = {key, value};
  }
  void erase(uint64_t key) {
    size_t gap = place(key);
    if (slots_[gap].value == nullptr) return;
    --used_;
    slots_[gap] = {};
    // What stands behind the gap because it was taken goes nearer to its home.
    for (size_t i = next(gap); slots_[i].value != nullptr; i = next(i)) {
      const size_t home = home_of(slots_[i].key);
      const bool is_between = gap <= i ? gap < home && home <= i : gap < home || home <= i;
      if (is_between) continue;
      slots_[gap] = std::exchange(slots_[i], {});
      gap = i;
    }
  }

 private:
  static constexpr size_t kFirstSize = 64;  // a power of two
  struct Slot {
    uint64_t key = 0;
    T* value = nullptr;
  };
  size_t next(size_t i) const { return (i + 1) & (slots_.size() - 1); }
  size_t home_of(uint64_t key) const {
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15u) >> 32) & (slots_.size() - 1);
  }
  // Where the key is, or would be.
  size_t place(uint64_t key) const {
    size_t i = home_of(key);
    while (slots_[i].value != nullptr && slots_[i].key != key) i = next(i);
    return i;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.value != nullptr) slots_[place(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace refrain::replay::solo
