#include "analysis/replays/replay_objects.h"

#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::analysis {
namespace {

bool same_members(const Communicator& a, const Communicator& b) {
  for (uint64_t i = 0; i < a.size(); ++i)
    if (a.member(static_cast<int64_t>(i)) != b.member(static_cast<int64_t>(i))) return false;
  for (uint64_t i = 0; i < a.remote_size(); ++i)
    if (a.remote_member(static_cast<int64_t>(i)) != b.remote_member(static_cast<int64_t>(i)))
      return false;
  return true;
}

}  // namespace

bool same_object(const Trace& original, const Trace& again, Rank rank, const Value& a,
                 const Value& b) {
  const auto one = original.communicator(a.definition(), rank);
  const auto other = again.communicator(b.definition(), rank);
  if (one.has_value() != other.has_value()) return false;
  if (one)
    return one->me == other->me && one->size() == other->size() &&
           one->remote_size() == other->remote_size() && same_members(*one, *other);
  const auto type = original.datatype(a.definition());
  const auto type_again = again.datatype(b.definition());
  if (type.has_value() != type_again.has_value()) return false;
  return !type ||
         (type->size_bytes == type_again->size_bytes &&
          type->extent_bytes == type_again->extent_bytes && type->combiner == type_again->combiner);
}

bool lacks_calls(const Trace& trace) {
  for (const Loss& loss : trace.info().losses)
    if (loss.reason == "left_out") return true;
  return false;
}

void OtherNames::note(const Value& a, const Value& b) {
  names_[original_.object_name(a.definition())].insert(again_.object_name(b.definition()));
}

bool OtherNames::has(const Value& a, const Value& b) const {
  const auto known = names_.find(original_.object_name(a.definition()));
  return known != names_.end() && known->second.count(again_.object_name(b.definition())) != 0;
}

bool asks_environment(const mpi::CallInfo& info) {
  using Group = mpi::CallGroup;
  return info.group == Group::kEnv || info.group == Group::kTool || info.group == Group::kInfo ||
         info.group == Group::kError || info.group == Group::kAttr ||
         info.group == Group::kSession || info.group == Group::kMisc ||
         // An MPI makes shared memory larger than was asked for, by hints that a replay leaves out.
         mpi::meaning_of(info.id).plain == mpi::kMPI_Win_shared_query;
}

}  // namespace refrain::analysis
