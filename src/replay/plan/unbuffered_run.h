// The run behind unbuffered.h.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/look_ahead.h"
#include "events/matching.h"
#include "grammar/fold.h"
#include "mpi/call_meaning.h"
#include "replay/plan/left_ends.h"
#include "replay/plan/loop_places.h"
#include "replay/plan/unbuffered.h"

namespace refrain::replay::plan {

class UnbufferedRun {
 public:
  UnbufferedRun(const Trace& trace, const UnbufferedOptions& options);
  Unbuffered run();

 private:
  using Name = events::ChannelQueues::Name;
  static constexpr Name kNone = events::ChannelQueues::kNone;

  // One end of a message that has not met its other end.
  struct End {
    Name next = kNone;  // behind it on its channel
    uint32_t lane = 0;
    bool is_send = false, is_used = false;
    bool is_buffered = false;  // nobody waits for it any more
    bool may_be_buffered = false;
    bool has_request = false;
    SignatureId request;
    uint64_t serial = 0;  // of the request
    uint64_t bytes = 0;
    CallPlace place;
  };
  struct Request {
    const events::Op* maker = nullptr;
    uint64_t serial = 0;
    uint32_t open = 0;  // ends that have not met their others
    Name send = kNone;  // the one of them that is a send
    bool has_collective = false;
    uint64_t number = 0;  // of the collective, on the maker's communicator
  };
  // Collectives of a communicator, in order.
  struct Collective {
    uint64_t arrived = 0;
    bool has_root = false;  // whose data the others wait for
    CallId plain = 0;
    mpi::How how = mpi::How::kReturns;
    Rank root = -1;
    CallPlace first;
    std::vector<uint32_t> lanes;  // to be woken
  };
  struct Stream {
    uint64_t base = 0;  // number of the first that is not complete
    std::deque<Collective> open;
  };
  enum class Waits : uint8_t { kNo, kMessages, kProbe, kRequests, kCollective };
  struct Lane {
    Rank rank = 0;
    std::unique_ptr<RankReader> reader;
    std::unique_ptr<events::Decoder> decoder;
    std::unique_ptr<events::LookAhead> calls;  // null: to be opened at `position`
    const grammar::Grammar* grammar = nullptr;
    std::shared_ptr<const grammar::Lengths> lengths;
    uint64_t position = 0;  // of the next call
    uint64_t turn_ends = 0;
    events::StagedCall staged;
    Waits waits = Waits::kNo;
    bool has_ended = false, is_listed = false;
    uint32_t open = 0;       // ends of the call that it is in
    Name send = kNone;       // the one of them that is a send
    uint64_t number = 0;     // of the collective that it is in
    bool is_let_go = false;  // from that
    std::unordered_map<SignatureId, Request> requests;
    std::unordered_map<events::CommKey, uint64_t> collectives;  // that it has called
  };

  // ---- unbuffered.cc ----
  bool open_lanes();
  bool can_be_looked_at();
  void open_calls(Lane& lane);
  void turn(uint32_t index);
  void begin_turn(Lane& lane);
  void begin_call(uint32_t index);
  void start(uint32_t index);
  bool can_go(Lane& lane);
  void end_call(uint32_t index);
  void wake(uint32_t index);
  bool is_complete(const Lane& lane, const Request& request) const;
  CallPlace place_of(const Lane& lane) const;
  bool is_skipped(const events::Op& op, Rank rank) const;
  void say_who_waits();

  // ---- unbuffered_ends.cc ----
  Request& make_request(Lane& lane, const events::Op& op);
  void post(uint32_t index, const events::Op& op, Request* request);
  Name make_end(uint32_t index, Request* request, SignatureId id, bool is_send);
  void enter(const events::ChannelKey& channel, Name name);
  void meet(Name name);
  void free_end(Name name);
  void arrive(uint32_t index, const events::Op& op, Request* request);
  void compare(Collective& collective, const Lane& lane, const events::Op& op);
  const Collective* open_collective(events::CommKey comm, uint64_t number) const;
  bool has_passed(events::CommKey comm, uint64_t number) const;
  bool may_leave(const Lane& lane, const events::Op& op, uint64_t number) const;
  bool buffer_one();
  bool let_go();
  void count_what_is_left();

  // ---- unbuffered_periods.cc ----
  struct Totals {
    uint64_t sends = 0, collectives = 0, disagreements = 0;
  };
  struct State {
    uint64_t hash[2];
    std::vector<uint64_t> positions;  // by lane
    Totals totals;
  };
  Totals totals() const { return {out_.sends, out_.collectives, out_.disagreements}; }
  void look_for_period();
  State state(size_t level);
  uint64_t iterations_left(const State& before, size_t level);
  void skip(const State& before, uint64_t periods, const Totals& now);

  Trace trace_;
  UnbufferedOptions options_;
  events::CommTable comms_;
  LeftEnds left_ends_;
  events::Decoder::Places places_;
  events::LightRoom light_room_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unordered_map<uint32_t, std::shared_ptr<const grammar::Lengths>> lengths_;
  events::ChannelQueues queues_;
  std::vector<End> ends_;
  std::vector<Name> free_;
  std::unordered_map<events::CommKey, Stream> streams_;
  std::vector<uint64_t> held_;        // bytes that are buffered now, by lane
  std::vector<uint32_t> now_, next_;  // lanes that can go on
  uint32_t leader_ = 0;               // the lowest lane that has not ended
  bool has_leader_turned_ = false;    // ... has begun another iteration
  uint64_t serials_ = 0;
  static constexpr size_t kLevels = 4;
  static constexpr size_t kMostStates = 64;
  std::array<std::deque<State>, kLevels> states_;
  std::vector<LoopPlace> loops_;
  Unbuffered out_;
};

}  // namespace refrain::replay::plan
