#include "tracer/intern_table.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace refrain::tracer {

namespace {
uint32_t hash_of(std::string_view bytes) {
  return static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
}
}  // namespace

uint32_t InternTable::probe(std::string_view bytes, uint32_t hash) const {
  const uint32_t mask = static_cast<uint32_t>(slots_.size()) - 1;
  uint32_t slot = hash & mask;
  for (;; slot = (slot + 1) & mask) {
    const uint32_t v = slots_[slot];
    if (v == 0) return slot;
    const Entry& e = entries_[v - 1];
    if (e.hash == hash && e.length == bytes.size() &&
        std::memcmp(arena_.data() + e.offset, bytes.data(), bytes.size()) == 0) {
      return slot;
    }
  }
}

uint32_t InternTable::find(std::string_view bytes) const {
  if (slots_.empty()) return kMissing;
  const uint32_t v = slots_[probe(bytes, hash_of(bytes))];
  return v == 0 ? kMissing : v - 1;
}

uint32_t InternTable::intern(std::string_view bytes, bool* is_new) {
  if (entries_.size() * 2 >= slots_.size()) grow();
  const uint32_t hash = hash_of(bytes);
  const uint32_t slot = probe(bytes, hash);
  if (is_new != nullptr) *is_new = slots_[slot] == 0;
  if (slots_[slot] != 0) return slots_[slot] - 1;
  entries_.push_back(Entry{arena_.size(), static_cast<uint32_t>(bytes.size()), hash});
  arena_.insert(arena_.end(), bytes.begin(), bytes.end());
  slots_[slot] = static_cast<uint32_t>(entries_.size());
  return slots_[slot] - 1;
}

size_t InternTable::next_growth(size_t length) const {
  size_t bytes = 0;
  if (entries_.size() == entries_.capacity()) bytes += 2 * entries_.size() * sizeof(Entry);
  if (arena_.size() + length > arena_.capacity()) bytes += 2 * arena_.size() + length;
  if (entries_.size() * 2 >= slots_.size()) bytes += 2 * slots_.size() * sizeof(uint32_t);
  return bytes;
}

void InternTable::grow() {
  const size_t n = slots_.empty() ? 64 : slots_.size() * 2;
  slots_.assign(n, 0);
  const auto mask = static_cast<uint32_t>(n - 1);
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    uint32_t slot = entries_[i].hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = i + 1;
  }
}

}  // namespace refrain::tracer
