// The walk: ranks take turns, each until it waits, or until its innermost loop begins again.

#include "replay/plan/unbuffered.h"

#include <algorithm>
#include <utility>

#include "mpi/call_ids.h"
#include "reader/internal.h"
#include "replay/plan/unbuffered_run.h"

namespace refrain::replay::plan {
namespace {

using events::Action;
using events::Op;

constexpr uint64_t kTurnCalls = 256;  // calls outside of loops

// The calls of a location from a certain one on; their numbers stand for times.
class CallsFrom : public events::CallStream {
 public:
  explicit CallsFrom(Cursor cursor) : cursor_(std::move(cursor)) {}
  bool next(events::ClockedCall& out) override {
    const Call* const call = cursor_.next();
    if (call == nullptr) return false;
    out = {call->signature, call->seq, 2 * call->seq, 2 * call->seq + 1};
    return true;
  }

 private:
  Cursor cursor_;
};

}  // namespace

uint64_t Unbuffered::most_bytes() const {
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

Rank Unbuffered::most_bytes_rank() const {
  return std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
}

UnbufferedRun::UnbufferedRun(const Trace& trace, const UnbufferedOptions& options)
    : trace_(trace), options_(options), comms_(trace), left_ends_(trace, options.skipped, comms_) {}

bool UnbufferedRun::is_skipped(const Op& op, Rank rank) const {
  if (options_.leaves_out) {
    const auto group = trace_.group_of(rank);
    if (group && options_.leaves_out(*group, op.signature->id)) return true;
  }
  return std::find(options_.skipped.begin(), options_.skipped.end(), op.call) !=
             options_.skipped.end() ||
         left_ends_.has(op, rank);
}

bool UnbufferedRun::can_be_looked_at() {
  constexpr uint64_t kBytesOfSignature = 2048, kBytesOfRank = 16384;
  uint64_t ranks = 0, bytes = 0;
  for (GroupId group = 0; group < trace_.group_count(); ++group) {
    const uint64_t size = trace_.group_size(group);
    ranks += size;
    if (trace_.group_locations(group).size() != 1) {
      out_.why_not = "ranks have several threads";
      return false;
    }
    const std::vector<Trace::Occurrence> seen = trace_.occurrences(group);
    bytes += size * (kBytesOfRank + kBytesOfSignature * seen.size());
    for (const Trace::Occurrence& one : seen)
      if (trace_.call_of(one.signature) == mpi::kMPI_Cancel) {
        out_.why_not = "requests are cancelled";
        return false;
      }
    if (bytes > options_.most_memory) {
      out_.why_not = "the ranks have too many different calls";
      return false;
    }
  }
  if (ranks == static_cast<uint64_t>(trace_.rank_count())) return true;
  out_.why_not = "the calls of some ranks are not in the trace";
  return false;
}

bool UnbufferedRun::open_lanes() {
  if (!can_be_looked_at()) return false;
  const auto& grammars = reader::data_of(trace_).grammars;
  for (Rank rank = 0; rank < trace_.rank_count(); ++rank) {
    auto lane = std::make_unique<Lane>();
    lane->rank = rank;
    lane->reader = std::make_unique<RankReader>(trace_, rank);
    lane->decoder = std::make_unique<events::Decoder>(*lane->reader, comms_, places_);
    const std::vector<Location> locations = trace_.locations(rank);
    if (locations.empty()) return false;
    const GrammarId id = locations[0].grammar;
    lane->grammar = &grammars[id];
    auto& lengths = lengths_[id];
    if (lengths == nullptr)
      lengths = std::make_shared<const grammar::Lengths>(grammar::lengths(grammars[id]));
    lane->lengths = lengths;
    lane->is_listed = true;
    now_.push_back(static_cast<uint32_t>(lanes_.size()));
    lanes_.push_back(std::move(lane));
  }
  held_.resize(lanes_.size());
  out_.bytes.resize(lanes_.size());
  return true;
}

void UnbufferedRun::open_calls(Lane& lane) {
  auto cursor = lane.reader->cursor(trace_.locations(lane.rank)[0].thread);
  if (!cursor.ok()) return;
  cursor->seek(lane.position);
  lane.calls = std::make_unique<events::LookAhead>(std::make_unique<CallsFrom>(std::move(*cursor)),
                                                   *lane.decoder, light_room_);
}

CallPlace UnbufferedRun::place_of(const Lane& lane) const {
  const Signature& s = *lane.staged.op->signature;
  return {lane.rank, lane.position - 1, s.call, s.site};
}

void UnbufferedRun::wake(uint32_t index) {
  if (index >= lanes_.size()) return;  // no rank of the trace
  Lane& lane = *lanes_[index];
  if (lane.is_listed || lane.waits == Waits::kNo) return;
  lane.is_listed = true;
  next_.push_back(index);
}

void UnbufferedRun::begin_turn(Lane& lane) {
  loops_at(*lane.grammar, *lane.lengths, lane.position, loops_);
  lane.turn_ends = loops_.empty() ? lane.position + kTurnCalls : loops_.back().next_begin();
}

// Until the lane waits, or its turn ends.
void UnbufferedRun::turn(uint32_t index) {
  Lane& lane = *lanes_[index];
  lane.is_listed = false;
  if (lane.waits != Waits::kNo) {
    if (!can_go(lane)) return;
    end_call(index);
  }
  begin_turn(lane);
  while (lane.position < lane.turn_ends) {
    if (lane.calls == nullptr) open_calls(lane);
    if (lane.calls == nullptr || !lane.calls->next(lane.staged)) {
      lane.has_ended = true;
      return;
    }
    ++out_.calls_walked;
    ++lane.position;
    begin_call(index);
    if (lane.waits == Waits::kNo) continue;
    if (!can_go(lane)) return;
    end_call(index);
  }
  if (index == leader_) has_leader_turned_ = true;
  if (lane.is_listed) return;
  lane.is_listed = true;
  next_.push_back(index);
}

void UnbufferedRun::begin_call(uint32_t index) {
  Lane& lane = *lanes_[index];
  const Op& op = *lane.staged.op;
  if (is_skipped(op, lane.rank)) return;
  if (op.signature->failed()) out_.is_guess = true;  // who took part in it?
  switch (op.action) {
    case Action::kSend:
    case Action::kReceive:
    case Action::kSendReceive:
      if (op.makes_request) {
        Request& request = make_request(lane, op);
        if (!op.is_persistent) post(index, op, &request);
        return;
      }
      lane.waits = Waits::kMessages;
      post(index, op, nullptr);
      return;
    case Action::kProbe:
    case Action::kMatchedProbe:
      if (op.receive.peer == events::kNobody) return;
      if (op.receive.is_known())
        lane.waits = Waits::kProbe;
      else
        out_.is_guess = true;
      return;
    case Action::kStart: start(index); return;
    case Action::kComplete:
      if (!op.is_poll) lane.waits = Waits::kRequests;
      return;
    case Action::kFree:
      for (const events::RequestUse& use : op.requests) lane.requests.erase(use.request);
      return;
    case Action::kCollective:
    case Action::kOtherCollective:
      if (op.makes_request) {
        Request& request = make_request(lane, op);
        if (!op.is_persistent) arrive(index, op, &request);
        return;
      }
      arrive(index, op, nullptr);
      return;
    default: return;
  }
}

void UnbufferedRun::start(uint32_t index) {
  Lane& lane = *lanes_[index];
  for (const events::RequestUse& use : lane.staged.op->requests) {
    const auto known = lane.requests.find(use.request);
    if (known == lane.requests.end()) continue;  // its making was left out
    const Op& maker = *known->second.maker;
    if (maker.action == Action::kCollective || maker.action == Action::kOtherCollective)
      arrive(index, maker, &known->second);
    else
      post(index, maker, &known->second);
  }
}

bool UnbufferedRun::is_complete(const Lane&, const Request& request) const {
  if (request.open > 0) return false;
  return !request.has_collective || has_passed(request.maker->comm.key, request.number);
}

bool UnbufferedRun::can_go(Lane& lane) {
  const Op& op = *lane.staged.op;
  switch (lane.waits) {
    case Waits::kNo: return true;
    case Waits::kMessages: return lane.open == 0;
    case Waits::kProbe:
      return queues_.peek(events::channel_of_receive(op.receive, lane.rank), true) != kNone;
    case Waits::kRequests:
      return std::all_of(op.requests.begin(), op.requests.end(), [&](const events::RequestUse& u) {
        const auto known = lane.requests.find(u.request);
        return known == lane.requests.end() || is_complete(lane, known->second);
      });
    case Waits::kCollective: return lane.is_let_go || has_passed(op.comm.key, lane.number);
  }
  return true;
}

void UnbufferedRun::end_call(uint32_t index) {
  Lane& lane = *lanes_[index];
  const Op& op = *lane.staged.op;
  if (lane.waits == Waits::kProbe && op.action == Action::kMatchedProbe) {
    const events::ChannelKey channel = events::channel_of_receive(op.receive, lane.rank);
    const Name name =
        queues_.take(channel, queues_.of(channel), [&](Name n) -> Name& { return ends_[n].next; });
    meet(name);
  }
  if (lane.waits == Waits::kRequests)
    for (const events::RequestUse& use : op.requests) {
      const auto known = lane.requests.find(use.request);
      if (known == lane.requests.end()) continue;
      if (known->second.maker->is_persistent)
        known->second.has_collective = false;
      else
        lane.requests.erase(known);
    }
  lane.waits = Waits::kNo;
  lane.is_let_go = false;
  lane.send = kNone;
}

void UnbufferedRun::say_who_waits() {
  for (const auto& lane : lanes_) {
    if (lane->has_ended) continue;
    ++out_.waiting_ranks;
    if (out_.waiting.size() < Unbuffered::kMostShown) out_.waiting.push_back(place_of(*lane));
  }
}

Unbuffered UnbufferedRun::run() {
  if (!open_lanes()) return std::move(out_);
  for (;;) {
    for (const uint32_t index : now_) turn(index);
    now_.clear();
    now_.swap(next_);
    std::sort(now_.begin(), now_.end());
    if (now_.empty()) {
      if (!buffer_one() && !let_go()) break;
      now_.swap(next_);
      continue;
    }
    if (out_.calls_walked > options_.most_calls) {
      out_.why_not = "it has too many calls that are not in loops";
      return std::move(out_);
    }
    if (has_leader_turned_ && !options_.expands_loops) look_for_period();
    has_leader_turned_ = false;
  }
  say_who_waits();
  count_what_is_left();
  return std::move(out_);
}

Unbuffered run_unbuffered(const Trace& trace, const UnbufferedOptions& options) {
  return UnbufferedRun(trace, options).run();
}

}  // namespace refrain::replay::plan
