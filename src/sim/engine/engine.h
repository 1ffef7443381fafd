// Engine: actions of ranks in, times out. It knows no MPI, no trace and no files.
//
//   Engine engine(costs, source, options);
//   for each thread: engine.add(rank);      // agents 0, 1, ...
//   const EngineResult result = engine.run();
//
// What it simulates is in order of time, event by event, so that the result depends on nothing but
// its input. A rank's calls that wait for nobody cost one event each, a message one or two.
//
// Protocols, docs/simulate.md, "Messages": eager and rendezvous as in LogGOPS (T. Hoefler, T.
// Schneider, A. Lumsdaine, HPDC 2010, section 2.2), with copies of unexpected messages and with the
// share `overlap` of a transfer that goes on outside of MPI; eager messages that their receiver
// acknowledges; and messages of a rank to itself that its processor copies.
//
// Memory: what is on its way, and what agents hold. Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/action.h"
#include "sim/engine/costs.h"
#include "sim/engine/event_heap.h"
#include "sim/network/fair_network.h"
#include "sim/network/routes.h"

namespace refrain::sim {

// No run goes on beyond that, 64 years: sums of times stay far from what a Time holds.
inline constexpr Time kLatest = 2'000'000'000'000'000'000;

struct EngineOptions {
  bool has_contention = false;  // messages share links; needs Topology::has_links()
  uint64_t most_actions = UINT64_MAX;
  uint64_t most_messages = UINT64_MAX;  // on their way, or waited for, at a time
};

// Of the time of a rank: its first thread's. They add up to `end - begin`.
struct RankTimes {
  Time computed = 0, waited = 0, communicated = 0;
  Time begin = 0, end = 0;
  uint64_t calls = 0;
};

// Who did not come to an end.
struct Stuck {
  AgentId agent = 0;
  uint32_t rank = 0;
  uint64_t tag = 0;  // of the call
  Time since = 0;
};

struct EngineResult {
  std::vector<RankTimes> ranks;
  std::vector<Stuck> stuck;  // by agent; empty: all came to their ends
  uint64_t events = 0, actions = 0, messages = 0, most_messages = 0;
  uint64_t changed = 0;      // receives that took another message than that of their channel
  bool was_stopped = false;  // at EngineOptions::most_actions
  bool is_full = false;      // stopped at EngineOptions::most_messages
  bool is_late = false;      // stopped at kLatest
  struct Link {
    std::string name;
    double bytes = 0, busy_ns = 0;
    uint32_t number = 0;  // Engine::link_use
  };
  std::vector<Link> links;  // that were used
};

class Engine {
 public:
  // All outlive it.
  Engine(const Costs& costs, ActionSource& source, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;

  AgentId add(uint32_t rank);
  // For kBegin: an agent that waits for its beginning. It may do so again once it has ended.
  AgentId add_background(uint32_t rank);
  void observe(Observer* observer) { observer_ = observer; }
  // Called now and then with the actions that were done.
  void on_progress(std::function<void(uint64_t)> report) { progress_ = std::move(report); }

  // Called at each kEnter that is marked, when all that was before it has happened.
  void on_mark(std::function<void(Time)> mark) { mark_ = std::move(mark); }
  // For on_mark: two states of the same number go on in the same way if the actions that follow are
  // the same, but for when. Of each rank, `behind` calls that it has entered do not count.
  uint64_t fingerprint(const std::vector<uint64_t>& behind) const;
  const RankTimes& times(uint32_t rank) const { return ranks_[rank].times; }
  size_t links() const { return network_.links(); }
  FairNetwork::Use link_use(uint32_t link) const { return network_.use(link); }

  EngineResult run();

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr Time kNever = INT64_MIN / 2;

  enum EventKind : uint8_t {
    kResume,     // of an agent
    kArrival,    // of a message: at the receiver's interface; with contention, its flow begins
    kRequested,  // rendezvous: its request is with the receiver
    kAnswered,   // ... the answer with the sender
    kPartial,    // ... the share that needs no MPI call has come
    kGetBegins,  // the request of a kGet is with the target
    kTaken,      // acknowledged: it is with the receiver, if that is in MPI
    kReady,      // a request of an agent in kWaitSome
    kLockComes,
    kLockGoes
  };

  struct Message {
    Time sent = kNever;       // the sender's processor is done with it
    Time there = kNever;      // since when its sender is in its call, or whom that waited for
    Time posted = kNever;     // by the receiver
    Time asked = kNever;      // rendezvous: the request has come to the receiver
    Time answered = kNever;   // ... who has agreed
    Time available = kNever;  // the last byte is with the receiver
    uint64_t bytes = 0;
    uint32_t from = 0, to = 0;
    uint32_t send_request = kNone, receive_request = kNone;  // places
    uint32_t next = kNone;  // of its channel, or of those that are free
    bool is_eager = true, is_get = false, is_put = false;
    bool is_shared = false;     // a share of it goes on outside of MPI
    bool is_unmatched = false;  // it looks for its receive by its envelope
  };
  struct Channel {
    uint32_t first = kNone, last = kNone;
    bool are_sends = false;
  };
  struct Request {
    uint32_t parts = 0, open = 0;
    Time done = kNever;   // of the last part
    Time there = kNever;  // of the part that was done last
    Time cost = 0;        // of the receiver's processor, all parts together
    AgentId waiter = kNone;
  };
  struct Post {  // of a request that agents hand over
    uint64_t uses = 0;
    Time at = kNever;  // of the last one
    AgentId waiter = kNone;
  };
  enum class Pending : uint8_t { kAnswer, kRest, kTaken, kAgent };
  struct Held {  // goes on when the rank is in MPI again
    Pending what = Pending::kAgent;
    uint32_t subject = 0;
  };
  struct RankState {
    Time out_free = 0, in_free = 0;  // network interface
    // Messages of its own: until when the last one is on its way, as far as that is known, and with
    // contention how many are.
    Time sending_until = kNever;
    uint32_t sending = 0;
    Time inside_until = kNever;
    uint32_t waiting = 0;  // agents that wait in MPI
    AgentId first_agent = kNone;
    RankTimes times;
    bool is_measured = true;
    std::vector<Request> requests;  // by place
    // Waits for some requests exchange their names. What is under way completes a place, which
    // stays. Place of a name, name of a place; beyond their ends these are equal.
    std::vector<uint32_t> places, names;
    std::vector<Post> posts;  // by name
    std::vector<Held> held;
  };
  enum class Wait : uint8_t { kNot, kOne, kAll, kSome, kPost, kMeet, kHeld, kIdle, kEnded };
  struct Agent {
    Time now = 0, entered = 0, there = 0;
    uint32_t rank = 0, at = 0;
    uint32_t missing = 0;  // requests
    uint32_t steps = 0;    // actions since it entered its call, or was begun
    uint64_t entered_calls = 0;
    Wait wait = Wait::kNot;
    bool is_background = false, is_in_call = false, counts = false;
    uint64_t tag = 0;
    uint32_t request = kNone;              // place; of a background agent: completed at its end
    Time until = 0, until_there = kNever;  // kMeet: when it goes on
    Batch batch;
  };
  struct Meeting {
    uint32_t come = 0;
    Time last = kNever;
    std::vector<AgentId> agents;
  };
  struct Lock {
    struct Asked {
      uint32_t rank, request;
      bool is_exclusive;
    };
    uint32_t home = 0, holders = 0;
    bool is_exclusive = false;
    std::vector<Asked> queue;
    uint64_t tag = 0;
  };

  // fingerprint.cc
  uint64_t since(Time at) const;
  uint64_t print_of(const Message& message) const;
  uint64_t print_of(const Agent& agent, uint64_t behind) const;
  uint64_t print_of(const RankState& rank) const;
  uint64_t print_of(const Event& event) const;
  // engine.cc
  void go(AgentId id);
  bool has_to_yield(AgentId id, Agent& agent, const Action& action);
  bool step(AgentId id, const Action& action);  // false: the agent waits
  void enter(Agent& agent);
  void leave(AgentId id, Agent& agent);
  void spend(Agent& agent, Time ns);
  void end(AgentId id);
  void begin(Agent& agent, const Action& action);
  void reaches(Time at) { result_.is_late = result_.is_late || at > kLatest; }
  bool must_stop() const { return result_.was_stopped || result_.is_full || result_.is_late; }
  bool is_inside(uint32_t rank, Time at) const {
    return ranks_[rank].waiting > 0 || ranks_[rank].inside_until >= at;
  }
  void handle(const Event& event);
  EngineResult finish();
  // messages.cc
  uint32_t new_message();
  void free_message(uint32_t id);
  uint32_t match(uint32_t channel, bool sends);
  void send(Agent& agent, const Action& action);
  void receive(Agent& agent, const Action& action);
  void request_comes(uint32_t id);
  void answer(uint32_t id, Time at, bool is_outside);
  void begin_data(uint32_t id);
  void begin_transfer(uint32_t id, Time at, uint64_t bytes);
  void arrives(uint32_t id);
  void left(uint32_t id, Time at);
  void is_available(uint32_t id, Time at);
  void rest_comes(uint32_t id, Time at);
  void finish_message(uint32_t id, Time at);
  void ask_acknowledgement(uint32_t id, Time at);
  void acknowledge(uint32_t id, Time at, Time there);
  void request_is_there(uint32_t id, Time at);
  void one_sided(Agent& agent, const Action& action);
  uint64_t first_share(const Message& message) const;
  Time latency(uint32_t from, uint32_t to, const MessageCosts& costs) const;
  Time crossing(const Message& message, const MessageCosts& costs) const;
  Time notice(uint32_t from, uint32_t to, const MessageCosts& costs) const;
  Time hops(uint32_t from, uint32_t to) const;
  // envelopes.cc
  uint32_t send_envelope(uint32_t rank, const Action& action);
  uint32_t match_envelope(Agent& agent, const Action& action);
  void envelope_comes(uint32_t id);
  void admit(uint32_t id);
  // waits.cc
  Request& slot(uint32_t rank, uint32_t place);
  Request& named(uint32_t rank, uint32_t request) { return slot(rank, place_of(rank, request)); }
  uint32_t place_of(uint32_t rank, uint32_t request) const;
  uint32_t name_of(uint32_t rank, uint32_t place) const;
  uint32_t add_part(uint32_t rank, uint32_t request);  // its place
  struct Completion {
    Time at = 0, there = kNever, cost = 0;
  };
  void complete(uint32_t rank, uint32_t place, const Completion& completion);
  bool wait_for(AgentId id, const Action& action);
  bool wait_some(AgentId id);
  Post& post_of(uint32_t rank, uint32_t request);
  void posted(const Agent& agent, const Action& action);
  bool await_post(AgentId id, const Action& action);
  void take(Agent& agent, Request& request);
  void take_all(Agent& agent, const uint32_t* first, uint32_t count);
  void waits(Agent& agent, Time until, Time there);
  void block(Agent& agent, Wait wait);
  void resume(AgentId id);
  void swap_requests(uint32_t rank, uint32_t a, uint32_t b);
  // shared.cc
  bool join(AgentId id, const Action& action);
  void lock(Agent& agent, const Action& action);
  void lock_comes(uint32_t id);
  void lock_goes(uint32_t id);
  void grant(Lock& lock);
  void access(Agent& agent, const Action& action);
  void flow_ends();

  const Costs& costs_;
  KeptCosts kept_costs_{costs_};
  ActionSource& source_;
  const EngineOptions options_;
  Observer* observer_ = nullptr;
  std::function<void(uint64_t)> progress_;
  std::function<void(Time)> mark_;
  EventHeap heap_;
  std::vector<AgentId> runnable_;  // go on before the next event
  std::vector<std::pair<Time, uint32_t>> order_;
  Time now_ = 0;
  std::vector<RankState> ranks_;
  std::vector<Agent> agents_;
  std::vector<Message> messages_;
  uint32_t free_messages_ = kNone;
  uint64_t open_messages_ = 0;
  std::vector<Channel> channels_;
  // Of messages that are matched by their envelopes, and of receives that wait for such; by number
  // of the message.
  struct Envelope {
    uint32_t queue = 0, channel = kNoChannel, from = kAnySender;
    bool takes_any_tag = false;
    int64_t tag = 0;
    uint64_t number = 0;  // of those of its sender in the queue
  };
  struct EnvelopeQueue {
    std::vector<uint32_t> posted, unexpected;  // messages; in order of posting, of coming
    struct Sender {
      uint64_t sent = 0, come = 0;
      std::vector<uint32_t> early;  // that came before one that was sent before
    };
    std::unordered_map<uint32_t, Sender> senders;
  };
  static bool accepts(const Envelope& receive, const Envelope& message);
  std::vector<Envelope> envelopes_;
  std::vector<EnvelopeQueue> envelope_queues_;
  std::unordered_map<uint64_t, Meeting> meetings_;
  std::unordered_map<uint64_t, uint32_t> lock_numbers_;
  std::vector<Lock> locks_;
  struct LockRequest {
    uint32_t lock, rank, request;
    bool is_exclusive;
  };
  std::vector<LockRequest> lock_requests_;  // on their way
  std::vector<uint32_t> free_lock_requests_;
  FairNetwork network_;
  std::optional<Routes> routes_;
  std::vector<uint32_t> route_;
  struct FileAccess {
    uint32_t rank, request;
    Time latency;
  };
  std::vector<FileAccess> accesses_;
  std::vector<uint32_t> free_accesses_;
  uint32_t first_server_ = 0;
  uint32_t servers_ = 0;
  EngineResult result_;
};

}  // namespace refrain::sim
