#include "tracer/requests/request_array.h"

#include "tracer/requests/requests.h"

namespace refrain::tracer {

namespace {

// Stands where an entry has to be looked up anew.
constinit RequestEntry stale_entry;

bool is_entry(const RequestEntry* e) { return e != nullptr && e != &stale_entry; }

uint64_t word_of(const RequestEntry& e) {
  if (!e.is(RequestEntry::kSpecial)) return e.terminal;
  if (e.traits.persistent && !e.active) return e.terminal | request_word::kIdle;
  return e.terminal | (e.traits.wildcard ? request_word::kWildcard : 0);
}

}  // namespace

RequestArray::~RequestArray() {
  for (RequestEntry* const e : entries_)
    if (is_entry(e)) table_.unlist(*e);
}

bool RequestArray::is_stale(size_t i) const { return entries_[i] == &stale_entry; }

void RequestArray::put(size_t i, RequestEntry* entry, uint64_t word) {
  known_ += (is_entry(entry) ? 1 : 0);
  known_ -= (is_entry(entries_[i]) ? 1 : 0);
  entries_[i] = entry;
  uint64_t& before = words_[i];
  if (before == word) return;
  wildcards_ += (word & request_word::kWildcard) != 0 ? 1 : 0;
  wildcards_ -= (before & request_word::kWildcard) != 0 ? 1 : 0;
  before = word;
  words_changed_ = true;
}

void RequestArray::begin_with(size_t count, size_t handle_bytes) {
  in_use_ = true;
  const size_t before = entries_.size();
  if (count == before) return;
  for (size_t i = count; i < before; ++i) {
    if (is_entry(entries_[i])) table_.unlist(*entries_[i]);
    put(i, nullptr, request_word::kNull);
  }
  handles_.resize(count * handle_bytes);
  entries_.resize(count, &stale_entry);
  words_.resize(count, request_word::kNull);
  changed_.resize((count + kBlock - 1) / kBlock, true);
  if (before < count && before % kBlock != 0) changed_[before / kBlock] = true;
  words_changed_ = true;
}

void RequestArray::has_begun() {
  if (words_changed_) version_ = table_.new_version();
  words_changed_ = false;
}

// Handles come in the order of the array, so of two equal ones the first stands for the request, as
// where each is claimed in turn.
void RequestArray::look_up(size_t i, bool is_null, uint64_t key, const void* variable) {
  if (is_entry(entries_[i])) table_.unlist(*entries_[i]);
  if (is_null) return put(i, nullptr, request_word::kNull);
  RequestEntry* const e = table_.list(key, *this, i);
  if (e != nullptr) return put(i, e, word_of(*e));
  each_time_.push_back(static_cast<uint32_t>(i));
  RequestEntry* const shared = table_.claim_unlisted(key, variable);
  put(i, shared, shared != nullptr ? word_of(*shared) : request_word::kUnknown);
}

void RequestArray::remove_entry(size_t i) {
  RequestEntry& e = *entries_[i];
  table_.remove(e);
  // What was not listed is still here.
  if (is_entry(entries_[i])) --known_;
  entries_[i] = nullptr;
  put(i, nullptr, request_word::kNull);
}

void RequestArray::forget(size_t i) {
  entries_[i] = &stale_entry;
  changed_[i / kBlock] = true;
  --known_;
}

void RequestArray::claim_all() {
  all_claimed_ = true;
  for (RequestEntry* const e : entries_)
    if (is_entry(e) && e->is(RequestEntry::kListed)) table_.claim_listed(*e);
}

bool RequestArray::end() {
  in_use_ = false;
  // In reverse order, as they go back to the front of their chains.
  if (all_claimed_) {
    for (size_t i = entries_.size(); i-- > 0;)
      if (is_entry(entries_[i])) table_.give_back(*entries_[i]);
    entries_.clear();
    return false;
  }
  for (size_t k = each_time_.size(); k-- > 0;) {
    const size_t i = each_time_[k];
    if (entries_[i] == nullptr && words_[i] == request_word::kNull) continue;  // over
    if (is_entry(entries_[i])) {
      table_.give_back(*entries_[i]);
      --known_;
    }
    entries_[i] = &stale_entry;
    changed_[i / kBlock] = true;
  }
  const bool is_polled = known_ + each_time_.size() > 0;
  each_time_.clear();
  return is_polled;
}

}  // namespace refrain::tracer
