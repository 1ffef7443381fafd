#include "events/comms.h"

#include <utility>

namespace refrain::events {
namespace {

uint64_t of_this_world(uint64_t size, auto member) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < size; ++i) count += member(static_cast<int64_t>(i)) >= 0 ? 1 : 0;
  return count;
}

}  // namespace

CommView CommTable::view(DefinitionId definition, Rank me) {
  CommView out;
  auto comm = trace_.communicator(trace_.communicator_of(definition), me);
  out.comm = comm ? *comm : trace_.world(me);
  const Communicator& c = out.comm;
  const bool is_world = !comm || c.name == "MPI_COMM_WORLD";
  out.is_self = c.name == "MPI_COMM_SELF" || (!c.is_inter && c.size() <= 1);
  out.key = is_world ? make_key(Communicator(), out.is_self, me) : make_key(c, out.is_self, me);
  const auto [size, is_new] = sizes_.try_emplace(out.key, c.size());
  if (is_new && !is_world)
    size->second = of_this_world(c.size(), [&](int64_t i) { return c.member(i); }) +
                   of_this_world(c.remote_size(), [&](int64_t i) { return c.remote_member(i); });
  out.all_ranks = size->second;
  return out;
}

CommKey CommTable::make_key(const Communicator& comm, bool is_self, Rank me) {
  if (comm.definition == kNoDefinition) {
    if (!world_) world_ = keys_++;
    return *world_;
  }
  if (!comm.is_inter && !is_self) {
    const auto known = intra_.find(comm.definition);
    if (known != intra_.end()) return known->second;
    return intra_[comm.definition] = keys_++;
  }
  // Either side is known by its first rank; ids are the same on all members.
  std::pair<Rank, uint64_t> one(comm.member(0), comm.size());
  std::pair<Rank, uint64_t> other(comm.remote_member(0), comm.remote_size());
  if (is_self) one = {me, 1}, other = {-1, 0};
  if (other < one) std::swap(one, other);
  const Sides sides(comm.id, one.first, other.first, one.second, other.second);
  const auto known = inter_.find(sides);
  if (known != inter_.end()) return known->second;
  return inter_[sides] = keys_++;
}

}  // namespace refrain::events
