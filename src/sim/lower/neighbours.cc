#include "sim/lower/neighbours.h"

#include "events/payload.h"
#include "mpi/call_meaning.h"

namespace refrain::sim {
namespace {

using events::TopologyCall;

}  // namespace

Neighbours::Neighbours(const Trace& trace, events::CommTable& comms) {
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) read(trace, comms, rank);
  // A copy, or a part of a grid, comes after the one that it is made of.
  events::Topologies topologies;
  bool has_grown = true;
  while (has_grown) {
    has_grown = false;
    for (const auto& [comm, made] : made_) {
      if (topologies.knows(comm)) continue;
      const TopologyCall::Kind kind = made.calls.front().kind;
      const bool is_copy =
          kind == TopologyCall::Kind::kCopy || kind == TopologyCall::Kind::kCartSub;
      if (is_copy && !topologies.knows(made.calls.front().old)) continue;
      for (size_t i = 0; i < made.calls.size(); ++i)
        topologies.note(made.calls[i], i + 1 == made.calls.size());
      has_grown = has_grown || topologies.knows(comm);
    }
  }
  for (const auto& [comm, made] : made_)
    if (topologies.knows(comm)) find_lists(comm, made, topologies);
}

bool Neighbours::are_needed(const Trace& trace) {
  for (SignatureId id = 0; id < trace.signature_count(); ++id)
    if (mpi::meaning_of(trace.call_of(id)).flow == mpi::Flow::kNeighbours) return true;
  return false;
}

events::CommKey Neighbours::key(events::CommKey comm, uint32_t number) {
  return keys_.try_emplace({comm, number}, static_cast<events::CommKey>(keys_.size()))
      .first->second;
}

void Neighbours::read(const Trace& trace, events::CommTable& comms, Rank rank) {
  const auto group = trace.group_of(rank);
  if (!group) return;
  RankReader reader(trace, rank);
  std::map<events::CommKey, uint32_t> numbers;  // topologies of each name so far
  for (const Trace::Occurrence& seen : trace.occurrences(*group)) {
    if (!mpi::meaning_of(trace.call_of(seen.signature)).does_any(mpi::kDoesMake)) continue;
    const Signature& signature = reader.signature(seen.signature);
    const auto call = events::topology_of(signature, comms, rank);
    if (call == nullptr || call->made == events::kNoComm) continue;
    const auto old = numbers.find(call->old);
    call->old = old == numbers.end() ? events::kNoComm : key(call->old, old->second - 1);
    call->made = key(call->made, numbers[call->made]++);
    made_by_[{rank, seen.signature}] = call->made;
    for (const char* const name : {"newcomm", "comm_cart", "comm_graph", "comm_dist_graph"})
      if (const Value* const made = signature.find(name); made != nullptr)
        add(*call, signature, comms.view(made->at_exit().id, rank).comm.size());
  }
}

events::CommKey Neighbours::made_by(Rank rank, SignatureId call) const {
  const auto known = made_by_.find({rank, call});
  return known == made_by_.end() ? events::kNoComm : known->second;
}

void Neighbours::add(const TopologyCall& call, const Signature& signature, uint64_t members) {
  Made& made = made_[call.made];
  made.members = members;
  made.calls.push_back(call);
  if (call.kind != TopologyCall::Kind::kAdjacent) return;
  std::vector<int64_t>& targets = made.targets[call.me_in_old];
  events::argument(signature, "destinations").for_each([&](const Value& one) {
    targets.push_back(one.integer_or(-1));
  });
}

void Neighbours::find_lists(events::CommKey comm, const Made& made,
                            const events::Topologies& topologies) {
  const auto members = static_cast<int64_t>(made.members);
  const auto keep = [&](std::vector<int64_t>& ranks) {
    for (int64_t& one : ranks)
      if (one < 0 || one >= members) one = -1;
  };
  const TopologyCall::Kind kind = made.calls.front().kind;
  bool is_grid = false;
  for (int64_t me = 0; me < members; ++me) {
    Lists& lists = lists_[{comm, me}];
    if (topologies.grid_neighbours(comm, me, lists.sources)) {
      lists.targets = lists.sources;
      is_grid = true;
      continue;
    }
    (void)topologies.sources(comm, me, lists.sources);
    keep(lists.sources);
    if (kind == TopologyCall::Kind::kGraph) lists.targets = lists.sources;
    const auto named = made.targets.find(me);
    if (kind == TopologyCall::Kind::kAdjacent && named != made.targets.end()) {
      lists.targets = named->second;
      keep(lists.targets);
    }
  }
  if (is_grid || kind == TopologyCall::Kind::kGraph || kind == TopologyCall::Kind::kAdjacent)
    return;
  for (int64_t me = 0; me < members; ++me)
    for (const int64_t source : lists_[{comm, me}].sources)
      if (source >= 0) lists_[{comm, source}].targets.push_back(me);
}

const Neighbours::Lists* Neighbours::of(events::CommKey made, int64_t me) const {
  const auto known = lists_.find({made, me});
  return known == lists_.end() ? nullptr : &known->second;
}

}  // namespace refrain::sim
