// Sweep: the forward pass. See wait_states.h.
#pragma once

#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/waits/collectives.h"
#include "analysis/waits/comms.h"
#include "analysis/waits/look_ahead.h"
#include "analysis/waits/messages.h"
#include "analysis/waits/synchronisations.h"
#include "analysis/waits/wait_log.h"
#include "analysis/waits/wait_states.h"

namespace refrain::analysis::waits {

class Sweep {
 public:
  Sweep(const Trace& trace, CallSource& source, const Options& options);

  void run();

  struct LocationName {
    Rank rank = 0;
    uint32_t thread = 0;
  };
  // Results. The log is for the backward sweeps.
  WaitLog& log() { return log_; }
  const Decoder::Places& places() const { return places_; }
  const std::vector<LocationName>& location_names() const { return names_; }
  // The last node of each location.
  std::vector<NodeId> last_nodes() const;
  void fill(WaitStates& out) const;

 private:
  // A request between the call that makes it and the one that completes it.
  struct Request {
    const Op* op = nullptr;
    MessageId send = kNoMessage, receive = kNoMessage;
    uint64_t send_ns = 0;
    bool is_active = false, is_collective = false;
    InstanceKey instance;
    uint64_t persistent_stream = 0, starts = 0;
  };
  struct Epoch {                   // of one-sided communication, at one rank and window
    std::vector<MessageId> posts;  // of an access epoch, not seen yet
    std::vector<Rank> targets;     // ... and of whom
    std::vector<Rank> origins;     // of an exposure epoch
  };
  struct Lock {
    Rank origin = 0, target = 0;  // target -1: all
    bool is_exclusive = false, is_granted = false, has_ended = false;
    uint64_t end = 0;
    NodeId unlock = kNoNode;
  };
  struct RankState {
    std::unique_ptr<RankReader> reader;
    std::unique_ptr<Decoder> decoder;
    std::unordered_map<SignatureId, Request> requests;
    std::unordered_map<int64_t, MessageId> matched;     // by message object: what MPI_Mprobe took
    std::unordered_map<CommKey, uint64_t> collectives;  // how many so far
    std::unordered_map<CommKey, uint64_t> persistent_made;  // the same, persistent ones
    std::unordered_map<int64_t, uint64_t> windows;          // by win#N: which
    std::unordered_map<uint64_t, uint64_t> fences;          // how many so far
    std::unordered_map<uint64_t, Epoch> epochs;
    std::deque<MessageId> incoming;  // in the order in which they were sent
    uint64_t newest_sent = 0;        // of the messages that it has posted receives for
    bool has_matched = false;
    bool is_here = false;  // the trace has calls of it
  };
  struct LocationState {
    std::unique_ptr<LookAhead> calls;
    Rank rank = 0;
    StagedCall current;
    uint64_t begin = 0, end = 0;  // repaired
    uint64_t recorded_end = 0;    // of the call before
    uint64_t end_of_last = 0;     // the same, repaired
    uint64_t shift = 0;           // how much later than recorded
    uint64_t first_begin = 0, start_ns = 0, finish_ns = 0;
    uint64_t useful = 0;
    uint64_t ideal = 0, ideal_finish = 0;
    NodeId node = kNoNode, last_node = kNoNode;
    uint64_t serial = 0;  // of the last time that it was held
    bool has_begun = false, is_held = false, gave_up = false;
    bool has_started = false, has_finished = false;     // MPI_Init, MPI_Finalize
    MessageId send = kNoMessage, receive = kNoMessage;  // of a blocking call
    std::vector<MessageId> completes;                   // MPI_Win_wait: what it waits for
    InstanceKey instance;
    bool in_instance = false;
  };
  enum class EventKind : uint8_t { kBegin, kEnd, kTimeout };
  struct Event {
    uint64_t time = 0;
    EventKind kind = EventKind::kBegin;
    uint32_t location = 0;
    uint64_t serial = 0;
    bool operator>(const Event& o) const {
      return std::tie(time, kind, location) > std::tie(o.time, o.kind, o.location);
    }
  };
  // Something that a call could not end before.
  struct Release {
    uint64_t time = 0;
    Pattern pattern = Pattern::kAll;
    NodeId node = kNoNode;
    bool operator<(const Release& o) const { return time < o.time; }
  };

  // sweep.cc
  void advance(uint32_t location);
  void begin(uint32_t location);
  void end(uint32_t location);
  void finish(uint32_t location);
  void measure_begin(LocationState& l);
  void measure_end(LocationState& l);
  void hold(uint32_t location);
  void wake(uint32_t location);
  void emit(LocationState& l);
  void add_wait(LocationState& l, const Release& release, uint64_t from, uint64_t to);
  void add_severity(const LocationState& l, Pattern pattern, uint64_t ns);

  // sweep_messages.cc
  MessageId begin_send(uint32_t location, const MessageEnd& end, uint64_t parts);
  MessageId begin_receive(uint32_t location, const MessageEnd& end, bool posts);
  void now_sent(uint32_t location, Message& message, const ChannelKey& key);
  void now_posted(uint32_t location, Message& message);
  void begin_message(uint32_t location);
  void begin_start(uint32_t location);
  void post_request(uint32_t location, SignatureId id, Request& request);
  void begin_ready(uint32_t location);
  void begin_cancel(uint32_t location);
  MessageEnd resolved(const LocationState& l, SignatureId request, const Op& op);
  bool needs_message(uint32_t location, MessageId id);
  bool needs_receive(uint32_t location, MessageId id);
  bool collect_messages(uint32_t location);
  bool collect_requests(uint32_t location);
  void collect_send(LocationState& l, MessageId id);
  void collect_receive(MessageId id);
  void mark_received(LocationState& l);
  void drop_messages(LocationState& l);
  void finish_request(LocationState& l, const RequestUse& use);
  bool is_wrong_order(const LocationState& l, const Message& message);

  // sweep_collectives.cc
  void begin_collective(uint32_t location);
  InstanceKey next_instance(RankState& rank, const Op& op, uint64_t window);
  void enter(uint32_t location, const InstanceKey& key, const Op& op);
  bool collect_collective(uint32_t location, const InstanceKey& key, const Op& op, bool blocking);
  void leave(LocationState& l, const InstanceKey& key, const Op& op, bool blocking);

  // sweep_windows.cc
  void begin_window(uint32_t location);
  void collect_window(uint32_t location);
  void end_window(uint32_t location);
  void collect_lock(uint32_t location);

  // Whether the trace has calls of it.
  bool is_here(Rank rank) const {
    return rank >= 0 && static_cast<size_t>(rank) < ranks_.size() &&
           ranks_[static_cast<size_t>(rank)].is_here;
  }
  RankState& rank_of(const LocationState& l) { return ranks_[static_cast<size_t>(l.rank)]; }

  Trace trace_;
  CallSource& source_;
  Options options_;
  CommTable comms_;
  Decoder::Places places_;
  WaitLog log_;
  MessageTable messages_;
  InstanceTable instances_;
  Synchronisations synchronisations_;
  std::vector<RankState> ranks_;
  std::vector<LocationState> locations_;
  std::vector<LocationName> names_;
  uint64_t ranks_here_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t now_ = 0;
  std::unordered_map<uint64_t, std::deque<Lock>> locks_;  // by window
  // What the call that ends now waited for; scratch.
  std::vector<Release> releases_;
  std::vector<MessageId> received_;
  std::vector<MessageId> sent_;  // that had to wait for their receives
  uint64_t ideal_ = 0;
  bool has_completion_ = false;
  uint64_t first_left_ = 0;
  Pattern completion_ = Pattern::kAll;
  bool in_vain_ = false;
  Pattern in_vain_pattern_ = Pattern::kAll;

  struct Total {
    uint64_t ns = 0, count = 0;
  };
  std::map<std::tuple<Pattern, PlaceId, Rank>, Total> totals_;
  std::vector<RankTime> rank_times_;
  Counts counts_;
};

}  // namespace refrain::analysis::waits
