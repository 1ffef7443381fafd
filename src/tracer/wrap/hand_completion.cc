// Wait*, Test*: requests as they were before the call, statuses as they are after it.
#include "hand.h"
#include "mpi/constant_ids.h"
#include "tracer/wrap/completion.h"
#include "tracer/wrap/hand_statuses.h"
#include "tracer/wrap/learn_sizes.h"

namespace refrain::tracer::hand {

namespace {

// What CallScope::repeats() compares for a completion: its requests, their statuses and whether the
// program wants them, and what else it said. Not usable when that is too much.
class CompletionWords {
 public:
  CompletionWords(RequestSnapshot& requests, int rc) : requests_(requests) {
    const RequestSnapshot::MemoWords memo = requests.memo_words();
    words_ = memo.words;
    n_ = memo.count;
    usable_ = memo.usable && rc == MPI_SUCCESS;
  }

  // At most RequestSnapshot::kMoreWords in all, two of them a status.
  void add(int64_t word) { words_[n_++] = static_cast<uint64_t>(word); }
  // The status of request i: the program's, and the one that the real call filled.
  void add_status(int i, const MPI_Status* given, const MPI_Status* used) {
    words_[n_++] = used == MPI_STATUS_IGNORE ? 0 : requests_.status_word(i, *used);
    add(given != MPI_STATUS_IGNORE);
  }
  // The same for a call that may have completed nothing: then only whether it wants a status.
  void add_status_if(bool completed, int i, const MPI_Status* given, const MPI_Status* used) {
    completed ? add_status(i, given, used) : add(given != MPI_STATUS_IGNORE);
  }
  void add_statuses(const MPI_Status* given, const MPI_Status* used) {
    if (used != MPI_STATUSES_IGNORE) {
      if (requests_.is_polled_array()) [[unlikely]]
        usable_ = false;
      for (int i = 0; usable_ && i < requests_.count(); ++i)
        words_[n_++] = requests_.status_word(i, used[i]);
    }
    add(given != MPI_STATUSES_IGNORE);
  }
  void give_up() { usable_ = false; }

  bool repeat(CallScope& scope) const {
    return usable_ && (scope.repeats_array(words_, n_) || scope.recurs_array(words_, n_));
  }
  void memorise(CallScope& scope) const {
    if (usable_) scope.memorise_array(words_, n_);
  }

 private:
  RequestSnapshot& requests_;
  uint64_t* words_;
  size_t n_;
  bool usable_;
};

}  // namespace

int MPI_Wait(CallScope& scope, decltype(&::MPI_Wait) real, MPI_Request* request,
             MPI_Status* status) {
  if (request == nullptr)
    return scope.process().lose(kNullArgument, "MPI_Wait"), real(request, status);
  RequestSnapshot requests(scope, request, 1);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(request, used);
  scope.end();
  CompletionWords words(requests, rc);
  words.add_status(0, status, used);
  if (words.repeat(scope)) return requests.settle(0, *request, true), rc;
  learn_sizes(scope, requests, rc, 1, used, request, same);
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  if (rc == MPI_SUCCESS)
    one_status(e, requests, 0, status, used);
  else
    status_after_error(e, status);
  requests.settle(0, *request, rc == MPI_SUCCESS);
  scope.commit();
  words.memorise(scope);
  return rc;
}

int MPI_Test(CallScope& scope, decltype(&::MPI_Test) real, MPI_Request* request, int* flag,
             MPI_Status* status) {
  if (request == nullptr)
    return scope.process().lose(kNullArgument, "MPI_Test"), real(request, flag, status);
  RequestSnapshot requests(scope, request, 1);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(request, flag, used);
  scope.end();
  const bool done = rc == MPI_SUCCESS && *flag != 0;
  CompletionWords words(requests, rc);
  words.add(done);
  words.add_status_if(done, 0, status, used);
  if (words.repeat(scope)) return requests.settle(0, *request, done), rc;
  learn_sizes(scope, requests, rc, done || rc != MPI_SUCCESS ? 1 : 0, used, request, same);
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  if (done)
    one_status(e, requests, 0, status, used);
  else
    status_after_error(e, status);
  requests.settle(0, *request, done);
  scope.commit();
  words.memorise(scope);
  return rc;
}

int MPI_Waitall(CallScope& scope, decltype(&::MPI_Waitall) real, int count, MPI_Request array[],
                MPI_Status* statuses) {
  RequestSnapshot requests(scope, array, count);
  StatusRoom room;
  const bool substitute = statuses == MPI_STATUSES_IGNORE && requests.has_wildcard();
  MPI_Status* used = substitute ? room.get(count) : statuses;
  scope.begin();
  const int rc = real(count, array, used);
  scope.end();
  CompletionWords words(requests, rc);
  words.add_statuses(statuses, used);
  if (words.repeat(scope)) return requests.settle_all(array, true), rc;
  const bool in_status = rc != MPI_SUCCESS && is_error_in_status(rc);
  const int over = rc == MPI_SUCCESS || in_status ? requests.count() : 0;
  learn_sizes(scope, requests, rc, over, used, array, same);
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  if (rc == MPI_SUCCESS || (in_status && used != MPI_STATUSES_IGNORE))
    many_statuses(e, requests, requests.count(), statuses, used, in_status, same);
  else
    statuses_after_error(e, statuses);
  requests.settle_all(array, rc == MPI_SUCCESS);
  scope.commit();
  words.memorise(scope);
  return rc;
}

int MPI_Testall(CallScope& scope, decltype(&::MPI_Testall) real, int count, MPI_Request array[],
                int* flag, MPI_Status* statuses) {
  RequestSnapshot requests(scope, array, count);
  StatusRoom room;
  const bool substitute = statuses == MPI_STATUSES_IGNORE && requests.has_wildcard();
  MPI_Status* used = substitute ? room.get(count) : statuses;
  scope.begin();
  const int rc = real(count, array, flag, used);
  scope.end();
  const bool done = rc == MPI_SUCCESS && *flag != 0;
  CompletionWords words(requests, rc);
  words.add(done);
  if (done)
    words.add_statuses(statuses, used);
  else
    words.add(statuses != MPI_STATUSES_IGNORE);
  // One that says no has changed none of them.
  const bool may_change = done || rc != MPI_SUCCESS;
  if (words.repeat(scope)) return may_change ? requests.settle_all(array, done) : void(), rc;
  const bool in_status = rc != MPI_SUCCESS && is_error_in_status(rc);
  learn_sizes(scope, requests, rc, done || in_status ? requests.count() : 0, used, array, same);
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_requests(e);
  rc == MPI_SUCCESS ? e.integer(*flag) : e.none();
  if (done || (in_status && used != MPI_STATUSES_IGNORE))
    many_statuses(e, requests, requests.count(), statuses, used, in_status, same);
  else
    statuses_after_error(e, statuses);
  if (may_change) requests.settle_all(array, done);
  scope.commit();
  words.memorise(scope);
  return rc;
}

int MPI_Waitany(CallScope& scope, decltype(&::MPI_Waitany) real, int count, MPI_Request array[],
                int* index, MPI_Status* status) {
  RequestSnapshot requests(scope, array, count);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(count, array, index, used);
  scope.end();
  const bool chosen = rc == MPI_SUCCESS && *index >= 0 && *index < requests.count();
  CompletionWords words(requests, rc);
  words.add(rc == MPI_SUCCESS ? *index : 0);
  words.add_status_if(chosen, *index, status, used);
  if (words.repeat(scope)) {
    if (chosen) requests.settle(*index, array[*index], true);
    return rc;
  }
  learn_size(scope, requests, rc, index, used, array);
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
  words.memorise(scope);
  return rc;
}

int MPI_Testany(CallScope& scope, decltype(&::MPI_Testany) real, int count, MPI_Request array[],
                int* index, int* flag, MPI_Status* status) {
  RequestSnapshot requests(scope, array, count);
  MPI_Status own;
  MPI_Status* used = status == MPI_STATUS_IGNORE && requests.has_wildcard() ? &own : status;
  scope.begin();
  const int rc = real(count, array, index, flag, used);
  scope.end();
  const bool done = rc == MPI_SUCCESS && *flag != 0;
  const bool chosen = done && *index >= 0 && *index < requests.count();
  CompletionWords words(requests, rc);
  words.add(rc == MPI_SUCCESS ? *index : 0);
  words.add(done);
  words.add_status_if(chosen, *index, status, used);
  if (words.repeat(scope)) {
    if (chosen) requests.settle(*index, array[*index], true);
    return rc;
  }
  learn_size(scope, requests, rc, index, used, array);
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
  words.memorise(scope);
  return rc;
}

namespace {

const MPI_Status* one_or_ignored(const MPI_Status* statuses) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses;
}

// Waitsome and Testsome differ in their names only.
template <class Real>
int some(CallScope& scope, Real real, int incount, MPI_Request array[], int* outcount,
         int indices[], MPI_Status statuses[]) {
  RequestSnapshot requests(scope, array, incount);
  StatusRoom room;
  const bool substitute = statuses == MPI_STATUSES_IGNORE && requests.has_wildcard();
  MPI_Status* used = substitute ? room.get(incount) : statuses;
  scope.begin();
  const int rc = real(incount, array, outcount, indices, used);
  scope.end();
  const bool in_status = rc != MPI_SUCCESS && is_error_in_status(rc);
  const bool known = rc == MPI_SUCCESS || in_status;
  const int n = known && *outcount != MPI_UNDEFINED ? *outcount : 0;
  CompletionWords words(requests, rc);
  // Nothing yet, or one: several are rarely the same again.
  words.add(known ? *outcount : 0);
  words.add(n == 1 ? indices[0] : 0);
  if (n > 1) words.give_up();
  if (n == 1)
    words.add_status(indices[0], one_or_ignored(statuses), one_or_ignored(used));
  else
    words.add(statuses != MPI_STATUSES_IGNORE);
  if (words.repeat(scope)) {
    for (int k = 0; k < n; ++k) requests.settle(indices[k], array[indices[k]], true);
    return rc;
  }
  learn_sizes(scope, requests, rc, n, used, array, [&](int k) { return indices[k]; });
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
  words.memorise(scope);
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
  RequestSnapshot requests(scope, request, 1);
  scope.begin();
  const int rc = real(request);
  scope.end();
  learn_sizes(scope, requests, rc, 0, nullptr, request, same);
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  if (rc == MPI_SUCCESS) requests.forget(0);
  scope.commit();
  return rc;
}

int MPI_Start(CallScope& scope, decltype(&::MPI_Start) real, MPI_Request* request) {
  if (request == nullptr) return scope.process().lose(kNullArgument, "MPI_Start"), real(request);
  RequestSnapshot requests(scope, request, 1);
  scope.begin();
  const int rc = real(request);
  scope.end();
  const CompletionWords words(requests, rc);
  if (words.repeat(scope)) return requests.activate(0), rc;
  requests.start_sizes(scope, rc);
  Encoder& e = scope.encoder(rc);
  requests.encode_request(e, 0);
  if (rc == MPI_SUCCESS) requests.activate(0);
  scope.commit();
  words.memorise(scope);
  return rc;
}

int MPI_Startall(CallScope& scope, decltype(&::MPI_Startall) real, int count, MPI_Request array[]) {
  RequestSnapshot requests(scope, array, count);
  scope.begin();
  const int rc = real(count, array);
  scope.end();
  const CompletionWords words(requests, rc);
  if (words.repeat(scope)) {
    for (int i = 0; i < requests.count(); ++i) requests.activate(i);
    return rc;
  }
  requests.start_sizes(scope, rc);
  Encoder& e = scope.encoder(rc);
  e.integer(count);
  requests.encode_started(e);
  if (rc == MPI_SUCCESS)
    for (int i = 0; i < requests.count(); ++i) requests.activate(i);
  scope.commit();
  words.memorise(scope);
  return rc;
}

}  // namespace refrain::tracer::hand
