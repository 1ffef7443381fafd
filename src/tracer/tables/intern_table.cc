#include "tracer/tables/intern_table.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/raw_memory.h"

namespace refrain::tracer {

namespace {
constexpr uint32_t kFirstSlots = 64;
constexpr size_t kFirstPiece = 4096;

// Pages that the system gives are zero, and those that hold no slot in use stay untouched.
template <class T>
std::atomic<T>* zeroed(size_t n) {
  void* const p = base::raw_zeroed(n * sizeof(std::atomic<T>));
  return static_cast<std::atomic<T>*>(
      p != nullptr
          ? p
          : std::memset(::operator new(n * sizeof(std::atomic<T>)), 0, n * sizeof(std::atomic<T>)));
}
}  // namespace

uint32_t InternTable::hash_of(std::string_view bytes) {
  return static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

InternTable::Slots::Slots(uint32_t n)
    : mask(n - 1), tags(zeroed<uint8_t>(n)), indices(zeroed<uint32_t>(n)) {}

void InternTable::Slots::put(uint32_t hash, uint32_t index) {
  uint32_t slot = hash & mask;
  while (tags[slot].load(std::memory_order_relaxed) != 0) slot = (slot + 1) & mask;
  indices[slot].store(index, std::memory_order_relaxed);
  tags[slot].store(tag_of(hash), std::memory_order_release);
}

// Each tag is read once: a free slot may be taken by other bytes in the next moment.
uint32_t InternTable::find(std::string_view bytes, uint32_t hash) const {
  const Slots* const slots = slots_.load(std::memory_order_acquire);
  if (slots == nullptr) return kMissing;
  const uint8_t wanted = Slots::tag_of(hash);
  for (uint32_t slot = hash & slots->mask;; slot = (slot + 1) & slots->mask) {
    const uint8_t tag = slots->tags[slot].load(std::memory_order_acquire);
    if (tag == 0) return kMissing;
    if (tag != wanted) continue;
    const uint32_t index = slots->indices[slot].load(std::memory_order_relaxed);
    const Entry& e = entries_[index];
    if (e.hash == hash && e.length == bytes.size() &&
        std::memcmp(e.bytes, bytes.data(), bytes.size()) == 0)
      return index;
  }
}

uint32_t InternTable::add(std::string_view bytes, uint32_t hash) {
  const uint32_t index = size();
  if (arrays_.empty() || index >= arrays_.back()->mask / 2) grow();
  entries_.push_back(Entry{keep(bytes), static_cast<uint32_t>(bytes.size()), hash});
  arrays_.back()->put(hash, index);
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
  const uint32_t mask = arrays_.empty() ? 0 : arrays_.back()->mask;
  if (size() >= mask / 2) bytes += 2 * (size_t{mask} + 1) * kSlotBytes;
  return bytes;
}

void InternTable::grow() {
  auto slots =
      std::make_unique<Slots>(arrays_.empty() ? kFirstSlots : 2 * (arrays_.back()->mask + 1));
  for (uint32_t i = 0; i < size(); ++i) slots->put(entries_[i].hash, i);
  slots_.store(slots.get(), std::memory_order_release);
  if (!shared_) arrays_.clear();
  arrays_.push_back(std::move(slots));
}

}  // namespace refrain::tracer
