// Collectives, windows and the groups of their epochs.

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/payload.h"
#include "analysis/waits/op.h"
#include "mpi/call_table.h"

namespace refrain::analysis::waits {
namespace {

struct CollectiveRow {
  std::string_view name;  // of the blocking form, in lower case
  CollectiveKind kind;
};

constexpr CollectiveRow kCollectives[] = {
    {"barrier", CollectiveKind::kBarrier},
    {"bcast", CollectiveKind::kFromRoot},
    {"scatter", CollectiveKind::kFromRoot},
    {"scatterv", CollectiveKind::kFromRoot},
    {"reduce", CollectiveKind::kToRoot},
    {"gather", CollectiveKind::kToRoot},
    {"gatherv", CollectiveKind::kToRoot},
    {"scan", CollectiveKind::kScan},
    {"exscan", CollectiveKind::kScan},
    {"allreduce", CollectiveKind::kNxN},
    {"allgather", CollectiveKind::kNxN},
    {"allgatherv", CollectiveKind::kNxN},
    {"alltoall", CollectiveKind::kNxN},
    {"alltoallv", CollectiveKind::kNxN},
    {"alltoallw", CollectiveKind::kNxN},
    {"reduce_scatter", CollectiveKind::kNxN},
    {"reduce_scatter_block", CollectiveKind::kNxN},
};

// Calls that make communicators exchange data among all: n to n as well. Those on a group, of an
// inter-communicator from two others, and with other worlds are not among them.
constexpr std::string_view kMakers[] = {"Comm_create",        "Comm_dup",
                                        "Comm_dup_with_info", "Comm_split",
                                        "Comm_split_type",    "Cart_create",
                                        "Cart_sub",           "Graph_create",
                                        "Dist_graph_create",  "Dist_graph_create_adjacent",
                                        "Intercomm_merge"};
constexpr std::string_view kOldComm[] = {"comm", "comm_old", "intercomm"};

}  // namespace

bool Decoder::decode_collective(const Signature& s, std::string_view name, Op& op) {
  const auto is = [&](CollectiveKind kind, CommView comm) {
    op.action = comm.is_self ? Action::kNothing : Action::kCollective;
    op.collective = kind;
    op.comm = comm;
    return true;
  };
  if (name == "Init" || name == "Init_thread" || name == "Finalize")
    return is(name == "Finalize" ? CollectiveKind::kFinalize : CollectiveKind::kInit,
              comms_.view(kNoDefinition, reader_.rank()));
  if (std::find(std::begin(kMakers), std::end(kMakers), name) != std::end(kMakers)) {
    for (const std::string_view parameter : kOldComm)
      if (argument(s, parameter).is_object())
        return is(CollectiveKind::kNxN, comm_of(s, parameter));
    return false;
  }
  if (name.ends_with("_init")) name.remove_suffix(5);
  if (name.starts_with("I") && op.makes_request) name.remove_prefix(1);
  std::string plain(name);
  std::transform(plain.begin(), plain.end(), plain.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const CollectiveRow& row : kCollectives) {
    if (plain != row.name) continue;
    is(row.kind, comm_of(s, "comm"));
    if (row.kind != CollectiveKind::kToRoot && row.kind != CollectiveKind::kFromRoot) return true;
    const Value& root = argument(s, "root");
    const bool is_root = op.comm.comm.is_inter
                             ? root.name() == "MPI_ROOT"
                             : root.is_integer() && root.number == op.comm.comm.me;
    op.role = is_root ? Role::kRoot : root.is_integer() ? Role::kLeaf : Role::kNone;
    return true;
  }
  return false;
}

bool Decoder::decode_window(const Signature& s, std::string_view name, Op& op) {
  const auto one_of = [&](auto... names) { return ((name == names) || ...); };
  if (one_of("Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic", "Win_free",
             "Win_fence")) {
    op.comm = comm_of(s, s.find("comm") != nullptr ? "comm" : "win");
    op.action = op.comm.is_self ? Action::kNothing : Action::kCollective;
    op.collective = name == "Win_fence" ? CollectiveKind::kFence : CollectiveKind::kWindow;
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
  if (one_of("Win_post", "Win_start")) {
    op.epoch = name == "Win_post" ? EpochCall::kPost : EpochCall::kStart;
    const Value& group = argument(s, "group");
    op.message_object = group.is_object() ? group.number : -1;
  } else if (name == "Win_complete") {
    op.epoch = EpochCall::kComplete;
  } else if (name == "Win_wait") {
    op.epoch = EpochCall::kWait;
  } else if (one_of("Win_lock", "Win_lock_all")) {
    op.epoch = EpochCall::kLock;
    op.all_targets = name == "Win_lock_all";
    op.is_exclusive = argument(s, "lock_type").name() == "MPI_LOCK_EXCLUSIVE";
    target("rank");
  } else if (one_of("Win_unlock", "Win_unlock_all")) {
    op.epoch = EpochCall::kUnlock;
    op.all_targets = name == "Win_unlock_all";
    target("rank");
  } else if (one_of("Win_flush", "Win_flush_local", "Win_flush_all", "Win_flush_local_all")) {
    op.epoch = EpochCall::kAccess;
    op.all_targets = name.ends_with("_all");
    target("rank");
  } else if (s.find("target_rank") != nullptr) {
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
  const std::string_view name = info->name;
  const bool of_comm = name == "MPI_Comm_group" || name == "MPI_Win_get_group";
  if (!of_comm && info->group != mpi::CallGroup::kGroup) return;
  const Value* made = s.find(of_comm ? "group" : "newgroup");
  if (made == nullptr || !made->at_exit().is_object()) return;
  const int64_t id = made->at_exit().number;
  if (of_comm) {
    const CommView view = comm_of(s, name == "MPI_Comm_group" ? "comm" : "win");
    std::vector<Rank> members;
    for (uint64_t i = 0; i < view.comm.size(); ++i)
      members.push_back(view.comm.member(static_cast<int64_t>(i)));
    groups_[id] = std::move(members);
    return;
  }
  const Value& old = argument(s, "group");
  if (!old.is_object()) return;
  const std::vector<Rank> from = group(old.number);
  if (name == "MPI_Group_incl" || name == "MPI_Group_excl")
    groups_[id] = listed(from, s.find("ranks"), name == "MPI_Group_incl");
  else
    groups_.erase(id);
}

const std::vector<Rank>& Decoder::group(int64_t id) const {
  static const std::vector<Rank> kNobodyKnown;
  const auto known = groups_.find(id);
  return known == groups_.end() ? kNobodyKnown : known->second;
}

}  // namespace refrain::analysis::waits
