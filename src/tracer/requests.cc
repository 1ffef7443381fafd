#include "tracer/requests.h"

namespace refrain::tracer {

namespace {
constexpr auto kKind = format::DefinitionKind::kSite;  // one kind only; any will do
}

uint32_t RequestTable::take_position(uint32_t pool) {
  if (pool >= pools_.size()) pools_.resize(pool + 1);
  return pools_[pool].take();
}

uint32_t RequestTable::add(const RequestEntry& entry) {
  uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<uint32_t>(entries_.size());
    entries_.push_back(entry);
  } else {
    index = free_.back();
    free_.pop_back();
    entries_[index] = entry;
  }
  entries_[index].live = true;
  entries_[index].next = kNone;
  uint32_t last = heads_.find(kKind, entry.key);
  if (last == HandleMap::kMissing) {
    heads_.put(kKind, entry.key, index);
    return index;
  }
  while (entries_[last].next != kNone) last = entries_[last].next;
  entries_[last].next = index;
  return index;
}

uint32_t RequestTable::find(uint64_t key, const void* variable) const {
  uint32_t oldest = kNone;
  const uint32_t head = heads_.find(kKind, key);
  if (head == HandleMap::kMissing) return kNone;
  for (uint32_t i = head; i != kNone; i = entries_[i].next) {
    if (entries_[i].claimed) continue;
    if (entries_[i].variable == variable) return i;
    if (oldest == kNone) oldest = i;
  }
  return oldest;
}

void RequestTable::remove(uint32_t index) {
  RequestEntry& e = entries_[index];
  if (!e.live) return;
  uint32_t i = heads_.find(kKind, e.key);
  if (i == index) {
    if (e.next == kNone)
      heads_.erase(kKind, e.key);
    else
      heads_.put(kKind, e.key, e.next);
  } else {
    while (i != HandleMap::kMissing && entries_[i].next != index) i = entries_[i].next;
    if (i != HandleMap::kMissing) entries_[i].next = e.next;
  }
  pools_[e.pool].give_back(e.position);
  e.live = false;
  free_.push_back(index);
}

}  // namespace refrain::tracer
