// Sweep: the forward pass. See wait_states.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/waits/collectives.h"
#include "analysis/waits/messages.h"
#include "analysis/waits/op_state.h"
#include "analysis/waits/store/event_queue.h"
#include "analysis/waits/vocabulary.h"
#include "analysis/waits/wait_log.h"
#include "analysis/waits/wait_states.h"
#include "analysis/waits/wait_tally.h"
#include "format/trace_data.h"

namespace refrain::analysis::waits {

// For who looks at a run that goes on.
struct Online {
  WaitTally* tally = nullptr;  // is added to on the way
  // Whether the sweep writes the log that the backward sweeps and observers read. Without it what
  // is kept does not grow with the run.
  bool keeps_log = true;
};

class Sweep {
 public:
  Sweep(const Trace& trace, CallSource& source, const Options& options, const Online& online = {});

  // All of a source that is there.
  void run();
  // Of a source that grows, portion by portion: opens it; goes on with all that happens before
  // until_ns, every call that begins before it having come; the rest, when the source has ended.
  // What fill() says in between is of the run so far. The result is that of run(), if it is known
  // of each thread's last call that it was the last one.
  void open();
  // A thread that the trace does not have, or whose first call has come behind open(). Those whose
  // calls others may need come before the first advance().
  void add(const Location& where);
  // False: `most_events` begins and ends of calls were not all; it goes on when it is asked again.
  bool advance(uint64_t until_ns, uint64_t most_events = UINT64_MAX);
  void finish();
  // Everything before this has been looked at.
  uint64_t swept_ns() const { return swept_ns_; }

  struct LocationName {
    Rank rank = 0;
    uint32_t thread = 0;
  };
  // Results. The log is for the backward sweeps.
  WaitLog& log() { return log_; }
  const Decoder::Places& places() const { return places_; }
  const std::vector<LocationName>& location_names() const { return names_; }
  size_t rank_count() const { return ranks_.size(); }
  // Of a rank that has calls.
  const Decoder& decoder(Rank rank) const { return *ranks_[static_cast<size_t>(rank)].decoder; }
  // When the first rank began to compute: MPI_Init was over, and the recorder's work behind it.
  uint64_t start_ns() const;
  const Window& window() const { return options_.window; }
  // The last node of each location.
  std::vector<NodeId> last_nodes() const;
  const Counts& counts() const { return counts_; }
  // Ends of messages, and collectives, beyond the limits of Options.
  uint64_t dropped() const { return messages_.dropped() + instances_.dropped(); }
  void fill(WaitStates& out) const;

 private:
  std::vector<Severity> severities() const;
  uint64_t finish_ns() const;
  double lives_of_all(uint64_t runtime_ns) const;

  struct Epoch {                   // of one-sided communication, at one rank and window
    std::vector<MessageId> posts;  // of an access epoch, not seen yet
    std::vector<Rank> targets;     // ... and of whom
    std::vector<Rank> origins;     // of an exposure epoch
  };
  struct Lock {
    Rank origin = 0, target = 0;  // target -1: all
    bool is_exclusive = false, is_granted = false, has_ended = false;
    uint64_t begin = 0, end = 0;  // of the call that locks, and of the one that unlocks
    uint64_t unlock_begin = 0;    // where there is an unlock
    NodeId unlock = kNoNode;
  };
  struct File {
    uint64_t number = 0, calls = 0;  // which, of all ranks; how many collectives so far
    bool is_split = false;           // one has begun and not ended
    InstanceKey split;
  };
  struct RankState {
    std::unique_ptr<RankReader> reader;
    std::unique_ptr<Decoder> decoder;
    OpStates states;
    MessageId first_incoming = kNoMessage, last_incoming = kNoMessage;  // in the order of sends
    uint64_t newest_waited = 0;  // when the newest message was sent that a call was for alone
    NodeId last_node = kNoNode;  // of any thread
    uint32_t live_threads = 0;   // that have more calls
    NodeId joined = kNoNode;     // the last call of the thread that ended last, not joined yet
    uint64_t joined_ns = 0;      // its end
    std::unordered_map<int64_t, MessageId> matched;     // by message object: what MPI_Mprobe took
    std::unordered_map<CommKey, uint64_t> collectives;  // how many so far
    std::unordered_map<CommKey, uint64_t> persistent_made;  // the same, persistent ones
    std::unordered_map<int64_t, uint64_t> windows;          // by win#N: which
    std::unordered_map<uint64_t, uint64_t> fences;          // how many so far
    std::unordered_map<uint64_t, Epoch> epochs;
    std::unordered_map<int64_t, File> files;            // by file#N
    std::unordered_map<CommKey, uint64_t> opens, made;  // how many so far
  };
  // Calls that asked in vain since what they asked for was last found.
  struct Poll {
    uint32_t serial = 0;
    bool is_open = false, is_probe = false;
    MessageEnd wanted;      // of probes: a message that any of them would have found
    NodeId node = kNoNode;  // the first of them
    uint64_t begin = 0, ns = 0;
  };
  struct LocationState {
    std::unique_ptr<LookAhead> calls;
    Rank rank = 0;
    StagedCall current;
    uint64_t begin = 0, end = 0;  // repaired
    uint64_t recorded_end = 0;    // of the call before
    uint64_t end_of_last = 0;     // the same, repaired
    uint64_t shift = 0;           // how much later than recorded
    uint64_t first_begin = 0;
    uint64_t total = 0;              // from there to the end of the last call, in the window
    uint64_t gaps = 0;               // useful time of the whole run
    uint64_t useful = 0, ideal = 0;  // useful: in the window
    // The recorder's pieces of work behind this call and later ones.
    const format::OwnPiece *piece = nullptr, *pieces_end = nullptr;
    uint64_t own_ns = 0;                    // behind the last call
    uint64_t ideal_from = 0, ideal_to = 0;  // ideal when the window began, and ended
    uint64_t finish_ns = 0, ideal_finish = 0;
    NodeId node = kNoNode, last_node = kNoNode;
    PlaceId last_place = 0;
    bool last_is_poll = false;
    uint64_t polled_ns = 0;  // in the calls that are one node
    uint64_t work_end = 0;   // of the last call that did not ask in vain
    Poll poll;
    MessageId send = kNoMessage, receive = kNoMessage;  // of a blocking call
    bool has_begun = false, is_held = false, gave_up = false;
    bool has_finished = false;  // MPI_Finalize
    bool in_instance = false;
    InstanceKey instance;
    uint64_t serial = 0;  // of the last time that it was held
    uint64_t start_ns = 0;
    std::vector<MessageId> completes;  // MPI_Win_wait: what it waits for
  };
  // Ends the holding of a location, if it is still the one that `serial` names.
  struct Timeout {
    uint64_t time = 0;
    uint32_t location = 0;
    uint64_t serial = 0;
    bool operator>(const Timeout& o) const {
      return time != o.time ? time > o.time : location > o.location;
    }
  };
  // Something that a call could not end before.
  struct Release {
    uint64_t time = 0;
    Pattern pattern = Pattern::kAll;
    NodeId node = kNoNode;
    Rank causer = -1;          // whose call that is
    uint64_t ideal = 0;        // the same on the ideal network
    bool is_possible = false;  // perhaps it could: a send that the library may have kept or not
    bool is_small = false;     // such a send of at most kKeptBytes
  };

  // sweep.cc
  bool add_location(const Location& where);
  void fetch_next() const;
  void next_call(uint32_t location);
  bool go_on(std::optional<uint64_t> until_ns, uint64_t most_events);
  void begin(uint32_t location);
  void end(uint32_t location);
  void finish_call(uint32_t location);
  void find_own_work(LocationState& l, uint32_t thread);
  uint64_t own_work_before(uint32_t location, uint64_t gap);
  void measure_begin(uint32_t location);
  void measure_end(LocationState& l);
  void measure_ideal(LocationState& l, uint64_t since, uint64_t until, uint64_t before) const;
  void hold(uint32_t location);
  bool is_over(const Timeout& timeout) const;
  void end_patience();
  void wake(uint32_t location);
  void emit(LocationState& l);
  void append_node(uint32_t location);
  void join(LocationState& l);
  void end_node(LocationState& l);
  const Release* choose(const LocationState& l);
  void log_wait(LocationState& l, Wait wait, bool is_on_path);
  void log_hidden(LocationState& l, uint64_t from);
  void add_waiting(const LocationState& l, uint64_t ns);
  // Time lost since `since` until `until`, as far as it lies in the window.
  void add_severity(const LocationState& l, Pattern pattern, uint64_t since, uint64_t until);

  // sweep_messages.cc
  MessageId begin_send(uint32_t location, const MessageEnd& end, uint64_t parts);
  MessageId begin_receive(uint32_t location, const MessageEnd& end, bool posts);
  void now_sent(uint32_t location, Message& message, const ChannelKey& key);
  void now_posted(uint32_t location, Message& message);
  void begin_message(uint32_t location);
  bool needs_message(uint32_t location, MessageId id);
  bool needs_receive(uint32_t location, MessageId id);
  bool collect_messages(uint32_t location);
  void collect_send(LocationState& l, MessageId id);
  void collect_receive(MessageId id);
  void mark_received(LocationState& l);
  void take_off_list(RankState& receiver, MessageId id);
  void drop_messages(LocationState& l);
  void note_eager(const Message& message);
  bool was_eager(const Message& message) const;

  // sweep_polls.cc
  bool ends_poll(const LocationState& l);
  uint64_t ready_since(const LocationState& l);
  void collect_probe_in_vain(LocationState& l);
  void note_poll(LocationState& l);

  // sweep_requests.cc
  void post_request(uint32_t location, const Op& op);
  void begin_start(uint32_t location);
  void begin_ready(uint32_t location);
  void begin_cancel(uint32_t location);
  bool collect_requests(uint32_t location);
  void collect_unsuccessful(LocationState& l);
  void finish_request(LocationState& l, RequestUse& use);

  // sweep_observer.cc
  SeenCall seen(NodeId id);
  void tell(const Message& message, bool again);
  void tell_completed(const LocationState& l);
  void tell_rest();
  void tell_wait(const LocationState& l, uint64_t from, uint64_t to);

  // sweep_collectives.cc
  void begin_collective(uint32_t location);
  InstanceKey next_instance(RankState& rank, const Op& op, uint64_t window);
  void enter(uint32_t location, const InstanceKey& key, const Op& op);
  bool collect_collective(uint32_t location, const InstanceKey& key, const Op& op, bool blocking);
  void leave(LocationState& l, const InstanceKey& key, const Op& op, bool blocking);

  static Pattern pattern_of(CollectiveKind kind);
  bool find_needed(const Instance& instance, const Op& op, LastEntry& needed);
  void take_part(uint32_t location, const InstanceKey& key);
  void release(const LocationState& l, const LastEntry& needed, Pattern pattern);

  // sweep_others.cc
  void begin_other(uint32_t location);
  void begin_file(uint32_t location);
  bool collect_file(uint32_t location, Instance& instance, const Op& op, bool blocking);
  bool collect_neighbours(const Instance& instance, const Op& op, LastEntry& needed);
  void sources_of(const Op& op);

  // sweep_windows.cc
  void begin_window(uint32_t location);
  void collect_window(uint32_t location);
  void end_window(uint32_t location);
  void begin_lock(const LocationState& l, uint64_t window);
  void collect_lock(uint32_t location);

  // The request that `use` is about; nullptr where nothing made it, or it is gone.
  static Request* request_of(RankState& rank, RequestUse& use) {
    const Op* const op = use.maker != nullptr ? use.maker : rank.decoder->maker(use);
    if (op == nullptr) return nullptr;
    Request& made = rank.states.of(*op).made;
    return made.exists ? &made : nullptr;
  }
  // Whether the trace has calls of it.
  bool is_here(Rank rank) const {
    return rank >= 0 && static_cast<size_t>(rank) < is_here_.size() &&
           is_here_[static_cast<size_t>(rank)] != 0;
  }
  RankState& rank_of(const LocationState& l) { return ranks_[static_cast<size_t>(l.rank)]; }

  Trace trace_;
  CallSource& source_;
  Options options_;
  Online online_;
  CommTable own_comms_;
  CommTable& comms_;
  Decoder::Places places_;
  events::LightRoom light_room_;
  WaitLog log_;
  MessageTable messages_;
  InstanceTable instances_;
  std::vector<uint64_t> eager_;  // by communicator: 1 + bytes of the largest send that did not wait
  Topologies topologies_;
  std::vector<RankState> ranks_;
  std::vector<uint8_t> is_here_;  // by rank
  std::vector<LocationState> locations_;
  std::vector<LocationName> names_;
  uint64_t ranks_here_ = 0;
  EventQueue events_;
  std::vector<uint32_t> waiting_;  // locations whose next call has not come
  uint64_t limit_ns_ = 0;          // before which all calls have
  uint64_t swept_ns_ = 0;
  std::vector<Timeout> timeouts_;  // a heap
  uint64_t now_ = 0;
  std::unordered_map<uint64_t, std::deque<Lock>> locks_;  // by window
  // What the call that ends now waited for; scratch.
  std::vector<Release> releases_;
  std::vector<MessageId> received_;
  std::vector<MessageId> sent_;   // that may have had to wait for their receives
  std::vector<int64_t> sources_;  // ranks of a neighbourhood
  uint64_t ideal_ = 0;
  bool has_completion_ = false;
  uint64_t first_left_ = 0;
  Pattern completion_ = Pattern::kAll;
  bool is_unsuccessful_ = false;
  Pattern unsuccessful_pattern_ = Pattern::kAll;

  // `small`: the recorder's work that is no piece, by rank.
  void cut_own_work(const std::vector<uint64_t>& gaps, const std::vector<uint64_t>& small,
                    std::vector<RankTime>& ranks) const;

  std::vector<RankTime> rank_times_;
  Counts counts_;
};

// The efficiencies, of their factors, which fill() and find_critical_path() have left.
void set_efficiencies(WaitStates& out);

}  // namespace refrain::analysis::waits
