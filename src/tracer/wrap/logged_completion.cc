// Wait*, Test* and their like while a message log is written: what is complete has filled its
// memory.
//
// Laws: the requests are looked up before the call, as their handles are gone behind it: another
// thread may have been given the same ones by then. Operations are forgotten when they are over.
#include <algorithm>
#include <vector>

#include "logged_hand.h"
#include "mpi/call_ids.h"
#include "tracer/wrap/learn_sizes.h"
#include "tracer/wrap/logged_call.h"

namespace refrain::tracer::logged_by_hand {

namespace {

// Some of something: without an allocation where they are few.
template <class T>
class Few {
 public:
  void add(const T& one) {
    if (size_ == kFew) more_.assign(few_, few_ + kFew);
    if (size_ < kFew)
      few_[size_] = one;
    else
      more_.push_back(one);
    ++size_;
  }
  // Place for `n`, which are not initialised.
  T* make(size_t n) {
    if (n > kFew) more_.resize(n);
    size_ = n;
    return n > kFew ? more_.data() : few_;
  }
  T* data() { return size_ > kFew ? more_.data() : few_; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kFew = 16;
  T few_[kFew];
  size_t size_ = 0;
  std::vector<T> more_;
};

// The operations of a call's requests that fill memory.
class PostedOnes {
 public:
  PostedOnes(LoggedCall& call, const MPI_Request* requests, int count, bool only_active = true)
      : call_(call) {
    if (!call || requests == nullptr || count <= 0) return;
    RankLog& log = call.log();
    const SharedLock lock(log.mutex, call.has_threads());
    if (log.posted.empty()) return;
    for (int i = 0; i < count; ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      const uint64_t key = handle_key(requests[i]);
      Posted* const p = log.posted.find(key, &requests[i]);
      if (p == nullptr || (only_active && !p->active)) continue;
      p->is_claimed = call.has_threads();
      found_.add({i, key, p});
    }
  }
  PostedOnes(const PostedOnes&) = delete;
  PostedOnes& operator=(const PostedOnes&) = delete;
  ~PostedOnes() { let_go(); }

  // Request i is complete. `code`: what is said of errors; `now`: the handle behind the call.
  void complete(int i, const MPI_Status& status, int code, const MPI_Request& now) {
    Found* const end = found_.data() + found_.size();
    Found* const at = std::lower_bound(found_.data(), end, i,
                                       [](const Found& f, int index) { return f.index < index; });
    if (at == end || at->index != i || at->posted == nullptr)
      return call_.status_of(static_cast<uint64_t>(i), &status);
    call_.completed(static_cast<uint64_t>(i), *at->posted, status, code);
    settle(*at, now);
  }

  // The first request is no longer the program's. True: what fills memory goes on.
  bool forget_first() {
    if (found_.size() == 0 || found_.data()->posted == nullptr) return false;
    Found& f = *found_.data();
    const bool was_active = f.posted->active && !f.posted->is_kept;
    remove(f);
    return was_active;
  }

 private:
  struct Found {
    int index;
    uint64_t key;
    Posted* posted;  // null: removed
  };
  void settle(Found& f, const MPI_Request& now) {
    f.posted->active = !f.posted->persistent;
    f.posted->is_kept = false;
    if (!f.posted->persistent && now == MPI_REQUEST_NULL) remove(f);
  }
  void remove(Found& f) {
    const SharedLock lock(call_.log().mutex, call_.has_threads());
    call_.log().posted.remove(f.key, f.posted);
    f.posted = nullptr;
  }
  void let_go() {
    if (found_.size() == 0 || !call_.has_threads()) return;
    const std::scoped_lock lock(call_.log().mutex);
    for (size_t k = 0; k < found_.size(); ++k)
      if (Posted* const p = found_.data()[k].posted; p != nullptr) p->is_claimed = false;
  }

  LoggedCall& call_;
  Few<Found> found_;  // by index
};

// The statuses that MPI is to fill: the program's, or ours where it ignores them.
class Statuses {
 public:
  Statuses(LoggedCall& call, MPI_Status* given, int count) : used_(given) {
    if (!call || given != MPI_STATUSES_IGNORE || count <= 0) return;
    used_ = own_.make(static_cast<size_t>(count));
    call.ignores_statuses();
  }
  MPI_Status* used() { return used_; }
  const MPI_Status& operator[](int k) const { return used_[k]; }
  // What is said of errors of element k.
  int code(int rc, int k) const { return is_error_in_status(rc) ? used_[k].MPI_ERROR : rc; }

 private:
  MPI_Status* used_;
  Few<MPI_Status> own_;
};

// A call that completed the requests `index(k)`, k below n.
template <class Index>
void complete_all(PostedOnes& posted, const Statuses& statuses, int rc, int n,
                  const MPI_Request* now, Index index) {
  for (int k = 0; k < n; ++k) {
    const int code = rc == MPI_SUCCESS ? rc : statuses.code(rc, k);
    if (code != MPI_SUCCESS && mpi_runtime::error_class(code) == MPI_ERR_PENDING) continue;
    posted.complete(index(k), statuses[k], code, now[index(k)]);
  }
}

bool is_over(int rc) { return rc == MPI_SUCCESS || is_error_in_status(rc); }

// Of a call with one status: the program's message was perhaps too long.
bool is_over_one(int rc) {
  return rc == MPI_SUCCESS || mpi_runtime::error_class(rc) == MPI_ERR_TRUNCATE;
}

}  // namespace

int MPI_Wait(decltype(RealFunctions::MPI_Wait) real, MPI_Request* request, MPI_Status* status) {
  if (LoggedCall::has_nothing(status)) return real(request, status);
  LoggedCall call(mpi::kMPI_Wait);
  if (!call) return real(request, status);
  PostedOnes posted(call, request, 1);
  MPI_Status* const used = call.status(status);
  const int rc = real(request, used);
  call.returned();
  if (is_over_one(rc)) posted.complete(0, *used, rc, *request);
  return rc;
}

int MPI_Test(decltype(RealFunctions::MPI_Test) real, MPI_Request* request, int* flag,
             MPI_Status* status) {
  if (LoggedCall::has_nothing(status)) return real(request, flag, status);
  LoggedCall call(mpi::kMPI_Test);
  if (!call) return real(request, flag, status);
  PostedOnes posted(call, request, 1);
  MPI_Status* const used = call.status(status);
  const int rc = real(request, flag, used);
  call.returned();
  if (rc == MPI_SUCCESS ? *flag != 0 : is_over_one(rc)) posted.complete(0, *used, rc, *request);
  return rc;
}

int MPI_Waitall(decltype(RealFunctions::MPI_Waitall) real, int count, MPI_Request array[],
                MPI_Status* statuses) {
  if (LoggedCall::has_nothing(statuses)) return real(count, array, statuses);
  LoggedCall call(mpi::kMPI_Waitall);
  if (!call) return real(count, array, statuses);
  PostedOnes posted(call, array, count);
  Statuses all(call, statuses, count);
  const int rc = real(count, array, all.used());
  call.returned();
  if (is_over(rc)) complete_all(posted, all, rc, count, array, same);
  return rc;
}

int MPI_Testall(decltype(RealFunctions::MPI_Testall) real, int count, MPI_Request array[],
                int* flag, MPI_Status* statuses) {
  LoggedCall call(mpi::kMPI_Testall);
  PostedOnes posted(call, array, count);
  Statuses all(call, statuses, count);
  const int rc = real(count, array, flag, all.used());
  if (!call) return rc;
  call.returned();
  if (rc == MPI_SUCCESS ? *flag != 0 : is_error_in_status(rc))
    complete_all(posted, all, rc, count, array, same);
  return rc;
}

int MPI_Waitany(decltype(RealFunctions::MPI_Waitany) real, int count, MPI_Request array[],
                int* index, MPI_Status* status) {
  LoggedCall call(mpi::kMPI_Waitany);
  PostedOnes posted(call, array, count);
  MPI_Status* const used = call.status(status);
  const int rc = real(count, array, index, used);
  if (!call) return rc;
  call.returned();
  if (is_over_one(rc) && *index >= 0 && *index < count)
    posted.complete(*index, *used, rc, array[*index]);
  return rc;
}

int MPI_Testany(decltype(RealFunctions::MPI_Testany) real, int count, MPI_Request array[],
                int* index, int* flag, MPI_Status* status) {
  LoggedCall call(mpi::kMPI_Testany);
  PostedOnes posted(call, array, count);
  MPI_Status* const used = call.status(status);
  const int rc = real(count, array, index, flag, used);
  if (!call) return rc;
  call.returned();
  const bool done = rc == MPI_SUCCESS ? *flag != 0 : is_over_one(rc);
  if (done && *index >= 0 && *index < count) posted.complete(*index, *used, rc, array[*index]);
  return rc;
}

namespace {

// Waitsome and Testsome.
template <class Real>
int some(LoggedCall& call, Real real, int incount, MPI_Request array[], int* outcount,
         int indices[], MPI_Status statuses[]) {
  PostedOnes posted(call, array, incount);
  Statuses all(call, statuses, incount);
  const int rc = real(incount, array, outcount, indices, all.used());
  if (!call) return rc;
  call.returned();
  if (is_over(rc) && *outcount != MPI_UNDEFINED)
    complete_all(posted, all, rc, *outcount, array, [&](int k) { return indices[k]; });
  return rc;
}

}  // namespace

int MPI_Waitsome(decltype(RealFunctions::MPI_Waitsome) real, int incount, MPI_Request array[],
                 int* outcount, int indices[], MPI_Status statuses[]) {
  LoggedCall call(mpi::kMPI_Waitsome);
  return some(call, real, incount, array, outcount, indices, statuses);
}

int MPI_Testsome(decltype(RealFunctions::MPI_Testsome) real, int incount, MPI_Request array[],
                 int* outcount, int indices[], MPI_Status statuses[]) {
  LoggedCall call(mpi::kMPI_Testsome);
  return some(call, real, incount, array, outcount, indices, statuses);
}

// The request stays, and what it has filled is the program's to read from now on.
int MPI_Request_get_status(decltype(RealFunctions::MPI_Request_get_status) real,
                           MPI_Request request, int* flag, MPI_Status* status) {
  LoggedCall call(mpi::kMPI_Request_get_status);
  MPI_Status* const used = call.status(status);
  const int rc = real(request, flag, used);
  if (!call) return rc;
  call.returned();
  if (rc != MPI_SUCCESS || *flag == 0) return rc;
  Posted* posted = nullptr;
  {
    const SharedLock lock(call.log().mutex, call.has_threads());
    posted = call.log().posted.find(handle_key(request), nullptr);
  }
  if (posted == nullptr || !posted->active) return call.status_of(0, used), rc;
  call.completed(0, *posted, *used, rc);
  posted->is_kept = true;
  return rc;
}

namespace {

void start(LoggedCall& call, const MPI_Request* requests, int count) {
  RankLog& log = call.log();
  const SharedLock lock(log.mutex, call.has_threads());
  for (int i = 0; i < count; ++i) {
    Posted* const p = log.posted.find(handle_key(requests[i]), &requests[i]);
    if (p == nullptr) continue;
    p->active = true;
    p->is_kept = false;
    p->arrived.assign(p->partitions, false);
  }
}

}  // namespace

int MPI_Start(decltype(RealFunctions::MPI_Start) real, MPI_Request* request) {
  LoggedCall call(mpi::kMPI_Start);
  const int rc = real(request);
  if (!call) return rc;
  call.returned();
  if (rc == MPI_SUCCESS) start(call, request, 1);
  return rc;
}

int MPI_Startall(decltype(RealFunctions::MPI_Startall) real, int count, MPI_Request array[]) {
  LoggedCall call(mpi::kMPI_Startall);
  const int rc = real(count, array);
  if (!call) return rc;
  call.returned();
  if (rc == MPI_SUCCESS) start(call, array, count);
  return rc;
}

// A receive that goes on fills its memory at a time that nobody sees.
int MPI_Request_free(decltype(RealFunctions::MPI_Request_free) real, MPI_Request* request) {
  LoggedCall call(mpi::kMPI_Request_free);
  PostedOnes posted(call, request, request == nullptr ? 0 : 1, false);
  const int rc = real(request);
  if (!call) return rc;
  call.returned();
  if (rc == MPI_SUCCESS && posted.forget_first()) call.noted(format::messages::Noted::kFreedActive);
  return rc;
}

#ifdef REFRAIN_HAS_MPI_Parrived
int MPI_Parrived(decltype(RealFunctions::MPI_Parrived) real, MPI_Request request, int partition,
                 int* flag) {
  LoggedCall call(mpi::kMPI_Parrived);
  const int rc = real(request, partition, flag);
  if (!call) return rc;
  call.returned();
  if (rc != MPI_SUCCESS || *flag == 0 || partition < 0) return rc;
  Posted* posted = nullptr;
  {
    const SharedLock lock(call.log().mutex, call.has_threads());
    posted = call.log().posted.find(handle_key(request), nullptr);
  }
  if (posted != nullptr && posted->active) call.arrived(*posted, static_cast<uint64_t>(partition));
  return rc;
}
#endif

}  // namespace refrain::tracer::logged_by_hand
