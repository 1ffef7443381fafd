// InternTable: byte strings <-> small indices in order of first appearance.
//
// The call signature table, the definitions and the request pools all are one of these. Lookup of a
// known string: one hash, one probe in the common case, one memcmp; no allocation.
//
// Laws: one writer at a time (the owner locks, see process.h). After share() readers need no lock:
// strings and entries never move, and arrays of slots that became too small are kept until the end
// (a third of the memory of all slots).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "tracer/tables/stable_array.h"

namespace refrain::tracer {

class InternTable {
 public:
  static constexpr uint32_t kMissing = UINT32_MAX;

  static uint32_t hash_of(std::string_view bytes);

  // Index of `bytes`; `hash` is hash_of(bytes).
  uint32_t find(std::string_view bytes, uint32_t hash) const;
  uint32_t find(std::string_view bytes) const { return find(bytes, hash_of(bytes)); }
  std::string_view at(uint32_t index) const {
    const Entry& e = entries_[index];
    return {e.bytes, e.length};
  }
  uint32_t size() const { return entries_.size(); }
  size_t total_bytes() const { return kept_; }

  // -- writers --
  // Of bytes that are not there; gives their index.
  uint32_t add(std::string_view bytes, uint32_t hash);
  // Index of `bytes`, added when it was not there. `is_new` (optional) says which.
  uint32_t intern(std::string_view bytes, bool* is_new = nullptr);
  // Bytes that the next string of `length` bytes would make the table ask for at once; 0: none.
  size_t next_growth(size_t length) const;
  // Forgets all and frees its memory; no reader may be there.
  void clear();
  // From now on there may be readers beside a writer.
  void share() { shared_ = true; }

 private:
  struct Entry {
    const char* bytes;
    uint32_t length;
    uint32_t hash;
  };
  // Open addressing, at most half full. A look-up goes by the tags, of which many are in a line of
  // the cache, and touches an entry only where it is likely to be the one.
  struct Free {
    void operator()(void* p) const { ::operator delete(p); }
  };
  struct Slots {
    explicit Slots(uint32_t n);
    static uint8_t tag_of(uint32_t hash) { return static_cast<uint8_t>(hash >> 25 | 0x80); }
    // Where there is no such entry yet.
    void put(uint32_t hash, uint32_t index);

    const uint32_t mask;                                 // their number, a power of two, less one
    std::unique_ptr<std::atomic<uint8_t>[], Free> tags;  // 0: free
    std::unique_ptr<std::atomic<uint32_t>[], Free> indices;
  };
  static constexpr size_t kSlotBytes = sizeof(uint8_t) + sizeof(uint32_t);
  void grow();
  const char* keep(std::string_view bytes);

  StableArray<Entry> entries_;
  std::atomic<const Slots*> slots_{nullptr};
  std::vector<std::unique_ptr<Slots>> arrays_;  // the last one is in use
  std::vector<std::unique_ptr<char[]>> arena_;  // the last piece is being filled
  char* next_ = nullptr;
  size_t room_ = 0, kept_ = 0;  // bytes in the last piece, and in all of them
  bool shared_ = false;
};

}  // namespace refrain::tracer
