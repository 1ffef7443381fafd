#include "tracer/requests.h"

namespace refrain::tracer {

uint32_t RequestTable::take_position(uint32_t pool) {
  if (pool >= pools_.size()) pools_.resize(pool + 1);
  return pools_[pool].take();
}

uint32_t RequestTable::new_place() {
  if (made_ == blocks_.size() * kBlock) blocks_.push_back(std::make_unique<RequestEntry[]>(kBlock));
  free_.reserve(blocks_.size() * kBlock);
  return made_++;
}

uint32_t RequestTable::add(const RequestEntry& entry) {
  const uint32_t index = place_for_one();
  at(index) = entry;
  at(index).live = true;
  link_last(at(index), index);
  return index;
}

void RequestTable::index_by_variable(uint32_t index) {
  RequestEntry& e = at(index);
  if (e.indexed) return;
  e.indexed = true;
  by_variable_.put(variable_key(e.key, e.variable), index);
}

void RequestTable::link_behind(uint32_t head, uint32_t index) {
  RequestEntry& first = at(head);
  index_by_variable(head);
  index_by_variable(index);
  at(index).previous = first.tail;
  at(first.tail).next = index;
  first.tail = index;
}

void RequestTable::link_first(uint32_t index) {
  RequestEntry& e = at(index);
  const uint32_t head = heads_.find(e.key);
  if (head == KeyIndex::kMissing) return link_last(e, index);
  index_by_variable(head);
  index_by_variable(index);
  e.linked = true;
  e.previous = kNone;
  e.next = head;
  e.tail = at(head).tail;
  at(head).previous = index;
  heads_.put(e.key, index);
}

void RequestTable::unlink(uint32_t index) {
  RequestEntry& e = at(index);
  e.linked = false;
  if (alone(e)) return heads_.erase(e.key);
  if (e.next != kNone) at(e.next).previous = e.previous;
  if (e.previous != kNone) at(e.previous).next = e.next;
  if (e.previous == kNone) {
    at(e.next).tail = e.tail;
    heads_.put(e.key, e.next);
  } else if (e.next == kNone) {
    at(heads_.find(e.key)).tail = e.previous;
  }
  e.next = e.previous = kNone;
}

uint32_t RequestTable::find_in_chain(uint32_t head, uint64_t key, const void* variable) const {
  const uint32_t exact = by_variable_.find(variable_key(key, variable));
  if (exact != KeyIndex::kMissing) {
    const RequestEntry& e = at(exact);
    if (!e.claimed && e.key == key && e.variable == variable) return exact;
  }
  // At most one claimed entry is in a chain: see claim().
  return at(head).claimed ? at(head).next : head;
}

void RequestTable::give_back_all() {
  for (uint32_t i = 0; i < made_; ++i)
    if (at(i).live && at(i).claimed) give_back(i);
}

void RequestTable::remove_shared(uint32_t index) {
  RequestEntry& e = at(index);
  if (!e.live) return;
  if (e.linked) unlink(index);
  if (e.indexed) [[unlikely]] {
    const uint64_t key = variable_key(e.key, e.variable);
    if (by_variable_.find(key) == index) by_variable_.erase(key);
  }
  pools_[e.pool].give_back(e.position);
  e.live = false;
  free_.push_back(index);
}

}  // namespace refrain::tracer
