#include "events/buffers/transfers.h"

#include <optional>
#include <string_view>
#include <utility>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::events {
namespace {

TransferKind kind_of(mpi::Traffic traffic) {
  switch (traffic) {
    case mpi::Traffic::kSend:
    case mpi::Traffic::kStart:
    case mpi::Traffic::kRecv: return TransferKind::kP2p;
    case mpi::Traffic::kRma: return TransferKind::kRma;
    case mpi::Traffic::kIo: return TransferKind::kIo;
    default: return TransferKind::kCollective;
  }
}

// Data that flows from the target to the rank that calls.
bool is_get(CallId call) { return mpi::plain_call(call) == mpi::kMPI_Get; }

// The parameters that hold what is sent: those of the row, or, with MPI_IN_PLACE, the receiving
// ones.
struct Sent {
  const Value& counts;
  const Value& types;
  bool in_place;
};

Sent sent_of(const Signature& call, const mpi::CallInfo& info) {
  const Value& counts = argument(call, info.count_param);
  const Value& types = argument(call, info.type_param);
  if (argument(call, "sendbuf").name() != "MPI_IN_PLACE" || call.find("recvbuf") == nullptr)
    return {counts, types, false};
  const bool has_receive_counts =
      call.find("recvcounts") != nullptr || call.find("recvcount") != nullptr;
  const bool has_send_counts =
      call.find("sendcounts") != nullptr || call.find("sendcount") != nullptr;
  if (!has_receive_counts || !has_send_counts) return {counts, types, false};  // reductions
  return {argument(call, call.find("recvcounts") != nullptr ? "recvcounts" : "recvcount"),
          argument(call, call.find("recvtypes") != nullptr ? "recvtypes" : "recvtype"), true};
}

// Bytes of a collective; nothing when the trace does not tell. `degree` is asked for neighbours.
template <class Degree>
std::optional<uint64_t> collective_bytes(const Trace& trace, const Signature& call,
                                         const mpi::CallInfo& info, const Communicator& comm,
                                         Degree degree) {
  using mpi::Traffic;
  const Value& root = argument(call, info.root_param);
  const bool at_root = info.root_param >= 0 && is_root(root, comm);
  const Sent sent = sent_of(call, info);
  const uint64_t peers = comm.is_inter ? comm.remote_size() : comm.size();
  const auto times = [&](std::optional<uint64_t> size, uint64_t count) -> std::optional<uint64_t> {
    if (count == 0) return 0;
    return size ? std::optional(multiply(*size, count)) : std::nullopt;
  };
  switch (info.traffic) {
    case Traffic::kColl:
      // With a root: in place it keeps its own part; ranks beside the root of an inter-communicator
      // and the root itself hand in nothing.
      if (info.root_param >= 0 && (sent.in_place || (comm.is_inter && root.is_constant())))
        return 0;
      return times(element_bytes(trace, sent.types),
                   sent.counts.is_array() && comm.me >= 0  // MPI_Allgatherv in place
                       ? sum_of_counts(sent.counts.at(static_cast<uint64_t>(comm.me)))
                       : sum_of_counts(sent.counts));
    case Traffic::kBcast:
    case Traffic::kCollRoot:
    case Traffic::kCollVectorRoot: {
      if (!at_root) return 0;
      const uint64_t count = sum_of_counts(argument(call, info.count_param));
      return times(element_bytes(trace, argument(call, info.type_param)),
                   info.traffic == Traffic::kCollRoot ? multiply(count, peers) : count);
    }
    case Traffic::kCollVector:
      return times(element_bytes(trace, sent.types), sum_of_counts(sent.counts));
    case Traffic::kCollW: return sum_of_products(trace, sent.counts, sent.types);
    case Traffic::kCollTimesSize:
      return times(element_bytes(trace, sent.types), multiply(sum_of_counts(sent.counts), peers));
    case Traffic::kCollTimesNeighbours: {
      const int64_t neighbours = degree(comm.definition);
      if (neighbours < 0) return std::nullopt;
      return times(element_bytes(trace, sent.types),
                   multiply(sum_of_counts(sent.counts), static_cast<uint64_t>(neighbours)));
    }
    default: return 0;
  }
}

}  // namespace

const std::vector<Transfer>& TransferReader::transfers(SignatureId id) {
  out_.clear();
  const mpi::CallInfo* info = mpi::find_call(reader_.trace().call_of(id));
  if (info == nullptr || info->traffic == mpi::Traffic::kNothing ||
      info->traffic == mpi::Traffic::kRecv || info->persistent)
    return out_;
  const Signature& call = reader_.signature(id);
  if (call.failed()) return out_;
  if (info->traffic == mpi::Traffic::kStart)
    add_starts(call);
  else
    add(call);
  return out_;
}

void TransferReader::add_starts(const Signature& call) {
  const auto start = [&](const Value& request, uint64_t times) {
    if (request.kind != ValueKind::kRequest || request.id >= reader_.trace().signature_count())
      return;
    const mpi::CallInfo* info = mpi::find_call(reader_.trace().call_of(request.id));
    if (info == nullptr || !info->persistent) return;
    const size_t before = out_.size();
    add(reader_.signature(request.id));
    for (size_t i = before; i < out_.size(); ++i) out_[i].repeat = times;
  };
  for (const Argument& arg : call.args) {
    const Value& value = arg.value.at_entry();
    if (value.is_array())
      value.for_each_run(start);
    else
      start(value, 1);
  }
}

Communicator TransferReader::communicator_of(const Signature& call) const {
  const auto comm = reader_.trace().communicator(call.context, reader_.rank());
  return comm ? *comm : reader_.trace().world(reader_.rank());
}

Transfer TransferReader::peer_transfer(const Signature& call) const {
  const mpi::CallInfo& info = *mpi::find_call(call.call);
  Transfer out;
  out.source = reader_.rank();
  out.dest = communicator_of(call).peer(argument(call, info.peer_param).number);
  if (is_get(call.call)) std::swap(out.source, out.dest);
  return out;
}

// `call` moves data when it is made, or, when it creates a persistent request, at its start.
void TransferReader::add(const Signature& call) {
  const mpi::CallInfo* info = mpi::find_call(call.call);
  if (info == nullptr) return;
  const Trace& trace = reader_.trace();
  Transfer out;
  std::optional<uint64_t> bytes = 0;
  switch (info->traffic) {
    case mpi::Traffic::kNothing:
    case mpi::Traffic::kStart:
    case mpi::Traffic::kRecv: return;
    case mpi::Traffic::kSend:
    case mpi::Traffic::kRma:
      if (!argument(call, info->peer_param).is_integer()) return;  // MPI_PROC_NULL
      out = peer_transfer(call);
      [[fallthrough]];
    case mpi::Traffic::kIo: {
      uint64_t count = info->count_param < 0 ? 1 : sum_of_counts(argument(call, info->count_param));
      if (info->times_param >= 0)
        count = multiply(count, sum_of_counts(argument(call, info->times_param)));
      bytes = element_bytes(trace, argument(call, info->type_param));
      if (count == 0) bytes = 0;
      if (bytes) *bytes = multiply(*bytes, count);
      break;
    }
    default:
      bytes = collective_bytes(trace, call, *info, communicator_of(call),
                               [this](DefinitionId comm) { return out_degree(comm); });
      if (bytes == uint64_t{0}) return;  // beside the root of a broadcast: nothing is handed in
  }
  out.kind = kind_of(info->traffic);
  out.bytes = bytes.value_or(0);
  out.is_sized = bytes.has_value();
  out_.push_back(out);
}

int64_t TransferReader::out_degree(DefinitionId comm) {
  if (!degrees_) {
    GraphDegrees own(reader_.trace());
    degrees_ = out_degrees(reader_, graphs_ == nullptr ? own : *graphs_);
  }
  const auto degree = degrees_->find(comm);
  return degree == degrees_->end() ? -1 : degree->second;
}

}  // namespace refrain::events
