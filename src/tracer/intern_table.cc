#include "tracer/intern_table.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace refrain::tracer {

namespace {
constexpr uint32_t kFirstSlots = 64;
constexpr size_t kFirstPiece = 4096;
}  // namespace

uint32_t InternTable::hash_of(std::string_view bytes) {
  return static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

// Each slot is read once: a free one may be taken by other bytes in the next moment.
uint32_t InternTable::find(std::string_view bytes, uint32_t hash) const {
  const Slot* const slots = slots_.load(std::memory_order_acquire);
  if (slots == nullptr) return kMissing;
  const uint32_t mask = slots[0].load(std::memory_order_relaxed);
  for (uint32_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const uint32_t v = slots[1 + slot].load(std::memory_order_acquire);
    if (v == 0) return kMissing;
    const Entry& e = entries_[v - 1];
    if (e.hash == hash && e.length == bytes.size() &&
        std::memcmp(e.bytes, bytes.data(), bytes.size()) == 0)
      return v - 1;
  }
}

uint32_t InternTable::add(std::string_view bytes, uint32_t hash) {
  const uint32_t index = size();
  const Slot* const slots = slots_.load(std::memory_order_relaxed);
  if (slots == nullptr || index >= slots[0].load(std::memory_order_relaxed) / 2) grow();
  entries_.push_back(Entry{keep(bytes), static_cast<uint32_t>(bytes.size()), hash});
  Slot* const now = slots_.load(std::memory_order_relaxed);
  const uint32_t mask = now[0].load(std::memory_order_relaxed);
  uint32_t slot = hash & mask;
  while (now[1 + slot].load(std::memory_order_relaxed) != 0) slot = (slot + 1) & mask;
  now[1 + slot].store(index + 1, std::memory_order_release);
  return index;
}

uint32_t InternTable::intern(std::string_view bytes, bool* is_new) {
  const uint32_t hash = hash_of(bytes);
  const uint32_t known = find(bytes, hash);
  if (is_new != nullptr) *is_new = known == kMissing;
  return known != kMissing ? known : add(bytes, hash);
}

const char* InternTable::keep(std::string_view bytes) {
  if (next_ == nullptr || bytes.size() > room_) {
    room_ = std::max({kFirstPiece, kept_, bytes.size()});
    arena_.emplace_back(new char[room_]);
    next_ = arena_.back().get();
  }
  char* const at = next_;
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  next_ += bytes.size();
  room_ -= bytes.size();
  kept_ += bytes.size();
  return at;
}

void InternTable::clear() {
  entries_.clear();
  slots_.store(nullptr, std::memory_order_relaxed);
  decltype(arrays_)().swap(arrays_);
  decltype(arena_)().swap(arena_);
  next_ = nullptr;
  room_ = kept_ = 0;
}

size_t InternTable::next_growth(size_t length) const {
  size_t bytes = entries_.next_growth();
  if (length > room_) bytes += std::max({kFirstPiece, kept_, length});
  const Slot* const slots = slots_.load(std::memory_order_relaxed);
  const uint32_t mask = slots == nullptr ? 0 : slots[0].load(std::memory_order_relaxed);
  if (size() >= mask / 2) bytes += 2 * (size_t{mask} + 1) * sizeof(Slot);
  return bytes;
}

void InternTable::grow() {
  const Slot* const old = slots_.load(std::memory_order_relaxed);
  const uint32_t n =
      old == nullptr ? kFirstSlots : 2 * (old[0].load(std::memory_order_relaxed) + 1);
  std::unique_ptr<Slot[]> slots(new Slot[size_t{n} + 1]());
  const uint32_t mask = n - 1;
  slots[0].store(mask, std::memory_order_relaxed);
  for (uint32_t i = 0; i < size(); ++i) {
    uint32_t slot = entries_[i].hash & mask;
    while (slots[1 + slot].load(std::memory_order_relaxed) != 0) slot = (slot + 1) & mask;
    slots[1 + slot].store(i + 1, std::memory_order_relaxed);
  }
  slots_.store(slots.get(), std::memory_order_release);
  if (!shared_) arrays_.clear();
  arrays_.push_back(std::move(slots));
}

}  // namespace refrain::tracer
