// Wait*, Test*: requests as they were before the call, statuses as they are after it.
#include "hand.h"
#include "mpi/constant_ids.h"
#include "tracer/completion.h"

namespace refrain::tracer::hand {

namespace {

// One completed request and its status, or the message that a wildcard receive took when the
// program does not want the status.
void one_status(Encoder& e, const RequestSnapshot& requests, int i, const MPI_Status* given,
                const MPI_Status* used) {
  if (given != MPI_STATUS_IGNORE) return requests.encode_status(e, i, *used, false);
  if (requests.is_wildcard(i) && used != MPI_STATUS_IGNORE)
    return requests.encode_matched(e, i, *used);
  e.constant(mpi::kConst_MPI_STATUS_IGNORE);
}

// The statuses of several requests: element k belongs to request index(k).
template <class Index>
void many_statuses(Encoder& e, const RequestSnapshot& requests, int n, const MPI_Status* given,
                   const MPI_Status* used, bool in_status, Index index) {
  if (given == MPI_STATUSES_IGNORE) {
    bool any = false;
    for (int k = 0; k < n && !any; ++k) any = requests.is_wildcard(index(k));
    if (!any || used == MPI_STATUSES_IGNORE) return e.constant(mpi::kConst_MPI_STATUSES_IGNORE);
    e.tag_byte(Tag::kMatchedArray);
    e.varint(static_cast<uint64_t>(n));
    for (int k = 0; k < n; ++k) requests.encode_matched(e, index(k), used[k]);
    return;
  }
  e.begin_array(n);
  for (int k = 0; k < n; ++k) {
    e.begin_element();
    requests.encode_status(e, index(k), used[k], in_status);
    e.end_element();
  }
  e.end_array();
}

// True when the statuses tell per request what went wrong.
bool is_error_in_status(int rc) {
  return rc == MPI_ERR_IN_STATUS || error_class(rc) == MPI_ERR_IN_STATUS;
}

int same(int k) { return k; }

}  // namespace

int MPI_Wait(CallScope& scope, decltype(&::MPI_Wait) real, MPI_Request* request,
             MPI_Status* status) {
  if (request == nullptr)
    return scope.process().lose(kNullArgument, "MPI_Wait"), real(request, status);
  RequestSnapshot requests(scope.process(), request, 1);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(request, used);
  scope.end();
  uint64_t words[1];
  const bool short_way =
      rc == MPI_SUCCESS && status == MPI_STATUS_IGNORE && requests.words(words, 1);
  if (short_way && scope.repeats(words, 1)) return requests.settle(0, *request, true), rc;
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  if (rc == MPI_SUCCESS)
    one_status(e, requests, 0, status, used);
  else
    status_after_error(e, status);
  requests.settle(0, *request, rc == MPI_SUCCESS);
  scope.commit();
  if (short_way) scope.memorise(words, 1);
  return rc;
}

int MPI_Test(CallScope& scope, decltype(&::MPI_Test) real, MPI_Request* request, int* flag,
             MPI_Status* status) {
  if (request == nullptr)
    return scope.process().lose(kNullArgument, "MPI_Test"), real(request, flag, status);
  RequestSnapshot requests(scope.process(), request, 1);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(request, flag, used);
  scope.end();
  const bool done = rc == MPI_SUCCESS && *flag != 0;
  // Polling: nothing has happened yet.
  const uint64_t words[] = {requests.word_of(0), status == MPI_STATUS_IGNORE};
  const bool short_way = rc == MPI_SUCCESS && !done;
  if (short_way && scope.repeats(words, 2)) return rc;
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  if (done)
    one_status(e, requests, 0, status, used);
  else
    status_after_error(e, status);
  requests.settle(0, *request, done);
  scope.commit();
  if (short_way) scope.memorise(words, 2);
  return rc;
}

int MPI_Request_get_status(CallScope& scope, decltype(&::MPI_Request_get_status) real,
                           MPI_Request request, int* flag, MPI_Status* status) {
  RequestSnapshot requests(scope.process(), &request, 1);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(request, flag, used);
  scope.end();
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  if (rc == MPI_SUCCESS && *flag != 0)
    one_status(e, requests, 0, status, used);
  else
    status_after_error(e, status);
  scope.commit();
  return rc;
}

int MPI_Waitall(CallScope& scope, decltype(&::MPI_Waitall) real, int count, MPI_Request array[],
                MPI_Status* statuses) {
  RequestSnapshot requests(scope.process(), array, count);
  StatusRoom room;
  const bool substitute = statuses == MPI_STATUSES_IGNORE && requests.has_wildcard();
  MPI_Status* used = substitute ? room.get(count) : statuses;
  scope.begin();
  const int rc = real(count, array, used);
  scope.end();
  uint64_t words[CallMemo::kMaxWords];
  const bool short_way = rc == MPI_SUCCESS && statuses == MPI_STATUSES_IGNORE &&
                         requests.count() == count && requests.words(words, CallMemo::kMaxWords);
  if (short_way && scope.repeats(words, static_cast<size_t>(count))) {
    for (int i = 0; i < count; ++i) requests.settle(i, array[i], true);
    return rc;
  }
  const bool in_status = rc != MPI_SUCCESS && is_error_in_status(rc);
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  if (rc == MPI_SUCCESS || (in_status && used != MPI_STATUSES_IGNORE))
    many_statuses(e, requests, requests.count(), statuses, used, in_status, same);
  else
    statuses_after_error(e, statuses);
  for (int i = 0; i < requests.count(); ++i) requests.settle(i, array[i], rc == MPI_SUCCESS);
  scope.commit();
  if (short_way) scope.memorise(words, static_cast<size_t>(count));
  return rc;
}

int MPI_Testall(CallScope& scope, decltype(&::MPI_Testall) real, int count, MPI_Request array[],
                int* flag, MPI_Status* statuses) {
  RequestSnapshot requests(scope.process(), array, count);
  StatusRoom room;
  const bool substitute = statuses == MPI_STATUSES_IGNORE && requests.has_wildcard();
  MPI_Status* used = substitute ? room.get(count) : statuses;
  scope.begin();
  const int rc = real(count, array, flag, used);
  scope.end();
  const bool in_status = rc != MPI_SUCCESS && is_error_in_status(rc);
  const bool done = rc == MPI_SUCCESS && *flag != 0;
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  if (done || (in_status && used != MPI_STATUSES_IGNORE))
    many_statuses(e, requests, requests.count(), statuses, used, in_status, same);
  else
    statuses_after_error(e, statuses);
  for (int i = 0; i < requests.count(); ++i) requests.settle(i, array[i], done);
  scope.commit();
  return rc;
}

int MPI_Waitany(CallScope& scope, decltype(&::MPI_Waitany) real, int count, MPI_Request array[],
                int* index, MPI_Status* status) {
  RequestSnapshot requests(scope.process(), array, count);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(count, array, index, used);
  scope.end();
  const bool chosen = rc == MPI_SUCCESS && *index >= 0 && *index < requests.count();
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  rc == MPI_SUCCESS ? e.undefined_or(*index) : e.none();
  if (chosen)
    one_status(e, requests, *index, status, used);
  else
    nothing_completed(e, status, rc == MPI_SUCCESS);
  if (chosen) requests.settle(*index, array[*index], true);
  scope.commit();
  return rc;
}

int MPI_Testany(CallScope& scope, decltype(&::MPI_Testany) real, int count, MPI_Request array[],
                int* index, int* flag, MPI_Status* status) {
  RequestSnapshot requests(scope.process(), array, count);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(count, array, index, flag, used);
  scope.end();
  const bool done = rc == MPI_SUCCESS && *flag != 0;
  const bool chosen = done && *index >= 0 && *index < requests.count();
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  rc == MPI_SUCCESS ? e.undefined_or(*index) : e.none();
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  if (chosen)
    one_status(e, requests, *index, status, used);
  else
    nothing_completed(e, status, done);
  if (chosen) requests.settle(*index, array[*index], true);
  scope.commit();
  return rc;
}

namespace {

// Waitsome and Testsome differ in their names only.
template <class Real>
int some(CallScope& scope, Real real, int incount, MPI_Request array[], int* outcount,
         int indices[], MPI_Status statuses[]) {
  RequestSnapshot requests(scope.process(), array, incount);
  StatusRoom room;
  const bool substitute = statuses == MPI_STATUSES_IGNORE && requests.has_wildcard();
  MPI_Status* used = substitute ? room.get(incount) : statuses;
  scope.begin();
  const int rc = real(incount, array, outcount, indices, used);
  scope.end();
  const bool in_status = rc != MPI_SUCCESS && is_error_in_status(rc);
  const bool known = rc == MPI_SUCCESS || in_status;
  const int n = known && *outcount != MPI_UNDEFINED ? *outcount : 0;
  Encoder& e = scope.encoder(rc);
  e.integer(incount);
  requests.encode_requests(e);
  known ? e.undefined_or(*outcount) : e.none();
  known ? e.int_array(indices, n) : e.none();
  if (rc == MPI_SUCCESS || (in_status && used != MPI_STATUSES_IGNORE))
    many_statuses(e, requests, n, statuses, used, in_status, [&](int k) { return indices[k]; });
  else
    statuses_after_error(e, statuses);
  for (int k = 0; k < n; ++k) requests.settle(indices[k], array[indices[k]], rc == MPI_SUCCESS);
  scope.commit();
  return rc;
}

}  // namespace

int MPI_Waitsome(CallScope& scope, decltype(&::MPI_Waitsome) real, int incount, MPI_Request array[],
                 int* outcount, int indices[], MPI_Status statuses[]) {
  return some(scope, real, incount, array, outcount, indices, statuses);
}

int MPI_Testsome(CallScope& scope, decltype(&::MPI_Testsome) real, int incount, MPI_Request array[],
                 int* outcount, int indices[], MPI_Status statuses[]) {
  return some(scope, real, incount, array, outcount, indices, statuses);
}

int MPI_Request_free(CallScope& scope, decltype(&::MPI_Request_free) real, MPI_Request* request) {
  if (request == nullptr)
    return scope.process().lose(kNullArgument, "MPI_Request_free"), real(request);
  RequestSnapshot requests(scope.process(), request, 1);
  scope.begin();
  const int rc = real(request);
  scope.end();
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  if (rc == MPI_SUCCESS) requests.forget(0);
  scope.commit();
  return rc;
}

int MPI_Start(CallScope& scope, decltype(&::MPI_Start) real, MPI_Request* request) {
  if (request == nullptr) return scope.process().lose(kNullArgument, "MPI_Start"), real(request);
  RequestSnapshot requests(scope.process(), request, 1);
  scope.begin();
  const int rc = real(request);
  scope.end();
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  if (rc == MPI_SUCCESS) requests.activate(0);
  scope.commit();
  return rc;
}

int MPI_Startall(CallScope& scope, decltype(&::MPI_Startall) real, int count, MPI_Request array[]) {
  RequestSnapshot requests(scope.process(), array, count);
  scope.begin();
  const int rc = real(count, array);
  scope.end();
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  if (rc == MPI_SUCCESS)
    for (int i = 0; i < requests.count(); ++i) requests.activate(i);
  scope.commit();
  return rc;
}

}  // namespace refrain::tracer::hand
