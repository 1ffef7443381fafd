#include "tracer/completion.h"

#include <new>

#include "mpi/constant_ids.h"
#include "real_functions.h"

namespace refrain::tracer {

RequestSnapshot::RequestSnapshot(Process& process, const MPI_Request* requests, int count)
    : process_(process),
      count_(requests == nullptr || count < 0 ? 0 : count),
      items_(reinterpret_cast<Item*>(inline_)) {
  if (count_ > kInline) {
    heap_ = std::make_unique<Item[]>(static_cast<size_t>(count_));
    items_ = heap_.get();
  }
  Process::Guard guard(process_);
  for (int i = 0; i < count_; ++i) {
    Item& item = *new (&items_[i]) Item;
    item.handle = requests[i];
    if (requests[i] == MPI_REQUEST_NULL) {
      item.idle = true;
      continue;
    }
    item.entry = process_.requests.find(handle_key(requests[i]), &requests[i]);
    if (item.entry == RequestTable::kNone) continue;
    RequestEntry& entry = process_.requests.at(item.entry);
    process_.requests.claim(item.entry);
    item.terminal = entry.terminal;
    item.persistent = entry.traits.persistent;
    item.idle = item.persistent && !entry.active;
    item.receive = entry.traits.is_receive;
    item.generalized = entry.generalized;
    item.source = entry.traits.source;
    item.tag = entry.traits.tag;
    item.wildcard = entry.wildcard && !item.idle;
    has_wildcard_ = has_wildcard_ || item.wildcard;
  }
}

RequestSnapshot::~RequestSnapshot() {
  Process::Guard guard(process_);
  for (int i = count_ - 1; i >= 0; --i)
    if (items_[i].entry != RequestTable::kNone) process_.requests.give_back(items_[i].entry);
}

uint64_t RequestSnapshot::word_of(int i) const {
  constexpr uint64_t kNull = UINT64_MAX, kUnknown = UINT64_MAX - 1;
  const Item& item = items_[i];
  if (item.handle == MPI_REQUEST_NULL) return kNull;
  return item.entry == RequestTable::kNone ? kUnknown : item.terminal;
}

bool RequestSnapshot::words(uint64_t* out, size_t room) const {
  if (has_wildcard_ || static_cast<size_t>(count_) > room) return false;
  for (int i = 0; i < count_; ++i) out[i] = word_of(i);
  return true;
}

void RequestSnapshot::encode_request(Encoder& e, int i) const {
  const Item& item = items_[i];
  if (item.handle == MPI_REQUEST_NULL) return e.constant(mpi::kConst_MPI_REQUEST_NULL);
  if (item.entry == RequestTable::kNone) return e.none();
  e.tag_byte(Tag::kRequest);
  e.varint(item.terminal);
}

void RequestSnapshot::encode_requests(Encoder& e) const {
  e.begin_array(count_);
  for (int i = 0; i < count_; ++i) {
    e.begin_element();
    encode_request(e, i);
    e.end_element();
  }
  e.end_array();
}

void RequestSnapshot::encode_status(Encoder& e, int i, const MPI_Status& status,
                                    bool with_error) const {
  const Item& item = items_[i];
  const bool message = item.receive || item.generalized;
  if (with_error) {
    e.tag_byte(Tag::kStatusError);
    if (message && status.MPI_ERROR != MPI_ERR_PENDING)
      e.message(status.MPI_SOURCE, status.MPI_TAG);
    else
      e.none(), e.none();
    return e.integer(status.MPI_ERROR);
  }
  if (item.idle) return e.tag_byte(Tag::kStatusEmpty);
  if (!message) return e.none();
  if (item.receive && !item.wildcard && status.MPI_SOURCE == item.source &&
      status.MPI_TAG == item.tag)
    return e.tag_byte(Tag::kStatusAsPosted);
  e.tag_byte(Tag::kStatus);
  e.message(status.MPI_SOURCE, status.MPI_TAG);
}

void RequestSnapshot::encode_matched(Encoder& e, int i, const MPI_Status& status) const {
  if (!items_[i].wildcard) return e.none();
  e.tag_byte(Tag::kMatched);
  e.message(status.MPI_SOURCE, status.MPI_TAG);
}

void RequestSnapshot::settle(int i, const MPI_Request& now, bool completed) {
  Item& item = items_[i];
  if (item.entry == RequestTable::kNone) return;
  Process::Guard guard(process_);
  if (item.persistent) {
    if (completed) process_.requests.at(item.entry).active = false;
  } else if (now == MPI_REQUEST_NULL) {
    process_.requests.remove(item.entry);
    item.entry = RequestTable::kNone;
  }
}

void RequestSnapshot::activate(int i) {
  if (items_[i].entry == RequestTable::kNone) return;
  Process::Guard guard(process_);
  process_.requests.at(items_[i].entry).active = true;
}

void RequestSnapshot::forget(int i) {
  if (items_[i].entry == RequestTable::kNone) return;
  Process::Guard guard(process_);
  process_.requests.remove(items_[i].entry);
  items_[i].entry = RequestTable::kNone;
}

int error_class(int rc) {
  int c = rc;
  return REFRAIN_REAL(PMPI_Error_class)(rc, &c) == MPI_SUCCESS ? c : rc;
}

void status_after_error(Encoder& e, const MPI_Status* given) {
  given == MPI_STATUS_IGNORE ? e.constant(mpi::kConst_MPI_STATUS_IGNORE) : e.none();
}

void statuses_after_error(Encoder& e, const MPI_Status* given) {
  given == MPI_STATUSES_IGNORE ? e.constant(mpi::kConst_MPI_STATUSES_IGNORE) : e.none();
}

void nothing_completed(Encoder& e, const MPI_Status* given, bool empty) {
  if (empty && given != MPI_STATUS_IGNORE) return e.tag_byte(Tag::kStatusEmpty);
  status_after_error(e, given);
}

}  // namespace refrain::tracer
