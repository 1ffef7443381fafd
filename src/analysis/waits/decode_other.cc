// Collectives of neighbourhoods and files, and those that make communicators from groups.

#include <algorithm>
#include <string_view>

#include "analysis/payload.h"
#include "analysis/waits/op.h"

namespace refrain::analysis::waits {
namespace {

// Without MPI_; of the blocking form.
constexpr std::string_view kNeighbours[] = {"neighbor_allgather", "neighbor_allgatherv",
                                            "neighbor_alltoall", "neighbor_alltoallv",
                                            "neighbor_alltoallw"};
constexpr std::string_view kOfMade[] = {"Comm_create_group", "Comm_create_from_group",
                                        "Intercomm_create", "Intercomm_create_from_groups"};
// Besides those that end on _all and _ordered, and begin and end such.
constexpr std::string_view kFileCalls[] = {"close",    "set_view",      "set_size", "preallocate",
                                           "set_info", "set_atomicity", "sync",     "seek_shared"};

template <class List>
bool has(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

OtherCall file_call(std::string_view name) {
  if (name == "open") return OtherCall::kOpen;
  if (has(kFileCalls, name) || name.ends_with("_all")) return OtherCall::kFile;
  if (name.ends_with("_ordered")) return OtherCall::kOrdered;
  if (name.ends_with("_ordered_begin")) return OtherCall::kOrderedBegin;
  if (name.ends_with("_all_begin")) return OtherCall::kSplitBegin;
  if (name.ends_with("_all_end") || name.ends_with("_ordered_end")) return OtherCall::kSplitEnd;
  return OtherCall::kNone;
}

}  // namespace

// A call that fails has taken part all the same, for all that the others see of it.
bool Decoder::decode_file(const Signature& s, std::string_view name, Op& op) {
  if (!name.starts_with("File_")) return false;
  op.other = file_call(name.substr(5));
  if (op.other == OtherCall::kNone) return true;  // waits for nobody
  const Value* file = s.find("fh");
  op.comm = comm_of(s, op.other == OtherCall::kOpen ? "comm" : "fh");
  if (file != nullptr) {
    const Value& which = op.other == OtherCall::kOpen ? file->at_exit() : file->at_entry();
    if (which.is_object()) op.file = which.number;
  }
  op.collective = CollectiveKind::kFile;
  op.action = op.comm.is_self ? Action::kNothing : Action::kOtherCollective;
  return true;
}

bool Decoder::decode_other(const Signature& s, std::string_view name, Op& op) {
  if (has(kOfMade, name)) {
    const Value* made = s.find(name.starts_with("I") ? "newintercomm" : "newcomm");
    if (made == nullptr || !made->at_exit().is_object()) return true;
    op.comm = comms_.view(made->at_exit().id, reader_.rank());
    op.other = OtherCall::kOfMade;
    op.collective = CollectiveKind::kNxN;
    op.action = op.comm.is_self ? Action::kNothing : Action::kOtherCollective;
    return true;
  }
  const bool duplicates = name == "Comm_idup" || name == "Comm_idup_with_info";
  if (name.ends_with("_init")) name.remove_suffix(5);
  if (name.starts_with("Ineighbor")) name.remove_prefix(1);
  const bool has_neighbours =
      !name.empty() && (name[0] == 'N' || name[0] == 'n') &&
      std::any_of(std::begin(kNeighbours), std::end(kNeighbours),
                  [&](std::string_view n) { return n.substr(1) == name.substr(1); });
  if (!duplicates && !has_neighbours) return false;
  op.comm = comm_of(s, "comm");
  op.other = OtherCall::kOfComm;
  op.collective = duplicates ? CollectiveKind::kNxN : CollectiveKind::kNeighbours;
  op.action = op.comm.is_self ? Action::kNothing : Action::kOtherCollective;
  return true;
}

}  // namespace refrain::analysis::waits
