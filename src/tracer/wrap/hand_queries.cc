// Requests that are looked at and stay (MPI_Request_get_status*), and those that MPICH completes
// when the queue of a stream comes to it.
#include <tuple>

#include "hand.h"
#include "mpi/constant_ids.h"
#include "tracer/wrap/hand_statuses.h"
#include "tracer/wrap/learn_sizes.h"

namespace refrain::tracer::hand {

int MPI_Request_get_status(CallScope& scope, decltype(&::MPI_Request_get_status) real,
                           MPI_Request request, int* flag, MPI_Status* status) {
  RequestSnapshot requests(scope, &request, 1);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(request, flag, used);
  scope.end();
  learn_sizes(scope, requests, rc, rc == MPI_SUCCESS && *flag != 0 ? 1 : 0, used, nullptr, same);
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

#ifdef REFRAIN_HAS_MPI_Request_get_status_all

namespace {

// Whether the array is const differs between MPIs.
template <class F>
struct ArgumentsOf;
template <class R, class... A>
struct ArgumentsOf<R (*)(A...)> {
  using Types = std::tuple<A...>;
};
using RequestArray =
    std::tuple_element_t<1, ArgumentsOf<decltype(&::MPI_Request_get_status_all)>::Types>;

}  // namespace

int MPI_Request_get_status_all(CallScope& scope, decltype(&::MPI_Request_get_status_all) real,
                               int count, RequestArray array, int* flag, MPI_Status* statuses) {
  RequestSnapshot requests(scope, array, count);
  StatusRoom room;
  const bool substitute = statuses == MPI_STATUSES_IGNORE && requests.has_wildcard();
  MPI_Status* used = substitute ? room.get(count) : statuses;
  scope.begin();
  const int rc = real(count, array, flag, used);
  scope.end();
  const bool done = rc == MPI_SUCCESS && *flag != 0;
  learn_sizes(scope, requests, rc, done ? requests.count() : 0, used, nullptr, same);
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  if (done)
    many_statuses(e, requests, requests.count(), statuses, used, false, same);
  else
    statuses_after_error(e, statuses);
  scope.commit();
  return rc;
}

int MPI_Request_get_status_any(CallScope& scope, decltype(&::MPI_Request_get_status_any) real,
                               int count, RequestArray array, int* index, int* flag,
                               MPI_Status* status) {
  RequestSnapshot requests(scope, array, count);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(count, array, index, flag, used);
  scope.end();
  const bool done = rc == MPI_SUCCESS && *flag != 0;
  const bool chosen = done && *index >= 0 && *index < requests.count();
  learn_sizes(scope, requests, rc, chosen ? 1 : 0, used, nullptr, [&](int) { return *index; });
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  done ? e.undefined_or(*index) : e.none();
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  if (chosen)
    one_status(e, requests, *index, status, used);
  else
    nothing_completed(e, status, done);
  scope.commit();
  return rc;
}

int MPI_Request_get_status_some(CallScope& scope, decltype(&::MPI_Request_get_status_some) real,
                                int incount, RequestArray array, int* outcount, int indices[],
                                MPI_Status statuses[]) {
  RequestSnapshot requests(scope, array, incount);
  StatusRoom room;
  const bool substitute = statuses == MPI_STATUSES_IGNORE && requests.has_wildcard();
  MPI_Status* used = substitute ? room.get(incount) : statuses;
  scope.begin();
  const int rc = real(incount, array, outcount, indices, used);
  scope.end();
  const int n = rc == MPI_SUCCESS && *outcount != MPI_UNDEFINED ? *outcount : 0;
  const auto index = [&](int k) { return indices[k]; };
  learn_sizes(scope, requests, rc, n, used, nullptr, index);
  Encoder& e = scope.encoder(rc);
  e.integer(incount);
  requests.encode_requests(e);
  rc == MPI_SUCCESS ? e.undefined_or(*outcount) : e.none();
  rc == MPI_SUCCESS ? e.int_array(indices, n) : e.none();
  if (rc == MPI_SUCCESS)
    many_statuses(e, requests, n, statuses, used, false, index);
  else
    statuses_after_error(e, statuses);
  scope.commit();
  return rc;
}

#endif

#ifdef REFRAIN_HAS_MPIX_Wait_enqueue

// The status is written when the stream comes to it: nothing is known of it here.
int MPIX_Wait_enqueue(CallScope& scope, decltype(&::MPIX_Wait_enqueue) real, MPI_Request* request,
                      MPI_Status* status) {
  if (request == nullptr)
    return scope.process().lose(kNullArgument, "MPIX_Wait_enqueue"), real(request, status);
  RequestSnapshot requests(scope, request, 1);
  scope.begin();
  const int rc = real(request, status);
  scope.end();
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  status_after_error(e, status);
  requests.settle(0, *request, rc == MPI_SUCCESS);
  scope.commit();
  return rc;
}

int MPIX_Waitall_enqueue(CallScope& scope, decltype(&::MPIX_Waitall_enqueue) real, int count,
                         MPI_Request array[], MPI_Status* statuses) {
  RequestSnapshot requests(scope, array, count);
  scope.begin();
  const int rc = real(count, array, statuses);
  scope.end();
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  statuses_after_error(e, statuses);
  requests.settle_all(array, rc == MPI_SUCCESS);
  scope.commit();
  return rc;
}

#endif

}  // namespace refrain::tracer::hand
