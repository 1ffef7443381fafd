// FlatMap: a hash table in one block of memory, for maps that are used at every call.
//
// Linear probing, at most two thirds full, no tombstones. Inserting and erasing move other entries,
// which invalidates pointers and references. Iteration has no particular order, and the map must
// not change during it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace refrain::events {

// Spreads integers that follow one another.
struct IntegerHash {
  size_t operator()(uint64_t v) const {
    v *= 0x9e3779b97f4a7c15U;
    return v ^ v >> 32;
  }
};

template <class Key, class Value, class Hash = IntegerHash>
class FlatMap {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  Value* find(const Key& key) {
    if (size_ == 0) return nullptr;
    Slot& slot = slots_[place(key)];
    return slot.is_used ? &slot.value : nullptr;
  }
  const Value* find(const Key& key) const { return const_cast<FlatMap*>(this)->find(key); }

  // A new entry where there is none.
  Value& operator[](const Key& key) {
    if (3 * (size_ + 1) > 2 * slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (!slot.is_used) {
      slot.key = key;
      slot.value = Value();
      slot.is_used = true;
      ++size_;
    }
    return slot.value;
  }

  void erase(const Key& key) {
    if (size_ == 0) return;
    size_t hole = place(key);
    if (!slots_[hole].is_used) return;
    // What was pushed beyond the hole by what it held moves back.
    for (size_t i = next(hole); slots_[i].is_used; i = next(i)) {
      const size_t home = Hash()(slots_[i].key) & mask();
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole].is_used = false;
    slots_[hole].value = Value();
    --size_;
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_)
      if (slot.is_used) visit(slot.key, slot.value);
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    bool is_used = false;
  };

  size_t mask() const { return slots_.size() - 1; }
  size_t next(size_t i) const { return (i + 1) & mask(); }
  // Where the key is, or would be.
  size_t place(const Key& key) const {
    size_t i = Hash()(key) & mask();
    while (slots_[i].is_used && !(slots_[i].key == key)) i = next(i);
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 8 : 2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old)
      if (slot.is_used) slots_[place(slot.key)] = std::move(slot);
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace refrain::events
