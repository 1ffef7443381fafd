// Collectives that do not bind all members to one another: neighbourhoods, whose ranks wait for
// those that they hear from; files, whose operations may, and in most libraries do, but need not;
// and those that make communicators from groups, in which only the members of these take part.

#include <algorithm>

#include "analysis/waits/sweep.h"

namespace refrain::analysis::waits {

void Sweep::begin_other(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  RankState& rank = rank_of(l);
  switch (op.other) {
    case OtherCall::kOfComm:
      // A persistent one is entered when it is started.
      if (op.is_persistent) return take_part(location, {});
      return take_part(location, next_instance(rank, op, 0));
    case OtherCall::kOfMade:
      // Only the members of the new communicator take part, and they need not be all of the old
      // one: so they are counted along the new one, in a stream apart from its own collectives.
      return take_part(location, {op.comm.key, kMakerStream, rank.made[op.comm.key]++});
    case OtherCall::kNone: return;
    default: return begin_file(location);
  }
}

void Sweep::begin_file(uint32_t location) {
  LocationState& l = locations_[location];
  const Op& op = *l.current.op;
  RankState& rank = rank_of(l);
  if (op.other == OtherCall::kOpen) {
    const InstanceKey key{op.comm.key, kOpenStream, rank.opens[op.comm.key]++};
    take_part(location, key);
    const Instance* instance = instances_.find(key);
    if (instance == nullptr || op.file < 0) return;
    // As with windows: ids of files are each rank's own, the number of the collective open is
    // common. An id that is used again names another file, which begins to count anew.
    rank.files[op.file] = File();
    rank.files[op.file].number = instance->number;
    return;
  }
  const auto known = rank.files.find(op.file);
  if (known == rank.files.end()) return;  // opened before recording began
  File& file = known->second;
  // The two halves of a split call are one collective: the second half enters nothing, and may wait
  // for what the first half entered.
  if (op.other == OtherCall::kSplitEnd) {
    if (!file.is_split) return;
    file.is_split = false;
    l.instance = file.split;
    l.in_instance = true;
    return;
  }
  const InstanceKey key{op.comm.key, kFileStreams + file.number, file.calls++};
  if (op.other == OtherCall::kSplitBegin || op.other == OtherCall::kOrderedBegin) {
    file.is_split = true;
    file.split = key;
  }
  take_part(location, key);
}

// Nobody left before the last one was there: then it is what the others waited for.
bool Sweep::collect_file(uint32_t location, Instance& instance, const Op& op, bool blocking) {
  const LocationState& l = locations_[location];
  // The first and the second half are judged apart: a library may synchronise in one of them only.
  const bool completes = !blocking || op.other == OtherCall::kSplitEnd;
  bool& is_loose = completes ? instance.is_completed_loosely : instance.is_loose;
  if (instance.all.count < instance.expected) {
    // Held for a short while: entries of others may be recorded a little late (hold()). A request
    // is not held, since its operation may be complete although nobody else has entered.
    if (blocking && !l.gave_up) {
      instance.held.push_back(location);
      return false;
    }
    is_loose = true;
  }
  const bool in_order = op.other == OtherCall::kOrdered || op.other == OtherCall::kOrderedBegin;
  if (!is_loose) release(l, instance.all, Pattern::kWaitAtCollectiveIo);
  // Ordered access passes a token from rank to rank, so the ranks below are needed even where the
  // library does not synchronise all.
  else if (in_order)
    release(l, instance.members.below(op.comm.comm.me), Pattern::kWaitAtCollectiveIo);
  return true;
}

// Whom it hears from, as numbers in the communicator; those that have calls in the trace.
void Sweep::sources_of(const Op& op) {
  sources_.clear();
  const int64_t me = op.comm.comm.me;
  if (!topologies_.sources(op.comm.key, me, sources_)) return;
  // Neither itself, nor MPI_PROC_NULL at the border of a grid, nor ranks that were not recorded.
  const auto is_nobody = [&](int64_t source) {
    return source == me || source < 0 || !is_here(op.comm.comm.member(source));
  };
  sources_.erase(std::remove_if(sources_.begin(), sources_.end(), is_nobody), sources_.end());
}

bool Sweep::collect_neighbours(const Instance& instance, const Op& op, LastEntry& needed) {
  sources_of(op);
  bool ready = true;
  for (const int64_t source : sources_) {
    const LastEntry* entry = instance.neighbours.find(source);
    if (entry == nullptr)
      ready = false;
    else
      needed.add(*entry);
  }
  return ready;
}

}  // namespace refrain::analysis::waits
