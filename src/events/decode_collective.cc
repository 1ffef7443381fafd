// Collectives, windows and the groups of their epochs.

#include <optional>
#include <string_view>

#include "events/op.h"
#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::events {
namespace {

// Of the calls that make communicators only those whose ranks are known before: nullopt for the
// others, and for what is no collective of ranks among themselves.
std::optional<CollectiveKind> kind_of(const mpi::CallMeaning& meaning) {
  const bool makes = meaning.does_any(mpi::kDoesMake);
  if (makes && (meaning.over_param >= 0 || meaning.how != mpi::How::kWaits)) return std::nullopt;
  switch (meaning.flow) {
    case mpi::Flow::kBarrier: return CollectiveKind::kBarrier;
    case mpi::Flow::kFromRoot: return CollectiveKind::kFromRoot;
    case mpi::Flow::kToRoot: return CollectiveKind::kToRoot;
    case mpi::Flow::kScan: return CollectiveKind::kScan;
    case mpi::Flow::kAll: return CollectiveKind::kNxN;
    case mpi::Flow::kInit: return CollectiveKind::kInit;
    case mpi::Flow::kFinalize: return CollectiveKind::kFinalize;
    default: return std::nullopt;
  }
}

// The communicator of a call that makes another one out of it.
constexpr std::string_view kOldComm[] = {"comm", "comm_old", "intercomm"};

}  // namespace

bool Decoder::decode_collective(const Signature& s, const mpi::CallMeaning& meaning, Op& op) {
  const std::optional<CollectiveKind> kind = kind_of(meaning);
  if (!kind) return false;
  const auto is_over = [&](CommView comm) {
    op.action = comm.is_self ? Action::kNothing : Action::kCollective;
    op.collective = *kind;
    op.comm = comm;
    return true;
  };
  if (*kind == CollectiveKind::kInit || *kind == CollectiveKind::kFinalize)
    return is_over(comms_.view(kNoDefinition, source_.rank()));
  if (meaning.does_any(mpi::kDoesMake)) {
    for (const std::string_view parameter : kOldComm)
      if (argument(s, parameter).is_object()) return is_over(comm_of(s, parameter));
    return false;
  }
  is_over(comm_of(s, "comm"));
  if (*kind != CollectiveKind::kToRoot && *kind != CollectiveKind::kFromRoot) return true;
  const Value& root = argument(s, "root");
  op.role = is_root(root, op.comm.comm) ? Role::kRoot
            : root.is_integer()         ? Role::kLeaf
                                        : Role::kNone;
  return true;
}

bool Decoder::decode_window(const Signature& s, const mpi::CallMeaning& meaning, Op& op) {
  if (meaning.flow == mpi::Flow::kWindow || meaning.flow == mpi::Flow::kFence) {
    op.comm = comm_of(s, s.find("comm") != nullptr ? "comm" : "win");
    op.action = op.comm.is_self ? Action::kNothing : Action::kCollective;
    op.collective =
        meaning.flow == mpi::Flow::kFence ? CollectiveKind::kFence : CollectiveKind::kWindow;
    return true;
  }
  const Value& win = argument(s, "win");
  if (!win.is_object()) return false;
  op.window = win.number;
  op.comm = comm_of(s, "win");
  const auto target = [&](std::string_view parameter) {
    const Value& rank = argument(s, parameter);
    if (rank.is_integer() && op.comm.comm.member(rank.number) >= 0)
      op.partners = {op.comm.comm.member(rank.number)};
  };
  switch (s.call) {
    case mpi::kMPI_Win_post:
    case mpi::kMPI_Win_start: {
      op.epoch = s.call == mpi::kMPI_Win_post ? EpochCall::kPost : EpochCall::kStart;
      const Value& group = argument(s, "group");
      op.message_object = group.is_object() ? group.number : -1;
      break;
    }
    case mpi::kMPI_Win_complete: op.epoch = EpochCall::kComplete; break;
    case mpi::kMPI_Win_wait: op.epoch = EpochCall::kWait; break;
    case mpi::kMPI_Win_lock:
    case mpi::kMPI_Win_lock_all:
      op.epoch = EpochCall::kLock;
      op.all_targets = s.call == mpi::kMPI_Win_lock_all;
      op.is_exclusive = argument(s, "lock_type").name() == "MPI_LOCK_EXCLUSIVE";
      target("rank");
      break;
    case mpi::kMPI_Win_unlock:
    case mpi::kMPI_Win_unlock_all:
      op.epoch = EpochCall::kUnlock;
      op.all_targets = s.call == mpi::kMPI_Win_unlock_all;
      target("rank");
      break;
    case mpi::kMPI_Win_flush:
    case mpi::kMPI_Win_flush_local:
    case mpi::kMPI_Win_flush_all:
    case mpi::kMPI_Win_flush_local_all:
      op.epoch = EpochCall::kAccess;
      op.all_targets = s.call == mpi::kMPI_Win_flush_all || s.call == mpi::kMPI_Win_flush_local_all;
      target("rank");
      break;
    default:
      if (!meaning.does_any(mpi::kDoesAccess)) break;
      op.epoch = EpochCall::kAccess;
      target("target_rank");
  }
  if (op.epoch == EpochCall::kNone) return false;
  op.action = Action::kWindowEpoch;
  op.makes_request = false;  // an access that makes a request is complete for the origin only
  return true;
}

std::vector<Rank> Decoder::listed(const std::vector<Rank>& from, const Value* list,
                                  bool keep) const {
  std::vector<Rank> chosen;
  std::vector<bool> taken(from.size());
  if (list != nullptr)
    list->at_entry().for_each([&](const Value& rank) {
      if (!rank.is_integer() || rank.number < 0) return;
      const auto i = static_cast<size_t>(rank.number);
      if (i >= from.size()) return;
      taken[i] = true;
      chosen.push_back(from[i]);
    });
  if (keep) return chosen;
  chosen.clear();
  for (size_t i = 0; i < from.size(); ++i)
    if (!taken[i]) chosen.push_back(from[i]);
  return chosen;
}

// A group's definition does not say who is in it, but the calls that made it do. Groups that others
// make (MPI_Group_range_incl, ...) stay unknown.
void Decoder::follow_groups(const Signature& s) {
  const mpi::CallInfo* info = mpi::find_call(s.call);
  if (info == nullptr || s.failed()) return;
  const bool of_comm = s.call == mpi::kMPI_Comm_group || s.call == mpi::kMPI_Win_get_group;
  if (!of_comm && info->group != mpi::CallGroup::kGroup) return;
  const Value* made = s.find(of_comm ? "group" : "newgroup");
  if (made == nullptr || !made->at_exit().is_object()) return;
  const int64_t id = made->at_exit().number;
  if (of_comm) {
    const CommView view = comm_of(s, s.call == mpi::kMPI_Comm_group ? "comm" : "win");
    std::vector<Rank> members;
    for (uint64_t i = 0; i < view.comm.size(); ++i)
      members.push_back(view.comm.member(static_cast<int64_t>(i)));
    groups_[id] = std::move(members);
    return;
  }
  const Value& old = argument(s, "group");
  if (!old.is_object()) return;
  const std::vector<Rank> from = group(old.number);
  if (s.call == mpi::kMPI_Group_incl || s.call == mpi::kMPI_Group_excl)
    groups_[id] = listed(from, s.find("ranks"), s.call == mpi::kMPI_Group_incl);
  else
    groups_.erase(id);
}

const std::vector<Rank>& Decoder::group(int64_t id) const {
  static const std::vector<Rank> kNobodyKnown;
  const auto known = groups_.find(id);
  return known == groups_.end() ? kNobodyKnown : known->second;
}

}  // namespace refrain::events
