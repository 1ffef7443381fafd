// Messages and collectives: who has arrived, who waits, and what must be buffered.

#include <algorithm>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "replay/plan/unbuffered_run.h"

namespace refrain::replay::plan {

using events::Action;
using events::CollectiveKind;
using events::Op;
using events::OtherCall;
using events::Role;

UnbufferedRun::Request& UnbufferedRun::make_request(Lane& lane, const Op& op) {
  Request& request = lane.requests[op.signature->id];
  request = Request();
  request.maker = &op;
  request.serial = ++serials_;
  return request;
}

UnbufferedRun::Name UnbufferedRun::make_end(uint32_t index, Request* request, SignatureId id,
                                            bool is_send) {
  Name name = static_cast<Name>(ends_.size());
  if (free_.empty()) {
    ends_.emplace_back();
  } else {
    name = free_.back();
    free_.pop_back();
  }
  End& end = ends_[name];
  end = End();
  end.lane = index;
  end.is_used = true;
  end.is_send = is_send;
  end.place = place_of(*lanes_[index]);
  if (request != nullptr) {
    end.has_request = true;
    end.request = id;
    end.serial = request->serial;
  }
  return name;
}

void UnbufferedRun::free_end(Name name) {
  ends_[name].is_used = false;
  free_.push_back(name);
}

// Of the call itself, or of a request that it makes or starts.
void UnbufferedRun::post(uint32_t index, const Op& op, Request* request) {
  Lane& lane = *lanes_[index];
  uint32_t& open = request != nullptr ? request->open : lane.open;
  open = 0;
  const SignatureId id = op.signature->id;
  // Messages in parts match among themselves.
  const auto own = [&](events::ChannelKey channel) {
    if (op.is_partitioned) channel.comm |= events::CommKey{1} << 31;
    return channel;
  };
  if (op.sends() && op.send.peer != events::kNobody) {
    const Name name = make_end(index, request, id, true);
    End& end = ends_[name];
    end.bytes = op.send.bytes;
    end.is_buffered = op.send.is_buffered;
    end.may_be_buffered = !op.send.is_buffered && !op.send.is_synchronous && !op.is_partitioned;
    if (end.is_buffered) {
      end.bytes = 0;  // the program's own buffer
    } else {
      ++open;
      (request != nullptr ? request->send : lane.send) = name;
    }
    enter(own(events::channel_of_send(op.send, lane.rank)), name);
  }
  if (!op.receives()) return;
  const events::MessageEnd end = events::posted_receive(op, lane.staged, comms_, lane.rank);
  if (end.peer == events::kNobody) return;
  if (!end.is_known()) {  // what it took is not known: it takes nothing here
    out_.is_guess = true;
    return;
  }
  const Name name = make_end(index, request, id, false);
  ++open;
  enter(own(events::channel_of_receive(end, lane.rank)), name);
}

void UnbufferedRun::enter(const events::ChannelKey& channel, Name name) {
  const auto link = [this](Name n) -> Name& { return ends_[n].next; };
  events::ChannelQueues::Queue& queue = queues_.of(channel);
  const bool is_send = ends_[name].is_send;
  if (queue.has(!is_send)) {
    meet(queues_.take(channel, queue, link));
    meet(name);
    return;
  }
  events::ChannelQueues::append(queue, is_send, name, link);
  // Somebody may look for it.
  if (is_send) wake(static_cast<uint32_t>(channel.dest));
}

// It has met its other end.
void UnbufferedRun::meet(Name name) {
  const End end = ends_[name];
  free_end(name);
  if (end.is_buffered) {
    held_[end.lane] -= end.bytes;
    return;
  }
  Lane& lane = *lanes_[end.lane];
  if (!end.has_request) {
    --lane.open;
    if (lane.send == name) lane.send = kNone;
  } else {
    const auto known = lane.requests.find(end.request);
    if (known == lane.requests.end() || known->second.serial != end.serial) return;  // freed
    --known->second.open;
    if (known->second.send == name) known->second.send = kNone;
  }
  wake(end.lane);
}

// ---- collectives ----

const UnbufferedRun::Collective* UnbufferedRun::open_collective(events::CommKey comm,
                                                                uint64_t number) const {
  const auto stream = streams_.find(comm);
  if (stream == streams_.end() || number < stream->second.base) return nullptr;
  const uint64_t at = number - stream->second.base;
  return at < stream->second.open.size() ? &stream->second.open[at] : nullptr;
}

bool UnbufferedRun::has_passed(events::CommKey comm, uint64_t number) const {
  const auto stream = streams_.find(comm);
  return stream == streams_.end() || number < stream->second.base;
}

void UnbufferedRun::compare(Collective& collective, const Lane& lane, const Op& op) {
  const mpi::CallMeaning& meaning = mpi::meaning_of(op.call);
  const Value& root = events::argument(*op.signature, "root");
  const Rank rank =
      root.is_integer() && !op.comm.comm.is_inter ? op.comm.comm.member(root.number) : -1;
  if (collective.arrived == 0) {
    collective.plain = meaning.plain;
    collective.how = meaning.how;
    collective.root = rank;
    collective.first = place_of(lane);
    return;
  }
  if (collective.plain == meaning.plain && collective.how == meaning.how && collective.root == rank)
    return;
  if (++out_.disagreements > 1) return;
  out_.one = collective.first;
  out_.other = place_of(lane);
}

void UnbufferedRun::arrive(uint32_t index, const Op& op, Request* request) {
  Lane& lane = *lanes_[index];
  const bool is_of_comm = op.action == Action::kCollective || op.other == OtherCall::kOfComm;
  const bool is_of_library =
      op.collective == CollectiveKind::kInit || op.collective == CollectiveKind::kFinalize;
  const bool is_of_window =
      op.collective == CollectiveKind::kWindow || op.collective == CollectiveKind::kFence;
  if (!is_of_comm || is_of_library || is_of_window) return;  // waits for nobody here
  Stream& stream = streams_[op.comm.key];
  const uint64_t number = lane.collectives[op.comm.key]++;
  if (number < stream.base) return;  // more ranks call it than the communicator has
  while (number >= stream.base + stream.open.size()) stream.open.emplace_back();
  Collective& collective = stream.open[number - stream.base];
  compare(collective, lane, op);
  ++collective.arrived;
  if (op.role == Role::kRoot) collective.has_root = true;
  const bool waits = op.collective != CollectiveKind::kNeighbours;
  if (waits) collective.lanes.push_back(index);
  if (request != nullptr) {
    request->has_collective = waits;
    request->number = number;
  } else if (waits) {
    lane.waits = Waits::kCollective;
    lane.number = number;
  }
  while (!stream.open.empty() && stream.open.front().arrived >= op.comm.all_ranks) {
    for (const uint32_t other : stream.open.front().lanes) wake(other);
    stream.open.pop_front();
    ++stream.base;
  }
}

// Whether a library may let the rank go on before all have arrived.
bool UnbufferedRun::may_leave(const Lane& lane, const Op& op, uint64_t number) const {
  const Collective* const collective = open_collective(op.comm.key, number);
  if (collective == nullptr) return false;
  if (op.role == Role::kNone) return true;
  switch (op.collective) {
    case CollectiveKind::kFromRoot: return op.role == Role::kRoot || collective->has_root;
    case CollectiveKind::kToRoot: return op.role == Role::kLeaf;
    case CollectiveKind::kScan: return op.comm.comm.member(0) == lane.rank;
    default: return false;
  }
}

// ---- when no rank can go on ----

// The shortest of the sends that ranks wait for; of equal ones that of the lowest rank.
bool UnbufferedRun::buffer_one() {
  Name best = kNone;
  const auto offer = [&](Name name) {
    if (name == kNone || !ends_[name].may_be_buffered || ends_[name].is_buffered) return;
    if (best == kNone || ends_[name].bytes < ends_[best].bytes) best = name;
  };
  for (const auto& lane : lanes_) {
    if (lane->waits == Waits::kMessages) offer(lane->send);
    if (lane->waits != Waits::kRequests) continue;
    for (const events::RequestUse& use : lane->staged.op->requests) {
      const auto known = lane->requests.find(use.request);
      if (known != lane->requests.end()) offer(known->second.send);
    }
  }
  if (best == kNone) return false;
  End& end = ends_[best];
  Lane& lane = *lanes_[end.lane];
  end.is_buffered = true;
  if (out_.sends++ == 0) out_.first = end.place;
  out_.longest_bytes = std::max(out_.longest_bytes, end.bytes);
  held_[end.lane] += end.bytes;
  out_.bytes[end.lane] = std::max(out_.bytes[end.lane], held_[end.lane]);
  if (end.has_request) {
    Request& request = lane.requests[end.request];
    --request.open;
    request.send = kNone;
  } else {
    --lane.open;
    lane.send = kNone;
  }
  wake(end.lane);
  return true;
}

bool UnbufferedRun::let_go() {
  for (uint32_t index = 0; index < lanes_.size(); ++index) {
    Lane& lane = *lanes_[index];
    if (lane.has_ended) continue;
    const Op& op = *lane.staged.op;
    if (lane.waits == Waits::kCollective && may_leave(lane, op, lane.number)) {
      lane.is_let_go = true;
      ++out_.collectives;
      wake(index);
    }
    if (lane.waits != Waits::kRequests) continue;
    for (const events::RequestUse& use : op.requests) {
      const auto known = lane.requests.find(use.request);
      if (known == lane.requests.end() || !known->second.has_collective) continue;
      Request& request = known->second;
      if (has_passed(request.maker->comm.key, request.number) ||
          !may_leave(lane, *request.maker, request.number))
        continue;
      request.has_collective = false;
      ++out_.collectives;
      wake(index);
    }
  }
  return !next_.empty();
}

void UnbufferedRun::count_what_is_left() {
  for (const End& end : ends_) {
    if (!end.is_used) continue;
    uint64_t& count = end.is_send ? out_.sends_left : out_.receives_left;
    CallPlace& place = end.is_send ? out_.send_left : out_.receive_left;
    if (count++ == 0 || end.place.rank < place.rank) place = end.place;
  }
}

}  // namespace refrain::replay::plan
