// RankEvents: the calls of one rank, its threads merged by time, and the communication of each
// call.
//
// Ranks and messages are those of the analysis of waiting (analysis/waits): world ranks, wildcard
// receives with the message that they matched, requests with the call that made them. In addition,
// every end of a message has a number on its channel (communicator, sender, receiver, tag). MPI
// matches the n-th send with the n-th receive, so the two ends can be matched without being in
// memory at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "events/by_rank/call_order.h"
#include "events/by_rank/decoded_ranks.h"
#include "events/by_rank/message_ends.h"
#include "events/by_rank/scope.h"
#include "events/look_ahead.h"
#include "events/matching.h"
#include "events/op.h"

namespace refrain::events {

enum class StepKind : uint8_t {
  kSend,  // blocking
  kReceive,
  kPostSend,  // makes, or starts, a request
  kPostReceive,
  kPostCollective,
  kSendDone,  // a request that the call completed
  kReceiveDone,
  kCollectiveDone,
  kTested,     // a request that was still open
  kCancelled,  // a request of a receive that ended without a message
  kFreed,      // a request that the program will not complete
};

// One end of a message, or one request, in a call.
struct Step {
  StepKind kind = StepKind::kSend;
  ChannelKey channel;                  // world ranks; source and dest include this rank
  bool has_message = false;            // false: MPI_PROC_NULL, or nothing is known of it
  bool is_cancelled = false;           // a receive that takes no message, as it will be cancelled
  uint64_t number = 0;                 // of the message on its channel (matching.h), from 0
  uint64_t posted = 0;                 // what MessageEnds names it by while it is not joined
  EndAnswer answer;                    // of MessageEnds, once it is
  uint64_t bytes = 0;                  // sent; of a receive the room for it
  bool is_sized = true;                // the trace tells the bytes
  uint64_t request = 0;                // which request of the rank, from 0; unique
  const Signature* made_by = nullptr;  // the call that made the request, or this one
  const Op* op = nullptr;              // its op
  uint64_t collective = 0;  // of kPostCollective and kCollectiveDone: CollectiveUse::number

  bool begins_send() const { return kind == StepKind::kSend || kind == StepKind::kPostSend; }
  bool begins_receive() const {
    return kind == StepKind::kReceive || kind == StepKind::kPostReceive;
  }
  bool ends_receive() const { return kind == StepKind::kReceive || kind == StepKind::kReceiveDone; }
};

// A collective call: which one of its communicator.
struct CollectiveUse {
  bool is_there = false;
  uint64_t number = 0;  // from 0, in the order in which this rank made them
};

struct Event {
  Rank rank = 0;
  uint32_t thread = 0;
  uint64_t seq = 0;
  uint64_t begin_ns = 0, end_ns = 0;
  const Signature* call = nullptr;
  const Op* op = nullptr;
  std::vector<Step> steps;
  CollectiveUse collective;
  bool in_window = true;
};

class RankEvents {
 public:
  // `world` and `scope` outlive it; every rank of a conversion is given the same world.
  RankEvents(Scope& scope, World& world, Rank rank);
  // With what another walk has decoded of the rank, which is not at work any more.
  RankEvents(Scope& scope, World& world, DecodedRank& decoded);
  ~RankEvents();
  RankEvents(const RankEvents&) = delete;

  // The next call, by begin; nullptr after the last one. Valid until the next use.
  const Event* next();

  // For ranks of one thread, where a program repeats itself. The number of the next call; the
  // largest number: there is none.
  uint64_t next_seq();
  // Leaves out `calls` calls, after which all is as now: the program is at the same place of a
  // loop. False: it cannot, and nothing has changed. Numbers of messages, requests and collectives
  // go on as if there were no calls between.
  bool skip(uint64_t calls);

  RankReader& reader() { return decoded_.reader; }
  Decoder& decoder() { return decoded_.decoder; }
  const CallOrder::Counts& counts() const { return counts_; }
  // Channels of this rank in memory, and about how many bytes one takes.
  size_t channels() const { return numbers_.size(); }
  static constexpr size_t kChannelBytes = ChannelNumbers::kBytes;
  // Adds to Outcome::not_held what this rank's calls could not be told; at the end of a walk.
  void report();

 private:
  struct Thread {
    uint32_t number = 0;
    std::unique_ptr<LookAhead> calls;
    StagedCall staged;
    bool has_call = false;
  };
  struct Request {
    const Op* op = nullptr;
    const Signature* made_by = nullptr;
    uint64_t number = 0;
    bool is_active = false;
    std::optional<Step> send, receive;
    uint64_t receive_post = 0;  // which of all receives that the rank posts
    uint64_t collective = 0;
  };

  void open();
  void decode(const StagedCall& staged);
  Request& make_request(const Op& op, const Signature& call);
  void post(const StagedCall& staged, Request& request);
  void scout();
  void start(const StagedCall& staged);
  void complete(const StagedCall& staged);
  void cancel(const StagedCall& staged);
  void finish(Request& request, StepKind receive_kind);
  Step send_step(const MessageEnd& end, const Signature& call);
  // kLater: the message is only taken here. kCancelled: none is.
  enum class Use : uint8_t { kNow, kLater, kCancelled };
  Step receive_step(MessageEnd end, const Signature& call, Use use = Use::kNow);
  void number(Step& step, bool sends, Use use);
  void note_partner(const Signature& call, std::string_view parameter);
  uint64_t next_collective(const Op& op);

  Scope& scope_;
  World& world_;
  std::unique_ptr<DecodedRank> own_;  // nullptr: it was given
  DecodedRank& decoded_;
  CallOrder::Counts counts_;
  std::vector<Thread> threads_;
  bool is_open_ = false;
  Event event_;
  std::unordered_map<SignatureId, Request> requests_;
  std::unordered_map<int64_t, Step> matched_;  // by message object: what MPI_Mprobe took
  ChannelNumbers numbers_;
  // Receives that are cancelled, by Request::receive_post. A scout has found them: the calls once
  // more, ahead of all that is told of them, where the rank cancels anything.
  std::unordered_set<uint64_t> cancelled_;
  uint64_t receive_posts_ = 0;
  bool is_scout_ = false;
  std::unordered_map<CommKey, uint64_t> collectives_;
  uint64_t next_request_ = 0;
  uint64_t other_world_ = 0, unknown_ = 0, unsized_ = 0, unknown_requests_ = 0;
};

}  // namespace refrain::events
