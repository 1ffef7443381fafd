// Completion of requests: what each request of a call is before it, and what its status says after.
#pragma once

#include <mpi.h>

#include <memory>

#include "tracer/call_scope.h"
#include "tracer/process.h"

namespace refrain::tracer {

// The requests of one Wait*/Test* call, looked up before it: afterwards the handles are gone.
class RequestSnapshot {
 public:
  RequestSnapshot(Process& process, const MPI_Request* requests, int count);
  ~RequestSnapshot();
  RequestSnapshot(const RequestSnapshot&) = delete;
  RequestSnapshot& operator=(const RequestSnapshot&) = delete;

  int count() const { return count_; }
  // Some active receive was posted with a wildcard: which message it takes must be asked for.
  bool has_wildcard() const { return has_wildcard_; }

  // The words that stand for the requests in CallScope::repeats(): false when there are too many,
  // or when what a status says would have to be looked at.
  bool words(uint64_t* out, size_t room) const;
  uint64_t word_of(int i) const;

  void encode_request(Encoder& e, int i) const;
  void encode_requests(Encoder& e) const;
  // The status that request i completed with. with_error: it says for itself what went wrong
  // (MPI_ERR_IN_STATUS).
  void encode_status(Encoder& e, int i, const MPI_Status& status, bool with_error) const;
  // For a status that the program ignores: the message of a wildcard receive, else none.
  void encode_matched(Encoder& e, int i, const MPI_Status& status) const;
  bool is_wildcard(int i) const { return items_[i].wildcard; }
  // Forgets request i if it is over: its handle is null now, or it is persistent and inactive
  // again.
  void settle(int i, const MPI_Request& now, bool completed);
  void activate(int i);  // MPI_Start
  void forget(int i);    // MPI_Request_free

 private:
  struct Item {
    MPI_Request handle = MPI_REQUEST_NULL;
    uint32_t entry = RequestTable::kNone;
    uint32_t terminal = 0;
    int source = 0, tag = 0;
    bool receive = false, wildcard = false, idle = false, generalized = false, persistent = false;
  };
  static constexpr int kInline = 16;

  Process& process_;
  int count_;
  bool has_wildcard_ = false;
  alignas(
      Item) unsigned char inline_[kInline * sizeof(Item)];  // made one by one, as many as there are
  std::unique_ptr<Item[]> heap_;
  Item* items_;
};

// A call whose handle pointer is NULL: the MPI library's error to report, and nothing to look up.
// It is passed on and counted as lost under this reason.
inline constexpr const char* kNullArgument = "null_argument";

// The class of an error code.
int error_class(int rc);
// Status parameters of a call that failed, or that completed nothing (then the status is the empty
// one when `empty`): the constant when the program ignores it, else none.
void status_after_error(Encoder& e, const MPI_Status* given);
void statuses_after_error(Encoder& e, const MPI_Status* given);
void nothing_completed(Encoder& e, const MPI_Status* given, bool empty);

// Room for the statuses of a call whose program ignores them.
class StatusRoom {
 public:
  MPI_Status* get(int n) {
    if (n <= kInline) return inline_;
    heap_ = std::make_unique<MPI_Status[]>(static_cast<size_t>(n));
    return heap_.get();
  }

 private:
  static constexpr int kInline = 16;
  MPI_Status inline_[kInline];
  std::unique_ptr<MPI_Status[]> heap_;
};

}  // namespace refrain::tracer
