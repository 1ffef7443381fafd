// Completion of requests: identifies the requests of a call before it, and reads their statuses
// after it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "mpi_runtime/queries.h"
#include "tracer/filter/control.h"
#include "tracer/requests/request_lanes.h"
#include "tracer/state/process.h"
#include "tracer/wrap/call_scope.h"

namespace refrain::tracer {

// The message that a status speaks of, as a word of CallScope::repeats().
inline uint64_t message_word(const MPI_Status& status) {
  return uint64_t{static_cast<uint32_t>(status.MPI_SOURCE)} << 32 |
         static_cast<uint32_t>(status.MPI_TAG);
}

// The requests of one Wait*/Test* call, looked up before it: afterwards the handles are gone.
// Budget: 25 instructions for a request that is found, 35 for one that is over.
class RequestSnapshot {
 public:
  // Under a filter, a call none of whose requests was recorded is left out.
  RequestSnapshot(CallScope& scope, const MPI_Request* requests, int count)
      : lane_(*scope.location().requests), count_(requests == nullptr || count < 0 ? 0 : count) {
    if (count_ > kInline) [[unlikely]] {
      if (look_into_array(requests)) return;
      make_room();
    }
    if (lane_.has_neighbours) [[unlikely]]
      look_up_beside_others(requests);
    else  // without an array count_ is 0
      for (int i = 0; i < count_; ++i)
        look_up(i, requests[i], &requests[i]);  // NOLINT(clang-analyzer-core.NonNullParamChecker)
    if (control().filters) [[unlikely]]
      leave_out_if_filtered(scope);
  }
  ~RequestSnapshot() {
    if (left_ > 0) leave();
  }
  RequestSnapshot(const RequestSnapshot&) = delete;
  RequestSnapshot& operator=(const RequestSnapshot&) = delete;

  int count() const { return count_; }
  // Some active receive was posted with a wildcard, or its size decides: what comes must be asked.
  bool has_wildcard() const { return asks_ != 0; }

  // What stands for the requests in CallScope::repeats(): what each is, and whether it is idle, and
  // room for a word of each status and kMoreWords behind. Of an array that is polled one word, with
  // room for kMoreWords.
  static constexpr int kMoreWords = 4;
  struct MemoWords {
    uint64_t* words;
    size_t count;
    bool usable;  // not too many for a memo
  };
  MemoWords memo_words() {
    if (count_ > kInline) [[unlikely]]
      return memo_words_of_many();
    return {words_, static_cast<size_t>(count_), true};
  }
  // Its words have no room for those of statuses.
  bool is_polled_array() const { return count_ > kInline && array_ != nullptr; }
  // What the status of request i, now that it is complete, adds to that.
  uint64_t status_word(int i, const MPI_Status& status) const {
    const RequestEntry* r = entries_[i];
    if (r == nullptr) return 0;
    // Without the lock: another thread may just be noting that this one is indexed.
    const uint8_t state = __atomic_load_n(&r->state, __ATOMIC_RELAXED);
    if ((state & RequestEntry::kMessage) == 0) return 0;
    if ((state & RequestEntry::kSpecial) != 0 && is_idle(*r)) [[unlikely]]
      return 0;
    return message_word(status);
  }

  void encode_request(Encoder& e, int i) const;
  void encode_requests(Encoder& e) const;
  // The same of MPI_Startall: what the filter by size leaves out is not named, as it would count as
  // a message.
  void encode_started(Encoder& e) const;
  // The status that request i completed with. with_error: it says for itself what went wrong
  // (MPI_ERR_IN_STATUS).
  void encode_status(Encoder& e, int i, const MPI_Status& status, bool with_error) const;
  // For a status that the program ignores: the message of a wildcard receive, else none.
  void encode_matched(Encoder& e, int i, const MPI_Status& status) const;

  // ---- under the filter by size (message_size.cc) ----
  // Some request is a receive whose size decides: then the statuses are needed.
  bool has_held() const { return (asks_ & kHeld) != 0; }
  // What request i, which is complete, has received. `code`: what is said of errors.
  void learn_size(int i, const MPI_Status& status, int code);
  // The call is kept if one of its requests is, so it may have to wait. `now`: the handles after
  // the call; null: it ends none of them.
  void follow_sizes(CallScope& scope, const MPI_Request* now);
  // MPI_Start: receives are under way.
  void start_sizes(CallScope& scope, int rc);

  bool is_wildcard(int i) const {
    const RequestEntry* r = entries_[i];
    return r != nullptr && r->traits.wildcard && !is_idle(*r);
  }
  // Forgets request i if it is over: its handle is null now, or it is persistent and inactive
  // again. To be called after whatever is encoded of it.
  void settle(int i, const MPI_Request& now, bool completed) {
    if (entries_[i] == nullptr) return;
    if (lane_.has_neighbours) [[unlikely]]
      return settle_beside_others(i, i + 1, &now, completed);
    if (count_ > kInline) [[unlikely]]
      return settle_of_many(i, now, completed);
    settle_known(lane_.table, i, now, completed);
  }
  // The same for all of an array.
  void settle_all(const MPI_Request* now, bool completed) {
    if (lane_.has_neighbours) [[unlikely]]
      return settle_beside_others(0, count_, now, completed);
    if (count_ > kInline) [[unlikely]] {
      for (int i = 0; i < count_; ++i)
        if (entries_[i] != nullptr) settle_of_many(i, now[i], completed);
      return;
    }
    for (int i = 0; i < count_; ++i)
      if (entries_[i] != nullptr) settle_known(lane_.table, i, now[i], completed);
  }
  void activate(int i) {  // MPI_Start
    if (entries_[i] != nullptr) set_active(*entries_[i], true);
  }
  void forget(int i);  // MPI_Request_free

 private:
  static constexpr int kInline = 16;
  static constexpr uint8_t kWildcard = 1, kHeld = 2;
  static constexpr uint64_t kVersionBit = uint64_t{1} << 63;  // no word of a request has it

  static constexpr bool is_for_memo(size_t count) {
    return 2 * count + kMoreWords <= CallMemo::kMaxWords;
  }
  void look_up(int i, const MPI_Request& request, const void* variable) {
    RequestEntry* r = nullptr;
    uint64_t word = request_word::kNull;
    if (request != MPI_REQUEST_NULL) {
      word = request_word::kUnknown;
      r = lane_.table.find_and_claim(handle_key(request), variable);
      if (r != nullptr) {
        ++left_;
        word = r->terminal;
        if (r->is(RequestEntry::kSpecial)) [[unlikely]]
          word |= look_at_special(*r);
      }
    }
    entries_[i] = r;
    words_[i] = word;
  }
  uint64_t look_at_special(const RequestEntry& r) {
    if (is_idle(r)) return request_word::kIdle;
    if (r.traits.wildcard) asks_ |= kWildcard;
    return 0;
  }
  static bool is_idle(const RequestEntry& r) { return r.traits.persistent && !r.active; }
  void settle_known(RequestTable& table, int i, const MPI_Request& now, bool completed) {
    RequestEntry& r = *entries_[i];
    if (r.is(RequestEntry::kSpecial) && r.traits.persistent) [[unlikely]] {
      if (completed) set_active(r, false);
    } else if (now == MPI_REQUEST_NULL) {
      table.remove(r);
      entries_[i] = nullptr;
      --left_;
    }
  }
  // An array that knows the request as it was looks at it again.
  void set_active(RequestEntry& r, bool active) {
    r.active = active;
    if (r.is(RequestEntry::kListed)) [[unlikely]]
      lane_.table.unlist(r);
  }
  // Many requests: see request_array.h. False: each is to be looked up.
  bool look_into_array(const MPI_Request* requests);
  void leave();
  MemoWords memo_words_of_many();
  void settle_of_many(int i, const MPI_Request& now, bool completed);
  bool is_null(int i) const { return words_[i] == request_word::kNull; }
  // The same where other threads have lanes of their own; the first of `now` is that of `begin`.
  void look_up_beside_others(const MPI_Request* requests);
  void look_up_elsewhere(const MPI_Request* requests);
  // `r` is claimed, or null; then `word` says why.
  void note(int i, RequestEntry* r, uint64_t word);
  bool claim_own(int i, const MPI_Request& request, const void* variable);
  void settle_beside_others(int begin, int end, const MPI_Request* now, bool completed);
  bool is_own(const RequestEntry& r) const { return r.lane == lane_.number; }
  void give_back();
  void encode_many(Encoder& e) const;
  void make_room();
  void leave_out_if_filtered(CallScope& scope);
  bool knows_held() const;

  RequestLane& lane_;
  // Of more than kInline only, where the first line of the constructor sets them.
  RequestArray* array_;       // that has what follows, if it is polled; else null
  const MPI_Request* given_;  // where the program has them, if there may be an array; else null
  int count_;
  int left_ = 0;                              // entries that are claimed; 1 of an array
  uint8_t asks_ = 0;                          // kWildcard, kHeld
  RequestEntry** entries_ = inline_entries_;  // claimed ones; null: none, or over
  uint64_t* words_ = inline_words_;
  std::unique_ptr<char[]> heap_;
  RequestEntry* inline_entries_[kInline];
  uint64_t inline_words_[2 * kInline + kMoreWords];
};

// A call whose handle pointer is NULL: the MPI library's error to report, and nothing to look up.
// It is passed on and counted as lost under this reason.
inline constexpr const char* kNullArgument = "null_argument";

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
    heap_ = std::make_unique_for_overwrite<MPI_Status[]>(static_cast<size_t>(n));
    return heap_.get();
  }

 private:
  static constexpr int kInline = 16;
  MPI_Status inline_[kInline];
  std::unique_ptr<MPI_Status[]> heap_;
};

}  // namespace refrain::tracer
