#include "tracer/requests/requests.h"

#include <algorithm>

namespace refrain::tracer {

// Before the entries that they list.
RequestTable::~RequestTable() { arrays_.clear(); }

uint32_t RequestTable::take_position(uint32_t pool) {
  if (pool >= pools_.size()) pools_.resize(pool + 1);
  return pools_[pool].take();
}

uint32_t RequestTable::new_place() {
  if (made_ == blocks_.size() * kBlock) blocks_.push_back(std::make_unique<RequestEntry[]>(kBlock));
  free_.reserve(blocks_.size() * kBlock);
  return made_++;
}

void RequestTable::put(uint32_t index, const RequestEntry& entry, uint8_t state) {
  RequestEntry& e = at(index);
  e = entry;
  e.index = index;
  e.lane = lane_;
  e.next = e.previous = kNone;
  e.state = state;
  if (e.traits.wildcard || e.traits.persistent) e.state |= RequestEntry::kSpecial;
  if (e.traits.is_receive || e.traits.generalized) e.state |= RequestEntry::kMessage;
}

uint32_t RequestTable::add(const RequestEntry& entry) {
  const uint32_t index = place_for_one();
  put(index, entry, RequestEntry::kLive);
  link_last(at(index));
  return index;
}

RequestEntry* RequestTable::keep(const RequestEntry& entry) {
  const uint32_t index = place_for_one();
  put(index, entry, RequestEntry::kKept);
  return &at(index);
}

bool RequestTable::keep_again(RequestEntry& place, const RequestEntry& entry) {
  if (place.is(RequestEntry::kLive)) return false;
  put(place.index, entry, RequestEntry::kKept);
  return true;
}

void RequestTable::unkeep(RequestEntry& place) {
  place.state &= static_cast<uint8_t>(~RequestEntry::kKept);
  if (!place.is(RequestEntry::kLive)) free_.push_back(place.index);
}

std::vector<bool> RequestTable::pools_in_use() const {
  std::vector<bool> used(pools_.size());
  for (size_t i = 0; i < pools_.size(); ++i) used[i] = pools_[i].in_use();
  for (uint32_t i = 0; i < made_; ++i)
    if (at(i).is(RequestEntry::kKept)) used[at(i).pool] = true;
  return used;
}

void RequestTable::index_by_variable(RequestEntry& e) {
  if (e.is(RequestEntry::kIndexed)) return;
  // RequestSnapshot::status_word() may read it meanwhile, in another thread.
  __atomic_store_n(&e.state, static_cast<uint8_t>(e.state | RequestEntry::kIndexed),
                   __ATOMIC_RELAXED);
  by_variable_.put(variable_key(e.key, e.variable), e.index);
}

void RequestTable::link_behind(RequestEntry& first, RequestEntry& e) {
  if (first.is(RequestEntry::kListed)) unlist(first);
  index_by_variable(first);
  index_by_variable(e);
  e.previous = first.tail;
  at(first.tail).next = e.index;
  first.tail = e.index;
}

void RequestTable::link_first(RequestEntry& e) {
  const uint32_t head = heads_.find(e.key);
  if (head == KeyIndex::kMissing) return link_last(e);
  if (at(head).is(RequestEntry::kListed)) unlist(at(head));
  index_by_variable(at(head));
  index_by_variable(e);
  e.state |= RequestEntry::kLinked;
  e.next = head;
  e.tail = at(head).tail;
  at(head).previous = e.index;
  heads_.put(e.key, e.index);
}

void RequestTable::unlink(RequestEntry& e) {
  e.state &= static_cast<uint8_t>(~RequestEntry::kLinked);
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

void RequestTable::rename(RequestEntry& e, uint64_t key) {
  if (e.is(RequestEntry::kListed)) unlist(e);
  if (e.is(RequestEntry::kIndexed)) {
    const uint64_t indexed = variable_key(e.key, e.variable);
    if (by_variable_.find(indexed) == e.index) by_variable_.erase(indexed);
    e.state &= static_cast<uint8_t>(~RequestEntry::kIndexed);
  }
  if (e.is(RequestEntry::kLinked)) unlink(e);
  e.key = key;
  link_last(e);
}

uint32_t RequestTable::find_in_chain(uint32_t head, uint64_t key, const void* variable) const {
  const uint32_t exact = by_variable_.find(variable_key(key, variable));
  if (exact != KeyIndex::kMissing) {
    const RequestEntry& e = at(exact);
    if (!e.is(RequestEntry::kClaimed) && e.key == key && e.variable == variable) return exact;
  }
  // At most one claimed entry is in a chain: see claim().
  return at(head).is(RequestEntry::kClaimed) ? at(head).next : head;
}

RequestEntry* RequestTable::claim_in_chain(uint32_t head, uint64_t key, const void* variable) {
  const uint32_t found = find_in_chain(head, key, variable);
  if (found == kNone) return nullptr;
  claim(at(found));
  return &at(found);
}

void RequestTable::give_back_all() {
  in_use_ = nullptr;
  arrays_.clear();
  for (uint32_t i = 0; i < made_; ++i)
    if (at(i).is(RequestEntry::kLive) && at(i).is(RequestEntry::kClaimed)) give_back(at(i));
}

void RequestTable::remove_shared(RequestEntry& e) {
  if (!e.is(RequestEntry::kLive)) return;
  if (e.is(RequestEntry::kListed)) unlist(e);
  if (!e.is(RequestEntry::kIndexed)) {
    heads_.erase(e.key);
    return free_place(e);
  }
  if (e.is(RequestEntry::kLinked)) unlink(e);
  const uint64_t key = variable_key(e.key, e.variable);
  if (by_variable_.find(key) == e.index) by_variable_.erase(key);
  free_place(e);
}

RequestArray* RequestTable::find_array(const void* address) {
  for (const auto& array : arrays_)
    if (array->address() == address) return array->in_use() ? nullptr : array.get();
  return nullptr;
}

bool RequestTable::has_array_in_use() const {
  return std::any_of(arrays_.begin(), arrays_.end(), [](const auto& a) { return a->in_use(); });
}

void RequestTable::add_array(const void* address) {
  if (arrays_.size() < kArrays) {
    arrays_.push_back(std::make_unique<RequestArray>(*this, address));
    return;
  }
  arrays_[next_array_] = std::make_unique<RequestArray>(*this, address);
  next_array_ = (next_array_ + 1) % kArrays;
}

void RequestTable::end_use(RequestArray& array) {
  in_use_ = nullptr;
  if (array.end()) return;
  std::erase_if(arrays_, [&](const auto& a) { return a.get() == &array; });
  next_array_ = 0;
}

void RequestTable::unlist(RequestEntry& e) {
  if (!e.is(RequestEntry::kListed)) return;
  e.state &= static_cast<uint8_t>(~RequestEntry::kListed);
  const ListedAt& at = listed_[e.index];
  at.array->forget(at.position);
}

RequestEntry* RequestTable::list(uint64_t key, RequestArray& array, size_t position) {
  const uint32_t head = heads_.find(key);
  if (head == KeyIndex::kMissing) return nullptr;
  RequestEntry& e = at(head);
  if (e.is(RequestEntry::kIndexed | RequestEntry::kClaimed)) return nullptr;
  if (head >= listed_.size()) listed_.resize(blocks_.size() * kBlock);
  ListedAt& where = listed_[head];
  if (e.is(RequestEntry::kListed)) {
    if (where.array == &array && where.position < position) return nullptr;
    unlist(e);
  }
  e.state |= RequestEntry::kListed;
  where = {&array, position};
  return &e;
}

RequestEntry* RequestTable::claim_unlisted(uint64_t key, const void* variable) {
  const uint32_t found = find(key, variable);
  if (found == kNone || at(found).is(RequestEntry::kListed)) return nullptr;
  claim(at(found));
  return &at(found);
}

void RequestTable::claim_listed(RequestEntry& e) {
  e.state &= static_cast<uint8_t>(~RequestEntry::kListed);
  claim(e);
}

}  // namespace refrain::tracer
