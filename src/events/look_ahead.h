// LookAhead: the calls of a location in order, each wildcard receive with the message that it
// matched.
//
// The message of a nonblocking wildcard receive is known at the call that completes it, but
// messages are matched in the order in which receives were posted. So calls are read ahead until
// the message of the receive at the front is known. Calls wait here only while a wildcard receive
// is open: at most kMost of those that complete or post something, and of all others (unsuccessful
// tests, mostly) kMost, and beyond as many as have room in what the ranks share.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/call_source.h"
#include "events/light_calls.h"
#include "events/op.h"

namespace refrain::events {

struct StagedCall {
  uint64_t seq = 0;
  uint64_t begin_ns = 0, end_ns = 0;
  Op* op = nullptr;
  std::vector<RequestUse> taken;  // what the receives that this call posts took
  uint32_t open = 0;              // ... of how many that is not known yet
};

class LookAhead {
 public:
  static constexpr size_t kMost = 1 << 16;

  // The decoder and the room outlive it.
  LookAhead(std::unique_ptr<CallStream> calls, Decoder& decoder, LightRoom& room)
      : decoder_(decoder), room_(room), calls_(std::move(calls)) {}
  ~LookAhead() { room_.used_bytes -= light_.bytes(); }
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  // False after the last call, or the last of which enough has come.
  bool next(StagedCall& out);
  // Makes call number `seq`, which is further on, the next one. False, and nothing has changed: a
  // receive waits to be told its message, or the source cannot.
  bool skip_to(uint64_t seq);
  // After that: whether it was the last one.
  bool has_ended() const { return calls_ == nullptr; }
  // When the call begins that is here and waits for what it takes; the largest number: none does.
  uint64_t pending_ns() const {
    return staged_.empty() ? UINT64_MAX : staged_.front().call.begin_ns;
  }
  // Asks the memory for what next() needs.
  void prefetch() const { __builtin_prefetch(&fetched_[fetched_at_ % kBatch]); }

 private:
  // A stream lies far apart in memory from that of the next rank, whose turn comes first: so many
  // of its calls are fetched at a time.
  static constexpr size_t kBatch = 16;
  struct Fetched {
    uint64_t seq : 62 = 0;
    uint64_t is_plain : 1 = 0;  // posts no wildcard receive, starts nothing, makes no group
    uint64_t is_light : 1 = 0;  // plain, and completes nothing
    uint64_t begin_ns = 0, end_ns = 0;
    Op* op = nullptr;
  };
  struct Staged {
    StagedCall call;
    uint64_t number = 0;        // of all calls
    uint64_t light_behind = 0;  // so many of light_ come next
  };

  bool fetch();
  static bool is_plain(const Op& op);
  static void take(const Fetched& fetched, StagedCall& out);
  bool read(StagedCall& out);
  bool stage_next();
  void push_light(const Fetched& call);
  bool has_room() const {
    return staged_.size() < kMost && (light_count_ < kMost || room_.used_bytes < room_.most_bytes);
  }
  void give(StagedCall& out);
  uint64_t queued() const { return staged_.size() + light_count_; }
  void expect(StagedCall& staged, RequestUse& use, const MessageEnd& end);
  void resolve(const RequestUse& use);

  Decoder& decoder_;
  LightRoom& room_;
  uint32_t fetched_count_ = 0, fetched_at_ = 0;
  std::array<Fetched, kBatch> fetched_;
  uint64_t first_ = 0;  // number of the front, or of the next call where none is staged
  std::deque<Staged> staged_;
  LightCalls light_;
  uint64_t light_count_ = 0;
  uint64_t light_first_ = 0;               // so many of them are before all that are staged
  uint64_t in_seq_ = 0, in_end_ns_ = 0;    // of the call that came in last
  uint64_t out_seq_ = 0, out_end_ns_ = 0;  // ... that went out last
  std::unordered_map<SignatureId, uint64_t> expected_;  // by request: who posted it
  std::unique_ptr<CallStream> calls_;                   // nullptr after the last call of all
};

}  // namespace refrain::events
