// Collectives, blocking or not: who enters, who must be there before who can leave.

#include <algorithm>

#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {
namespace {

// Kinds that nobody leaves before everybody has entered. Files are not among them: whether one of
// their operations synchronises is seen from its times (collect_file).
bool is_for_all(CollectiveKind kind) {
  return kind == CollectiveKind::kNxN || kind == CollectiveKind::kBarrier ||
         kind == CollectiveKind::kInit || kind == CollectiveKind::kFinalize ||
         kind == CollectiveKind::kWindow || kind == CollectiveKind::kFence;
}

}  // namespace

Pattern Sweep::pattern_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBarrier: return Pattern::kWaitAtBarrier;
    case CollectiveKind::kToRoot: return Pattern::kEarlyReduce;
    case CollectiveKind::kFromRoot: return Pattern::kLateBroadcast;
    case CollectiveKind::kScan: return Pattern::kEarlyScan;
    case CollectiveKind::kInit: return Pattern::kInitImbalance;
    case CollectiveKind::kFinalize: return Pattern::kFinalizeImbalance;
    case CollectiveKind::kWindow: return Pattern::kWaitAtWindow;
    case CollectiveKind::kFence: return Pattern::kWaitAtFence;
    case CollectiveKind::kNeighbours: return Pattern::kLateNeighbour;
    case CollectiveKind::kFile: return Pattern::kWaitAtCollectiveIo;
    // Those that make communicators are of this kind, too.
    case CollectiveKind::kNxN: break;
  }
  return Pattern::kWaitAtNxN;
}

// Which collective this is: calls of a communicator happen in the same order on all its members.
InstanceKey Sweep::next_instance(RankState& rank, const Op& op, uint64_t window) {
  if (op.collective == CollectiveKind::kFence)
    // MPI orders fences among the calls for one window only. Ranks may mix them with collectives of
    // the communicator in different ways, so each window has a stream of its own.
    return {op.comm.key, kWindowStreams + window, rank.fences[window]++};
  return {op.comm.key, 0, rank.collectives[op.comm.key]++};
}

void Sweep::begin_collective(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  RankState& rank = rank_of(l);
  const Value* win = op.signature->find("win");
  uint64_t window = 0;
  if (win != nullptr && op.collective == CollectiveKind::kFence) {
    const auto known = rank.windows.find(win->at_entry().number);
    if (known == rank.windows.end()) return;  // made before recording began
    window = known->second;
  }
  // It is entered when it is started, and only then has an instance.
  if (op.is_persistent) return take_part(location, {});
  const InstanceKey key = next_instance(rank, op, window);
  take_part(location, key);
  const Instance* instance = instances_.find(key);
  // Ids of windows are each rank's own. The number of the collective that made a window is the same
  // on all ranks, so it says which window a call is about.
  if (op.collective == CollectiveKind::kWindow && win != nullptr && instance != nullptr &&
      win->at_exit().is_object())
    rank.windows[win->at_exit().number] = instance->number;
}

// Enters it now, or, of a persistent request, with each start.
void Sweep::take_part(uint32_t location, const InstanceKey& key) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  if (op.is_persistent) {  // its n-th start is the n-th of all members
    Request& made = rank_of(l).states.of(op).made;
    made = Request();
    made.exists = made.is_collective = true;
    // Making it is collective as well, so the n-th that is made of a communicator is the same one
    // on all its members (MPI-4.0, section 6.13).
    made.persistent_stream = 1 + rank_of(l).persistent_made[op.comm.key]++;
    return;
  }
  enter(location, key, op);
  // The members enter one after the other, and each says which edges it has: the topology is whole
  // when the last one is there.
  if (op.topology != nullptr) {
    const Instance* instance = instances_.find(key);
    topologies_.note(*op.topology,
                     instance != nullptr && instance->all.count >= instance->expected);
  }
  if (op.makes_request) {
    Request& made = rank_of(l).states.of(op).made;
    made = Request();
    made.exists = made.is_collective = made.is_active = true;
    made.instance = key;
    return;
  }
  l.instance = key;
  l.in_instance = true;
}

void Sweep::enter(uint32_t location, const InstanceKey& key, const Op& op) {
  LocationState& l = locations_[location];
  const bool is_world =
      op.collective == CollectiveKind::kInit || op.collective == CollectiveKind::kFinalize;
  Instance* instance = instances_.enter(key, is_world ? ranks_here_ : op.comm.all_ranks);
  if (instance == nullptr) return;
  ++counts_.collectives;
  // Only sums and the last entry are kept, not the members: an instance of a million ranks is as
  // small as one of two. Where a rank needs some of the others only, these are kept by themselves.
  const auto add = [&](LastEntry& entry) { entry.add(l.begin, l.node, l.rank, l.ideal); };
  add(instance->all);
  if (op.role == Role::kRoot) {
    add(instance->root);
    // Of an inter-communicator the group without the root are the leaves; the rest of the root's
    // group has no part (MPI_PROC_NULL as its root).
    instance->leaves_expected =
        op.comm.comm.is_inter ? op.comm.comm.remote_size() : instance->expected - 1;
  }
  if (op.role == Role::kLeaf) add(instance->leaves);
  if (op.collective == CollectiveKind::kScan || op.other == OtherCall::kOrdered ||
      op.other == OtherCall::kOrderedBegin) {
    LastEntry entry;
    add(entry);
    instance->members.add(op.comm.comm.me, entry);
  }
  if (op.collective == CollectiveKind::kNeighbours) {
    LastEntry entry;
    add(entry);
    instances_.add_neighbour(*instance, op.comm.comm.me, entry);
    // Its creation was before recording began: whom it hears from is not known, so no waiting is
    // found.
    counts_.unknown_topologies += topologies_.knows(op.comm.key) ? 0 : 1;
  }
  // Whom this entry does not help stays asleep: n ranks that wait would look n times each.
  const bool is_last = instance->all.count >= instance->expected;
  const bool waits_for_root =
      op.collective == CollectiveKind::kFromRoot && instance->root.count == 0;
  const bool waits_for_all =
      is_for_all(op.collective) || op.collective == CollectiveKind::kFile || waits_for_root;
  if (!is_last && waits_for_all) return;
  for (const uint32_t held : instance->held) wake(held);
  instance->held.clear();
  for (uint32_t held = 0; instance->members.take_free(held);) wake(held);
}

// The last of those that a rank needs before it can leave. False: not all of them are there.
bool Sweep::find_needed(const Instance& instance, const Op& op, LastEntry& needed) {
  if (is_for_all(op.collective)) {
    needed = instance.all;
    return needed.count >= instance.expected;
  }
  // In the rooted kinds one side alone waits: a leaf of a reduction may leave when it has sent, and
  // so may the root of a broadcast.
  if (op.collective == CollectiveKind::kToRoot && op.role == Role::kRoot) {
    needed = instance.leaves;
    return needed.count >= instance.leaves_expected;
  }
  if (op.collective == CollectiveKind::kFromRoot && op.role == Role::kLeaf) {
    needed = instance.root;
    return needed.count > 0;
  }
  if (op.collective == CollectiveKind::kScan) {
    // Position p needs the p members below it, and no other.
    needed = instance.members.below(op.comm.comm.me);
    return needed.count >= static_cast<uint64_t>(std::max<int64_t>(op.comm.comm.me, 0));
  }
  return op.collective != CollectiveKind::kNeighbours || collect_neighbours(instance, op, needed);
}

// False: somebody that it needs is not there yet, and the location is to be woken.
bool Sweep::collect_collective(uint32_t location, const InstanceKey& key, const Op& op,
                               bool blocking) {
  LocationState& l = locations_[location];
  Instance* instance = instances_.find(key);
  if (instance == nullptr) return true;
  if (op.collective == CollectiveKind::kFile)
    return collect_file(location, *instance, op, blocking);
  LastEntry needed;
  const bool ready = find_needed(*instance, op, needed);
  if (!ready && !l.gave_up) {
    if (op.collective == CollectiveKind::kScan)
      instance->members.hold(op.comm.comm.me, location);
    else
      instance->held.push_back(location);
    return false;
  }
  if (needed.count == 0) return true;
  release(l, needed, pattern_of(op.collective));
  // How long after the last entry a rank still was inside. Requests have none: they may have been
  // complete long before the program asked.
  const bool has_completion =
      op.collective == CollectiveKind::kNxN || op.collective == CollectiveKind::kBarrier;
  if (blocking && has_completion && instance->has_left) {
    has_completion_ = true;
    first_left_ = instance->first_end;
    completion_ = op.collective == CollectiveKind::kBarrier ? Pattern::kBarrierCompletion
                                                            : Pattern::kNxNCompletion;
  }
  return true;
}

void Sweep::release(const LocationState& l, const LastEntry& needed, Pattern pattern) {
  if (needed.count == 0) return;
  // Its own entry last: nobody to wait for.
  // A wait needs somebody else as its cause. In the ideal run, too, nobody goes on before the last
  // one is there, also that last one itself.
  if (needed.node != l.node)
    releases_.push_back({needed.begin, pattern, needed.node, needed.rank, needed.ideal});
  else
    ideal_ = std::max(ideal_, needed.ideal);
}

void Sweep::leave(LocationState& l, const InstanceKey& key, const Op& op, bool blocking) {
  Instance* instance = instances_.find(key);
  if (instance == nullptr) return;
  if (blocking && !instance->has_left) {
    instance->has_left = true;
    instance->first_end = l.end;
  }
  // The call that ends it leaves it.
  if (op.other == OtherCall::kSplitBegin || op.other == OtherCall::kOrderedBegin) return;
  instances_.leave(key);
}

}  // namespace refrain::analysis::waits
