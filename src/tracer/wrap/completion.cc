#include "tracer/wrap/completion.h"

#include <utility>

#include "mpi/constant_ids.h"
#include "tracer/requests/left_out.h"

namespace refrain::tracer {

void RequestSnapshot::note(int i, RequestEntry* r, uint64_t word) {
  entries_[i] = r;
  words_[i] = word;
  if (r == nullptr) return;
  ++left_;
  words_[i] = r->terminal;
  if (r->is(RequestEntry::kSpecial)) words_[i] |= look_at_special(*r);
}

// In our own lane. False: look elsewhere, too. That is so for a handle that several requests share
// and that was not made in this variable.
bool RequestSnapshot::claim_own(int i, const MPI_Request& request, const void* variable) {
  const uint64_t key = handle_key(request);
  const uint32_t found = lane_.table.find(key, variable);
  if (found == RequestTable::kNone) return false;
  RequestEntry& r = lane_.table.at(found);
  if (r.variable != variable && lane_.all.is_shared_handle(key)) [[unlikely]]
    return false;
  lane_.table.claim(r);
  note(i, &r, 0);
  return true;
}

void RequestSnapshot::look_up_beside_others(const MPI_Request* requests) {
  bool elsewhere = false;
  {
    const OwnLane own(lane_);
    for (int i = 0; i < count_; ++i) {
      if (requests[i] == MPI_REQUEST_NULL) {
        note(i, nullptr, request_word::kNull);
      } else if (!claim_own(i, requests[i], &requests[i])) [[unlikely]] {
        note(i, nullptr, request_word::kElsewhere);
        elsewhere = true;
      }
    }
  }
  if (elsewhere) look_up_elsewhere(requests);
}

void RequestSnapshot::look_up_elsewhere(const MPI_Request* requests) {
  AllLanes all(lane_);
  for (int i = 0; i < count_; ++i) {
    if (words_[i] != request_word::kElsewhere) continue;
    RequestEntry* const r = all.find(handle_key(requests[i]), &requests[i]);
    if (r != nullptr) all.table_of(*r).claim(*r);
    note(i, r, request_word::kUnknown);
  }
}

void RequestSnapshot::settle_beside_others(int begin, int end, const MPI_Request* now,
                                           bool completed) {
  bool elsewhere = false;
  {
    const OwnLane own(lane_);
    for (int i = begin; i < end; ++i) {
      const RequestEntry* const r = entries_[i];
      if (r == nullptr) continue;
      if (is_own(*r))
        settle_known(lane_.table, i, now[i - begin], completed);
      else
        elsewhere = true;
    }
  }
  if (!elsewhere) return;
  AllLanes all(lane_);
  for (int i = begin; i < end; ++i) {
    const RequestEntry* const r = entries_[i];
    if (r != nullptr && !is_own(*r)) settle_known(all.table_of(*r), i, now[i - begin], completed);
  }
}

void RequestSnapshot::give_back() {
  bool elsewhere = false;
  {
    const OwnLane own(lane_);
    for (int i = count_ - 1; i >= 0; --i) {
      if (entries_[i] == nullptr) continue;
      if (is_own(*entries_[i]))
        lane_.table.give_back(*entries_[i]);
      else
        elsewhere = true;
    }
  }
  if (!elsewhere) return;
  AllLanes all(lane_);
  for (int i = count_ - 1; i >= 0; --i)
    if (entries_[i] != nullptr && !is_own(*entries_[i]))
      all.table_of(*entries_[i]).give_back(*entries_[i]);
}

void RequestSnapshot::make_room() {
  const auto n = static_cast<size_t>(count_), words = 2 * n + kMoreWords;
  heap_ = std::make_unique_for_overwrite<char[]>(words * sizeof(uint64_t) + n * sizeof(void*));
  words_ = reinterpret_cast<uint64_t*>(heap_.get());
  entries_ = reinterpret_cast<RequestEntry**>(words_ + words);
}

// Up to here a memo compares each of them, also where all are new each time. Threads could take a
// request out of another one's array at any time.
bool RequestSnapshot::look_into_array(const MPI_Request* requests) {
  array_ = nullptr;
  given_ = nullptr;
  if (is_for_memo(static_cast<size_t>(count_)) || lane_.has_neighbours || control().filters)
    return false;
  given_ = requests;
  RequestTable& table = lane_.table;
  if (table.has_array_in_use()) return false;
  array_ = table.find_array(requests);
  if (array_ == nullptr) return false;
  const auto n = static_cast<size_t>(count_);
  table.use(*array_);
  array_->begin(requests, n, static_cast<MPI_Request>(MPI_REQUEST_NULL),
                [](MPI_Request r) { return handle_key(r); });
  left_ = 1;
  entries_ = array_->entries();
  words_ = const_cast<uint64_t*>(array_->words());
  if (array_->has_wildcard()) asks_ |= kWildcard;
  return true;
}

RequestSnapshot::MemoWords RequestSnapshot::memo_words_of_many() {
  static_assert(is_for_memo(kInline));
  const auto n = static_cast<size_t>(count_);
  if (array_ == nullptr) return {words_, n, is_for_memo(n)};
  inline_words_[0] = kVersionBit | array_->version();
  return {inline_words_, 1, true};
}

void RequestSnapshot::settle_of_many(int i, const MPI_Request& now, bool completed) {
  if (array_ == nullptr || entries_[i]->traits.persistent || now != MPI_REQUEST_NULL)
    return settle_known(lane_.table, i, now, completed);
  array_->remove(static_cast<size_t>(i), now);
}

// Most of the requests are still there: the program will ask for them again.
void RequestSnapshot::leave() {
  const bool is_many = count_ > kInline;
  if (is_many && array_ != nullptr) return lane_.table.end_use(*array_);
  give_back();
  if (!is_many || given_ == nullptr || left_ < count_ / 4 || lane_.table.has_array_in_use()) return;
  if (lane_.table.find_array(given_) == nullptr) lane_.table.add_array(given_);
}

void RequestSnapshot::leave_out_if_filtered(CallScope& scope) {
  if (knows_held()) asks_ |= kHeld;
  if (scope.is_left_out()) return;
  for (int i = 0; i < count_; ++i) {
    const RequestEntry* r = entries_[i];
    if (r != nullptr && !is_filtered(r->terminal)) return;
  }
  scope.leave_out(true);
  count_left_out(scope.call());
}

void RequestSnapshot::encode_request(Encoder& e, int i) const {
  if (is_null(i)) return e.constant(mpi::kConst_MPI_REQUEST_NULL);
  const RequestEntry* r = entries_[i];
  r != nullptr ? e.request_of(r->terminal) : e.none();
}

// The same bytes as element by element, where no request is one of a call that was left out: equal
// words are equal elements.
void RequestSnapshot::encode_many(Encoder& e) const {
  constexpr size_t kMostOfRun = 5 + 1 + 5;  // two numbers of 32 bits, and a tag
  const auto n = static_cast<size_t>(count_);
  e.begin_array(count_);
  auto* out = reinterpret_cast<uint8_t*>(e.begin_bytes(n * kMostOfRun));
  for (size_t i = 0; i < n;) {
    const uint64_t word = words_[i] & ~request_word::kOfState;
    size_t end = i + 1;
    while (end < n && (words_[end] & ~request_word::kOfState) == word) ++end;
    out = base::write_varint(out, end - i);
    if (word == request_word::kUnknown) {
      *out++ = static_cast<uint8_t>(Tag::kNone);
    } else {
      const bool is_null = word == request_word::kNull;
      *out++ = static_cast<uint8_t>(is_null ? Tag::kConst : Tag::kRequest);
      out = base::write_varint(out, is_null ? mpi::kConst_MPI_REQUEST_NULL : word);
    }
    i = end;
  }
  e.end_bytes(reinterpret_cast<char*>(out));
}

void RequestSnapshot::encode_requests(Encoder& e) const {
  if (count_ > kInline) {
    uint64_t all = 0;
    for (int i = 0; i < count_; ++i) all |= words_[i];
    if ((all & kLeftOut) == 0) return encode_many(e);
  }
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
  const RequestEntry* r = entries_[i];
  const bool message = r != nullptr && (r->traits.is_receive || r->traits.generalized);
  if (with_error) {
    e.tag_byte(Tag::kStatusError);
    if (message && status.MPI_ERROR != MPI_ERR_PENDING)
      e.message(status.MPI_SOURCE, status.MPI_TAG);
    else
      e.none(), e.none();
    return e.integer(status.MPI_ERROR);
  }
  if (is_null(i) || (r != nullptr && is_idle(*r))) return e.tag_byte(Tag::kStatusEmpty);
  if (!message) return e.none();
  const bool as_posted = r->traits.is_receive && !r->traits.wildcard &&
                         status.MPI_SOURCE == r->traits.source && status.MPI_TAG == r->traits.tag;
  if (as_posted) return e.tag_byte(Tag::kStatusAsPosted);
  e.tag_byte(Tag::kStatus);
  e.message(status.MPI_SOURCE, status.MPI_TAG);
}

void RequestSnapshot::encode_matched(Encoder& e, int i, const MPI_Status& status) const {
  if (!is_wildcard(i)) return e.none();
  e.tag_byte(Tag::kMatched);
  e.message(status.MPI_SOURCE, status.MPI_TAG);
}

void RequestSnapshot::forget(int i) {
  if (entries_[i] == nullptr) return;
  RequestEntry& r = *std::exchange(entries_[i], nullptr);
  --left_;
  if (is_own(r)) {
    OwnLane own(lane_);
    return own->remove(r);
  }
  AllLanes all(lane_);
  all.table_of(r).remove(r);
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
