#include "tracer/completion.h"

#include "mpi/constant_ids.h"
#include "real_functions.h"
#include "tracer/left_out.h"

namespace refrain::tracer {

void RequestSnapshot::look_up_guarded(const MPI_Request* requests) {
  Process::Guard guard(process_);
  for (int i = 0; i < count_; ++i) look_up(i, requests[i], &requests[i]);
}

void RequestSnapshot::settle_all_guarded(const MPI_Request* now, bool completed) {
  Process::Guard guard(process_);
  for (int i = 0; i < count_; ++i)
    if (entries_[i] != nullptr) settle_known(i, now[i], completed);
}

void RequestSnapshot::give_back() {
  Process::Guard guard(process_);
  for (int i = count_ - 1; i >= 0; --i)
    if (entries_[i] != nullptr) process_.requests.give_back(*entries_[i]);
}

void RequestSnapshot::make_room() {
  const auto n = static_cast<size_t>(count_), words = 2 * n + kMoreWords;
  heap_ = std::make_unique<char[]>(words * sizeof(uint64_t) + n * sizeof(void*));
  words_ = reinterpret_cast<uint64_t*>(heap_.get());
  entries_ = reinterpret_cast<RequestEntry**>(words_ + words);
}

void RequestSnapshot::leave_out_if_filtered(CallScope& scope) const {
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
  if (r == nullptr) return e.none();
  if ((r->terminal & kLeftOut) == 0) [[likely]]
    return e.request_of(r->terminal);
  Process::Guard guard(process_);
  e.request_of(r->terminal);
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
  const RequestEntry* r = entries_[i];
  const bool message = r != nullptr && (r->traits.is_receive || r->generalized);
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
  const bool as_posted = r->traits.is_receive && !r->wildcard &&
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

void RequestSnapshot::activate(int i) {
  if (entries_[i] == nullptr) return;
  Process::Guard guard(process_);
  entries_[i]->active = true;
}

void RequestSnapshot::forget(int i) {
  if (entries_[i] == nullptr) return;
  Process::Guard guard(process_);
  process_.requests.remove(*entries_[i]);
  entries_[i] = nullptr;
  --left_;
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
