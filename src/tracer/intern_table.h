// InternTable: byte strings <-> small indices in order of first appearance.
//
// The call signature table, the definitions and the request pools all are one of these. Lookup of a
// known string: one hash, one probe in the common case, one memcmp; no allocation. Not thread safe:
// the owner locks (see process.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace refrain::tracer {

class InternTable {
 public:
  static constexpr uint32_t kMissing = UINT32_MAX;

  // Index of `bytes`, added when it was not there. `is_new` (optional) says which.
  uint32_t intern(std::string_view bytes, bool* is_new = nullptr);
  uint32_t find(std::string_view bytes) const;

  std::string_view at(uint32_t index) const {
    const Entry& e = entries_[index];
    return {arena_.data() + e.offset, e.length};
  }
  // Bytes that the next string of `length` bytes would make the table ask for at once; 0: none.
  size_t next_growth(size_t length) const;
  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }

 private:
  struct Entry {
    uint64_t offset;
    uint32_t length;
    uint32_t hash;
  };
  uint32_t probe(std::string_view bytes, uint32_t hash) const;  // slot
  void grow();

  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // index + 1; 0 free; a power of two, at most half full
  std::vector<char> arena_;
};

}  // namespace refrain::tracer
