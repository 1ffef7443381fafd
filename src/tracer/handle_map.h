// HandleMap: MPI handle values -> what the recorder knows about them, per kind of object.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "format/signature.h"

namespace refrain::tracer {

// Handles are ints in one MPI and pointers in another; both fit.
template <class H>
uint64_t handle_key(H h) {
  constexpr size_t kBytes = sizeof(H);  // NOLINT(bugprone-sizeof-expression): of the handle itself
  static_assert(kBytes <= sizeof(uint64_t));
  uint64_t key = 0;
  std::memcpy(&key, &h, kBytes);
  return key;
}

// The handle that such a key stands for.
template <class H>
H handle_of(uint64_t key) {
  constexpr size_t kBytes = sizeof(H);  // NOLINT(bugprone-sizeof-expression): as above
  H h;
  std::memcpy(&h, &key, kBytes);
  return h;
}

// Open addressing with tombstone-free deletion (backward shift). Value 0 means absent, so values
// are stored plus one by the callers' choice of type: here 32-bit indices < UINT32_MAX.
class HandleMap {
 public:
  static constexpr uint32_t kMissing = UINT32_MAX;

  uint32_t find(format::DefinitionKind kind, uint64_t key) const {
    if (slots_.empty()) return kMissing;
    for (size_t i = home(kind, key);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& s = slots_[i];
      if (s.value == kMissing) return kMissing;
      if (s.key == key && s.kind == kind) return s.value;
    }
  }
  void put(format::DefinitionKind kind, uint64_t key, uint32_t value);
  void erase(format::DefinitionKind kind, uint64_t key);

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t value = kMissing;
    format::DefinitionKind kind{};
  };
  size_t home(format::DefinitionKind kind, uint64_t key) const {
    const uint64_t h =
        (key + static_cast<uint64_t>(kind) * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    return static_cast<size_t>(h >> 32) & (slots_.size() - 1);
  }
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

// Symbolic ids in order of creation, freed ones reused: always the lowest that is free.
class IdPool {
 public:
  uint32_t take();
  uint32_t next();  // what take() would give
  void give_back(uint32_t id);
  bool in_use(uint32_t id) const { return id < used_.size() && used_[id]; }
  bool any() const;

 private:
  std::vector<bool> used_;
  uint32_t lowest_ = 0;  // no free id below this one
};

}  // namespace refrain::tracer
