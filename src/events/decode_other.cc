// Collectives of neighbourhoods and files, and those that make communicators from groups.

#include "events/op.h"
#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::events {
namespace {

OtherCall file_call(CallId call, const mpi::CallMeaning& meaning) {
  if (!meaning.does_any(mpi::kDoesCollective)) return OtherCall::kNone;
  const bool is_ordered =
      meaning.plain == mpi::kMPI_File_read_ordered || meaning.plain == mpi::kMPI_File_write_ordered;
  const bool is_split = meaning.how == mpi::How::kNonblocking;
  if (call == mpi::kMPI_File_open) return OtherCall::kOpen;
  if (is_ordered) return is_split ? OtherCall::kOrderedBegin : OtherCall::kOrdered;
  if (meaning.does_any(mpi::kDoesComplete)) return OtherCall::kSplitEnd;
  return is_split ? OtherCall::kSplitBegin : OtherCall::kFile;
}

}  // namespace

// A call that fails has taken part all the same, for all that the others see of it.
void Decoder::decode_file(const Signature& s, const mpi::CallMeaning& meaning, Op& op) {
  op.other = file_call(s.call, meaning);
  // With a request, it is begun here and completed where that is.
  if (op.other == OtherCall::kSplitBegin && op.makes_request) op.other = OtherCall::kFile;
  if (op.other == OtherCall::kNone) return;  // waits for nobody
  const Value* file = s.find("fh");
  op.comm = comm_of(s, op.other == OtherCall::kOpen ? "comm" : "fh");
  if (file != nullptr) {
    const Value& which = op.other == OtherCall::kOpen ? file->at_exit() : file->at_entry();
    if (which.is_object()) op.file = which.number;
  }
  op.collective = CollectiveKind::kFile;
  op.action = op.comm.is_self ? Action::kNothing : Action::kOtherCollective;
}

bool Decoder::decode_other(const Signature& s, const mpi::CallMeaning& meaning, Op& op) {
  if (meaning.over_param >= 0) {
    const auto over = static_cast<size_t>(meaning.over_param);
    if (over >= s.args.size() || !s.args[over].value.at_exit().is_object()) return true;
    op.comm = comms_.view(s.args[over].value.at_exit().id, source_.rank());
    op.other = OtherCall::kOfMade;
    op.collective = CollectiveKind::kNxN;
    op.action = op.comm.is_self ? Action::kNothing : Action::kOtherCollective;
    return true;
  }
  const bool duplicates = meaning.flow == mpi::Flow::kAll && meaning.does_any(mpi::kDoesMake) &&
                          meaning.how == mpi::How::kNonblocking;
  if (!duplicates && meaning.flow != mpi::Flow::kNeighbours) return false;
  op.comm = comm_of(s, "comm");
  op.other = OtherCall::kOfComm;
  op.collective = duplicates ? CollectiveKind::kNxN : CollectiveKind::kNeighbours;
  op.action = op.comm.is_self ? Action::kNothing : Action::kOtherCollective;
  return true;
}

}  // namespace refrain::events
