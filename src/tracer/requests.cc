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
  link_last(index);
  return index;
}

void RequestTable::index_by_variable(uint32_t index) {
  RequestEntry& e = entries_[index];
  if (e.indexed) return;
  e.indexed = true;
  by_variable_.put(kKind, variable_key(e.key, e.variable), index);
}

void RequestTable::link_last(uint32_t index) {
  RequestEntry& e = entries_[index];
  e.linked = true;
  e.next = e.previous = kNone;
  const uint32_t head = heads_.find(kKind, e.key);
  if (head == HandleMap::kMissing) {
    e.tail = index;
    return heads_.put(kKind, e.key, index);
  }
  RequestEntry& first = entries_[head];
  index_by_variable(head);
  index_by_variable(index);
  e.previous = first.tail;
  entries_[first.tail].next = index;
  first.tail = index;
}

void RequestTable::link_first(uint32_t index) {
  RequestEntry& e = entries_[index];
  const uint32_t head = heads_.find(kKind, e.key);
  if (head == HandleMap::kMissing) return link_last(index);
  index_by_variable(head);
  index_by_variable(index);
  e.linked = true;
  e.previous = kNone;
  e.next = head;
  e.tail = entries_[head].tail;
  entries_[head].previous = index;
  heads_.put(kKind, e.key, index);
}

void RequestTable::unlink(uint32_t index) {
  RequestEntry& e = entries_[index];
  e.linked = false;
  if (alone(e)) return heads_.erase(kKind, e.key);
  if (e.next != kNone) entries_[e.next].previous = e.previous;
  if (e.previous != kNone) entries_[e.previous].next = e.next;
  if (e.previous == kNone) {
    entries_[e.next].tail = e.tail;
    heads_.put(kKind, e.key, e.next);
  } else if (e.next == kNone) {
    entries_[heads_.find(kKind, e.key)].tail = e.previous;
  }
  e.next = e.previous = kNone;
}

uint32_t RequestTable::find(uint64_t key, const void* variable) const {
  const uint32_t head = heads_.find(kKind, key);
  if (head == HandleMap::kMissing) return kNone;
  const RequestEntry& first = entries_[head];
  const bool taken = first.claimed;  // at most one claimed entry is in a chain: see claim()
  if (first.next == kNone) return taken ? kNone : head;
  const uint32_t exact = by_variable_.find(kKind, variable_key(key, variable));
  if (exact != HandleMap::kMissing) {
    const RequestEntry& e = entries_[exact];
    if (!e.claimed && e.key == key && e.variable == variable) return exact;
  }
  return taken ? first.next : head;
}

void RequestTable::claim(uint32_t index) {
  RequestEntry& e = entries_[index];
  e.claimed = true;
  // The common case, a handle of its own, stays where it is: its end is near and costs one erasure.
  if (!alone(e)) unlink(index);
}

void RequestTable::give_back(uint32_t index) {
  RequestEntry& e = entries_[index];
  e.claimed = false;
  if (!e.linked) link_first(index);
}

void RequestTable::give_back_all() {
  for (uint32_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].live && entries_[i].claimed) give_back(i);
}

void RequestTable::remove(uint32_t index) {
  RequestEntry& e = entries_[index];
  if (!e.live) return;
  if (e.linked) unlink(index);
  if (e.indexed) {
    const uint64_t key = variable_key(e.key, e.variable);
    if (by_variable_.find(kKind, key) == index) by_variable_.erase(kKind, key);
  }
  pools_[e.pool].give_back(e.position);
  e.live = false;
  free_.push_back(index);
}

}  // namespace refrain::tracer
