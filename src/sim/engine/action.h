// What ranks do, as the engine of the simulation takes it: small actions without MPI and traces.
//
// An agent is a thread of a rank, or a nonblocking collective that goes on beside its threads. Its
// actions come in batches from an ActionSource, in order; the engine gives back when they happen.
//
//   a call that receives:  kEnter, kReceive {channel, request}, kWait {request}, kLeave
//
// Requests are slots of a rank, named by small numbers that the source gives out. A slot counts:
// several actions may add a part to it, and it is complete when all parts are. A wait for it
// empties it. The n-th kSend of a channel and its n-th kReceive are one message. Agents of a rank
// do not keep the order that they had: where one waits for a request that another one begins,
// kPosted and kAwait do. Outside of calls they say that one agent starts another, or waits for its
// end; such waiting is computation.
//
// Messages meet in one of two ways. On a channel, as above. Or by their envelopes, where a receive
// may take messages of several channels (`is_matched_here`): it takes the first one to come that it
// accepts, as MPI does. `channel` is the one of the send, and what the receive took elsewhere:
// where these differ, the engine counts a change.
//
// Units: ns, bytes. Threads: one.
#pragma once

#include <cstdint>
#include <vector>

namespace refrain::sim {

using Time = int64_t;  // ns since the ranks began
using AgentId = uint32_t;

enum class ActionKind : uint8_t {
  kCompute,   // for `amount` ns at speed 1
  kEnter,     // a call of MPI begins; `tag` names it for the observer
  kLeave,     // ... ends
  kSend,      // begins a message of `amount` bytes on `channel` to rank `peer`; part of `request`
  kReceive,   // posts a receive on `channel`; part of `request`
  kWait,      // until `request` is complete
  kWaitAll,   // until all of `count` requests, from `first` on, are
  kWaitSome,  // until `amount` of them are; the first `amount` of the list count as those
  kPut,       // writes `amount` bytes to rank `peer`; part of `request`
  kGet,       // reads them
  kMeet,      // with `count` agents in all that name `tag`; it takes `amount` ns from the last on
  kLock,      // `tag`, kept at rank `peer`; part of `request`
  kUnlock,    // the same lock
  kAccess,    // `amount` bytes of a file on server `peer`; part of `request`
  kSpend,     // `amount` ns in MPI
  kBegin,     // begins agent `peer`; part of `request`
  kPosted,    // all parts of `request` are begun; its use number `tag` by posts, from 1
  kAwait,     // until that is so: one other agent of the rank waits for the request
  kMeasure,   // the rank's time counts from here on
  kMeasured,  // ... until here
};

inline constexpr uint32_t kNoRequest = UINT32_MAX;
inline constexpr uint32_t kNoChannel = UINT32_MAX;
inline constexpr uint32_t kAnySender = UINT32_MAX;

struct Action {
  ActionKind kind = ActionKind::kCompute;
  bool is_synchronous : 1 = false;   // kSend: completes after its receive was posted
  bool is_exclusive : 1 = false;     // kLock
  bool is_matched_here : 1 = false;  // kSend, kReceive: by envelopes, in queue `first`, with `tag`
  bool is_marked : 1 = false;        // kEnter: Engine::on_mark is told
  bool takes_any_tag : 1 = false;    // ... kReceive; of messages of rank `peer` or kAnySender
  uint32_t request = kNoRequest;
  uint32_t channel = 0;
  uint32_t peer = 0;
  uint64_t amount = 0;
  uint64_t tag = 0;
  uint32_t first = 0, count = 0;  // in Batch::requests
};
static_assert(sizeof(Action) == 40);

// Of one agent.
struct Batch {
  std::vector<Action> actions;
  std::vector<uint32_t> requests;
  void clear() { actions.clear(), requests.clear(); }
};

class ActionSource {
 public:
  virtual ~ActionSource() = default;
  // Replaces what is in the batch by the next actions of an agent; leaves it empty after the last.
  virtual void fill(AgentId agent, Batch& batch) = 0;
  // An agent that kBegin began has come to its end: its number may be used again.
  virtual void ended(AgentId) {}
};

// Told what happens. The calls of one agent come in their order.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void call(AgentId agent, uint64_t tag, Time begin, Time end) = 0;
};

}  // namespace refrain::sim
