#include "mpi_runtime/handle_map.h"

#include <utility>

namespace refrain::mpi_runtime {

void HandleMap::grow() {
  constexpr size_t kFirstSlots = 64;
  const Table* const old = table_.load(std::memory_order_relaxed);
  auto larger = std::make_unique<const Table>(old == nullptr ? kFirstSlots : 2 * (old->mask + 1));
  for (size_t i = 0; old != nullptr && i <= old->mask; ++i)
    if (old->at(i) != kFree)
      put_in(*larger, old->slots[i].key.load(std::memory_order_relaxed), old->at(i));
  table_.store(larger.get(), std::memory_order_release);
  if (!shared_) tables_.clear();
  tables_.push_back(std::move(larger));
}

void HandleMap::put_in(const Table& table, uint64_t key, uint64_t kind_and_value) {
  const auto kind = static_cast<format::DefinitionKind>(kind_and_value >> 32);
  size_t i = table.home(kind, key);
  while (table.at(i) != kFree && !table.is(i, kind, key)) i = (i + 1) & table.mask;
  table.set(i, key, kind_and_value);
}

void HandleMap::put(format::DefinitionKind kind, uint64_t key, uint32_t value) {
  const Table* const table = table_.load(std::memory_order_relaxed);
  const bool is_new = find(kind, key) == kMissing;
  if (is_new && (table == nullptr || (used_ + 1) * 2 > table->mask + 1)) grow();
  if (is_new) ++used_;
  const Writing writing(*this);
  put_in(*table_.load(std::memory_order_relaxed), key, pack(kind, value));
}

void HandleMap::erase(format::DefinitionKind kind, uint64_t key) {
  if (find(kind, key) == kMissing) return;
  --used_;
  const Table& t = *table_.load(std::memory_order_relaxed);
  const Writing writing(*this);
  size_t i = t.home(kind, key);
  while (!t.is(i, kind, key)) i = (i + 1) & t.mask;
  // Close the gap: move back every later entry of the cluster that may stand at or before it.
  for (size_t j = i;;) {
    t.set(i, 0, kFree);
    for (;;) {
      j = (j + 1) & t.mask;
      if (t.at(j) == kFree) return;
      const uint64_t key_j = t.slots[j].key.load(std::memory_order_relaxed);
      const size_t h = t.home(static_cast<format::DefinitionKind>(t.at(j) >> 32), key_j);
      if (((j - h) & t.mask) >= ((j - i) & t.mask)) break;
    }
    t.set(i, t.slots[j].key.load(std::memory_order_relaxed), t.at(j));
    i = j;
  }
}

}  // namespace refrain::mpi_runtime
