#include "replay/prefix/prefix.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "events/look_ahead.h"
#include "events/matching.h"
#include "events/payload.h"
#include "events/untimed_calls.h"
#include "mpi/call_ids.h"

namespace refrain::replay {
namespace {

using events::Action;
using events::ChannelKey;

struct Need {
  ChannelKey channel;
  uint64_t number = 0;  // of the message on its channel, from 1
};

// Collectives of one communicator are counted apart by what they are called on.
using Ring = std::pair<events::CommKey, uint8_t>;
struct RingNeed {
  Ring ring;
  uint64_t number = 0, ranks = 0;
};

struct Pending {
  std::vector<Need> messages;
  std::vector<RingNeed> collectives;
};

struct Lane {
  std::unique_ptr<RankReader> reader;
  std::unique_ptr<events::Decoder> decoder;
  std::unique_ptr<events::LookAhead> calls;
  events::StagedCall staged;
  bool has_call = false, has_ended = false;
  uint64_t done = 0, limit = UINT64_MAX;
  Pending waits;  // for what the call at hand does
  std::unordered_map<SignatureId, Pending> requests;
  std::map<Ring, uint64_t> entered;
  std::map<Ring, std::vector<uint64_t>> places;  // numbers of the calls that did
};

class Walk {
 public:
  explicit Walk(const Trace& trace) : trace_(trace), comms_(trace) {}

  Prefix run() {
    std::vector<uint64_t> limits(static_cast<size_t>(trace_.rank_count()), UINT64_MAX);
    do {
      begin(limits);
      for (bool is_moving = true; is_moving;) {
        is_moving = false;
        for (Rank rank = 0; rank < trace_.rank_count(); ++rank) is_moving |= go_on(rank);
      }
    } while (cut_sends(limits) || cut_collectives(limits));
    return result();
  }

 private:
  void begin(const std::vector<uint64_t>& limits) {
    sent_.clear();
    posted_.clear();
    arrived_.clear();
    messages_.clear();
    lanes_.clear();
    lanes_.resize(limits.size());
    for (size_t r = 0; r < lanes_.size(); ++r) {
      Lane& lane = lanes_[r];
      lane.limit = limits[r];
      lane.reader = std::make_unique<RankReader>(trace_, static_cast<Rank>(r));
      lane.decoder = std::make_unique<events::Decoder>(*lane.reader, comms_, places_);
      auto stream = events::UntimedCalls().open(*lane.reader, 0);
      if (stream != nullptr)
        lane.calls =
            std::make_unique<events::LookAhead>(std::move(stream), *lane.decoder, light_room_);
      lane.has_ended = lane.calls == nullptr;
    }
  }

  // Until the rank waits. Whether it made a call.
  bool go_on(Rank rank) {
    Lane& lane = lanes_[static_cast<size_t>(rank)];
    bool has_moved = false;
    while (!lane.has_ended) {
      if (!lane.has_call) {
        lane.has_ended = lane.done >= lane.limit || !lane.calls->next(lane.staged) ||
                         lane.staged.op->call == mpi::kMPI_Abort;
        if (lane.has_ended) break;
        lane.has_call = true;
        lane.waits = Pending();
        start(lane, rank);
        has_moved = true;
      }
      if (!is_there(lane.waits)) break;
      finish(lane);
      lane.has_call = false;
      ++lane.done;
      has_moved = true;
    }
    return has_moved;
  }

  bool is_there(const Pending& pending) const {
    for (const Need& need : pending.messages) {
      const auto found = sent_.find(need.channel);
      if (found == sent_.end() || found->second < need.number) return false;
    }
    for (const RingNeed& need : pending.collectives) {
      const auto found = arrived_.find({need.ring, need.number});
      if (found == arrived_.end() || found->second < need.ranks) return false;
    }
    return true;
  }

  void send(const events::Op& op, Rank rank) {
    if (op.send.peer < 0 || op.send.comm == events::kNoComm) return;
    ++sent_[events::channel_of_send(op.send, rank)];
    const Value& comm = events::argument(*op.signature, "comm");
    const auto known = trace_.communicator(comm.definition(), rank);
    messages_[events::channel_of_send(op.send, rank)].push_back(
        {op.send.peer, comm.definition(), known ? known->me : -1, op.send.tag});
  }

  void post(const events::MessageEnd& end, Rank rank, Pending& pending) {
    if (end.peer < 0 || end.comm == events::kNoComm || !end.is_known()) return;
    const ChannelKey channel = events::channel_of_receive(end, rank);
    pending.messages.push_back({channel, ++posted_[channel]});
  }

  void enter(Lane& lane, const events::Op& op, Pending& pending) {
    if (op.comm.key == events::kNoComm || op.comm.is_self || op.comm.all_ranks == 0) return;
    const Ring ring{op.comm.key, static_cast<uint8_t>(op.other)};
    const uint64_t number = ++lane.entered[ring];
    lane.places[ring].push_back(lane.done);
    ++arrived_[{ring, number}];
    pending.collectives.push_back({ring, number, op.comm.all_ranks});
  }

  // What the call, or a request that it starts, does at its begin.
  void begin_op(Lane& lane, const events::Op& op, Rank rank, Pending& pending) {
    if (op.sends()) send(op, rank);
    if (op.receives()) post(events::posted_receive(op, lane.staged, comms_, rank), rank, pending);
    if (op.action == Action::kCollective || op.action == Action::kOtherCollective)
      enter(lane, op, pending);
  }

  void start(Lane& lane, Rank rank) {
    const events::Op& op = *lane.staged.op;
    if (op.action == Action::kStart) {
      for (events::RequestUse use : op.requests)
        if (const events::Op* const maker = lane.decoder->maker(use); maker != nullptr)
          begin_op(lane, *maker, rank, lane.requests[use.request]);
      return;
    }
    if (op.is_persistent) return;
    if (op.makes_request) {
      Pending& pending = lane.requests[op.signature->id] = Pending();
      begin_op(lane, op, rank, pending);
      return;
    }
    begin_op(lane, op, rank, lane.waits);
    if (op.is_poll) return;
    if (op.action == Action::kMatchedProbe) post(op.receive, rank, lane.waits);
    if (op.action == Action::kProbe && op.receive.peer >= 0 && op.receive.is_known()) {
      const ChannelKey channel = events::channel_of_receive(op.receive, rank);
      lane.waits.messages.push_back({channel, posted_[channel] + 1});
    }
    if (op.action == Action::kComplete)
      for (const events::RequestUse& use : op.requests) {
        const Pending& pending = lane.requests[use.request];
        lane.waits.messages.insert(lane.waits.messages.end(), pending.messages.begin(),
                                   pending.messages.end());
        lane.waits.collectives.insert(lane.waits.collectives.end(), pending.collectives.begin(),
                                      pending.collectives.end());
      }
  }

  void finish(Lane& lane) {
    const events::Op& op = *lane.staged.op;
    if (op.action == Action::kComplete)
      for (const events::RequestUse& use : op.requests) lane.requests.erase(use.request);
  }

  // A call that has sent and cannot end, such as MPI_Sendrecv, is not made: nor is its send.
  bool cut_sends(std::vector<uint64_t>& limits) {
    bool has_cut = false;
    for (size_t r = 0; r < lanes_.size(); ++r) {
      const Lane& lane = lanes_[r];
      if (!lane.has_call || lane.has_ended || !lane.staged.op->sends()) continue;
      limits[r] = lane.done;
      has_cut = true;
    }
    return has_cut;
  }

  // Collectives that not all ranks have entered, and that a rank has left: it must not begin them.
  bool cut_collectives(std::vector<uint64_t>& limits) {
    bool has_cut = false;
    for (size_t r = 0; r < lanes_.size(); ++r)
      for (const auto& [request, pending] : lanes_[r].requests)
        for (const RingNeed& need : pending.collectives) {
          if (arrived_[{need.ring, need.number}] >= need.ranks) continue;
          const uint64_t place = lanes_[r].places[need.ring][need.number - 1];
          has_cut = has_cut || place < limits[r];
          limits[r] = std::min(limits[r], place);
        }
    return has_cut;
  }

  Prefix result() {
    Prefix out;
    for (const Lane& lane : lanes_) {
      out.calls.push_back(lane.done);
      std::set<SignatureId>& arriving = out.arriving.emplace_back();
      for (const auto& [request, pending] : lane.requests)
        if (!pending.messages.empty() && is_there(pending)) arriving.insert(request);
    }
    for (auto& [channel, sent] : messages_) {
      const auto posted = posted_.find(channel);
      const uint64_t taken = posted == posted_.end() ? 0 : posted->second;
      for (uint64_t i = taken; i < sent.size(); ++i) out.in_transit.push_back(sent[i]);
    }
    return out;
  }

  const Trace& trace_;
  events::CommTable comms_;
  events::Decoder::Places places_;
  events::LightRoom light_room_;
  std::vector<Lane> lanes_;
  struct ByParts {
    bool operator()(const ChannelKey& a, const ChannelKey& b) const {
      return std::tie(a.comm, a.source, a.dest, a.tag) < std::tie(b.comm, b.source, b.dest, b.tag);
    }
  };
  std::map<ChannelKey, uint64_t, ByParts> sent_, posted_;
  std::map<std::pair<Ring, uint64_t>, uint64_t> arrived_;
  std::map<ChannelKey, std::vector<Prefix::Message>, ByParts> messages_;
};

}  // namespace

bool ends_early(const Trace& trace) {
  uint64_t ranks = 0;
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    bool begins = false, ends = false;
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      const CallId call = trace.call_of(seen.signature);
      begins = begins || call == mpi::kMPI_Init || call == mpi::kMPI_Init_thread;
      ends = ends || call == mpi::kMPI_Finalize;
    }
    if (begins && !ends) return true;
    ranks += trace.group_size(group);
  }
  return ranks < static_cast<uint64_t>(trace.rank_count());
}

Prefix consistent_prefix(const Trace& trace) { return Walk(trace).run(); }

}  // namespace refrain::replay
