// DecodedSignatures: the signatures that a reader has decoded, by id.
//
// A rank may have tens of thousands, and who asks all ranks one after the other makes and frees
// such a table for each: signatures lie side by side, and ids in one table with open addressing.
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "refrain/calls.h"

namespace refrain::reader {

class DecodedSignatures {
 public:
  // nullptr: there is none.
  const Signature* find(SignatureId id) const {
    return slots_.empty() ? nullptr : slots_[place(id)].signature;
  }
  // Of an id that is not there yet. Stays in place.
  const Signature& add(SignatureId id, Signature signature) {
    if (2 * (signatures_.size() + 1) > slots_.size()) grow();
    signatures_.push_back(std::move(signature));
    slots_[place(id)] = {id, &signatures_.back()};
    return signatures_.back();
  }

 private:
  struct Slot {
    SignatureId id = 0;
    const Signature* signature = nullptr;
  };

  // Where the id is, or would be.
  size_t place(SignatureId id) const {
    const size_t mask = slots_.size() - 1;
    uint64_t hash = static_cast<uint32_t>(id) * uint64_t{0x9e3779b97f4a7c15};
    size_t at = static_cast<size_t>(hash ^ hash >> 32) & mask;
    while (slots_[at].signature != nullptr && slots_[at].id != id) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.signature != nullptr) slots_[place(slot.id)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  std::deque<Signature> signatures_;
};

}  // namespace refrain::reader
