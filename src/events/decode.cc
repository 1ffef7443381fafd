// Messages and requests; collectives and windows are in decode_collective.cc.
//
// A signature is decoded once for each rank, however often it was called, and its Op is kept. What
// the call means comes from its row of spec/mpi/calls (mpi::meaning_of), not from its name;
// parameters are asked for by the names of the standard.

#include <string_view>

#include "events/elements.h"
#include "events/op.h"
#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::events {
namespace {

const Value& result(const Signature& s, std::string_view name) {
  static const Value kNothing;
  const Value* value = s.find(name);
  return value == nullptr ? kNothing : value->at_exit();
}

// A logical output; C gives a number, whatever is not 0 is true.
bool is_true(const Value& value) { return value.is_integer() && value.number != 0; }

bool take_source_and_tag(const Value& status, int64_t& source, int64_t& tag) {
  if (!status.source().is_integer() || !status.tag().is_integer()) return false;
  source = status.source().number;
  tag = status.tag().number;
  return true;
}

// Failed, and no message went: one that was cut short did. With MPI_ERR_IN_STATUS some of several
// requests may be good.
bool moved_nothing(const Signature& s) {
  return s.failed() && s.error_class.name() != "MPI_ERR_TRUNCATE" &&
         s.error_class.name() != "MPI_ERR_IN_STATUS";
}

bool makes_group(const mpi::CallInfo& info) {
  return info.id == mpi::kMPI_Comm_group || info.id == mpi::kMPI_Win_get_group ||
         info.group == mpi::CallGroup::kGroup;
}

// Of calls that start requests, and of those that give them up.
Action action_without_completion(CallId call) {
  if (call == mpi::kMPI_Start || call == mpi::kMPI_Startall) return Action::kStart;
  if (call == mpi::kMPI_Request_free) return Action::kFree;
  return call == mpi::kMPI_Cancel ? Action::kCancel : Action::kReady;
}

}  // namespace

PlaceId Decoder::Places::id(DefinitionId path, CallId call) {
  if (paths_ != nullptr) path = paths_->of(path);
  const auto [known, is_new] =
      ids_.try_emplace(uint64_t{path} << 16 | call, static_cast<PlaceId>(all_.size()));
  if (is_new) all_.push_back({path, call});
  return known->second;
}

// Ops are kept behind pointers: references to them stay valid while others are added. The order of
// the questions matters: a failed call does nothing, a call of a file is no message, and only what
// is none of the others may complete requests.
Op& Decoder::op(const Signature& signature) {
  if (Op** const known = by_signature_.find(signature.id); known != nullptr) return **known;
  const auto number = static_cast<uint32_t>(ops_.size());
  ops_.push_back(std::make_unique<Op>());
  by_signature_[signature.id] = ops_.back().get();
  Op& op = *ops_.back();
  op.signature = &signature;
  op.number = number;
  op.call = signature.call;
  op.place = places_.id(signature.site, signature.call);
  const mpi::CallInfo* info = mpi::find_call(signature.call);
  op.makes_group = info != nullptr && !signature.failed() && makes_group(*info);
  const bool is_of_file = info != nullptr && info->group == mpi::CallGroup::kIo;
  if (moved_nothing(signature) && !is_of_file) return op;
  op.is_persistent = info != nullptr && info->persistent;
  const Value* request = signature.find("request");
  op.makes_request = request != nullptr && request->at_exit().kind == ValueKind::kRequest &&
                     request->at_exit().id == signature.id;
  op.topology = topology_of(signature, comms_, source_.rank());
  const mpi::CallMeaning& meaning = mpi::meaning_of(signature.call);
  if (meaning.how == mpi::How::kEnqueues) return op;  // done later, who knows when
  if (is_of_file) {
    decode_file(signature, meaning, op);
    return op;
  }
  if (decode_collective(signature, meaning, op) || decode_other(signature, meaning, op) ||
      decode_window(signature, meaning, op))
    return op;
  op.is_poll = meaning.does_any(mpi::kDoesProbe) && meaning.how == mpi::How::kPolls &&
               !is_true(result(signature, "flag"));
  if (op.is_poll)
    op.receive = end_of(signature, "source", "tag");
  else
    decode_message(signature, meaning, op);
  if (op.action == Action::kNothing) {
    decode_completion(signature, meaning, op);
    op.has_order = signature.call == mpi::kMPI_Wait;
  }
  return op;
}

// The op of the call that made the request; null where the trace has no such signature. Looked up
// once for each use.
Op* Decoder::maker(RequestUse& use) {
  if (use.maker != nullptr) return use.maker;
  const Signature& signature = source_.signature(use.request);
  if (signature.id != use.request) return nullptr;
  return use.maker = &op(signature);
}

CommView Decoder::comm_of(const Signature& s, std::string_view parameter) {
  const Value& value = argument(s, parameter);
  return comms_.view(value.definition(), source_.rank());
}

// The other end as the call names it. Peers become world ranks here; kNobody is MPI_PROC_NULL or a
// process of another world, kAny what a wildcard leaves open until a status tells.
MessageEnd Decoder::end_of(const Signature& s, std::string_view peer, std::string_view tag) {
  MessageEnd out;
  const CommView comm = comm_of(s, "comm");
  out.comm = comm.key;
  const Value& who = argument(s, peer);
  if (who.is_integer()) out.peer = comm.comm.peer(who.number);
  if (out.peer == -1) out.peer = kNobody;
  if (who.name() == "MPI_ANY_SOURCE") out.peer = kAny;
  const Value& which = argument(s, tag);
  out.tag = which.is_integer() ? which.number : kAny;
  return out;
}

// 0 where the trace does not tell.
uint64_t Decoder::bytes_of(const Signature& s, std::string_view count,
                           std::string_view type) const {
  const auto element = element_bytes(source_.trace(), argument(s, type));
  const int64_t n = argument(s, count).integer_or(0);
  return element && n > 0 ? multiply(*element, static_cast<uint64_t>(n)) : 0;
}

// A call that received says what it received, where it did not ask for one certain message.
void Decoder::take_status(const Signature& s, MessageEnd& end) {
  if (end.peer == kNobody || end.is_known()) return;
  const Value& status = result(s, "status");
  int64_t source = 0, tag = 0;
  if (!take_source_and_tag(status, source, tag) && !take_source_and_tag(s.matched, source, tag))
    return;
  const Rank peer = comm_of(s, "comm").comm.peer(source);
  end.peer = peer < 0 ? kNobody : peer;
  end.tag = tag;
}

// By what the call does, not by which it is: forms of a function (nonblocking, persistent, _c) have
// the same parameters.
void Decoder::decode_message(const Signature& s, const mpi::CallMeaning& meaning, Op& op) {
  const bool is_send = meaning.does_any(mpi::kDoesSend);
  const bool is_receive = meaning.does_any(mpi::kDoesReceive);
  if (is_send && !is_receive) {
    op.action = Action::kSend;
    op.send = end_of(s, "dest", "tag");
    op.send.bytes = bytes_of(s, "count", "datatype");
    op.send.is_buffered = meaning.mode == mpi::SendMode::kBuffered;
    op.send.is_synchronous = meaning.mode == mpi::SendMode::kSynchronous;
  } else if (is_send) {
    op.action = Action::kSendReceive;
    op.send = end_of(s, "dest", "sendtag");
    op.send.bytes = meaning.plain == mpi::kMPI_Sendrecv_replace
                        ? bytes_of(s, "count", "datatype")
                        : bytes_of(s, "sendcount", "sendtype");
    op.receive = end_of(s, "source", "recvtag");
    if (!op.makes_request) take_status(s, op.receive);
  } else if (meaning.plain == mpi::kMPI_Mrecv) {
    const Value& message = argument(s, "message");
    op.action = Action::kMatchedReceive;
    op.message_object = message.is_object() ? message.number : -1;
  } else if (is_receive) {
    op.action = Action::kReceive;
    op.receive = end_of(s, "source", "tag");
    if (meaning.how == mpi::How::kWaits) take_status(s, op.receive);
  } else if (meaning.plain == mpi::kMPI_Probe || meaning.plain == mpi::kMPI_Mprobe) {
    op.action = meaning.plain == mpi::kMPI_Probe ? Action::kProbe : Action::kMatchedProbe;
    op.receive = end_of(s, "source", "tag");
    take_status(s, op.receive);
    const Value& message = result(s, "message");
    op.message_object = message.is_object() ? message.number : -1;
  }
  op.has_order = !op.makes_request && op.action != Action::kSend;
  op.is_partitioned = s.find("partitions") != nullptr;
  if (op.is_partitioned)
    op.partitions = static_cast<uint64_t>(argument(s, "partitions").integer_or(1));
}

// Which requests the call completed, and with them the messages that wildcards took: from the
// statuses, or, where the program ignored them, from what the recorder noted (Signature::matched).
// A test that completed none is a poll.
void Decoder::decode_completion(const Signature& s, const mpi::CallMeaning& meaning, Op& op) {
  const auto add = [&](const Value& request, const Value& status, const Value& matched) {
    if (request.kind != ValueKind::kRequest) return;
    RequestUse use;
    use.request = request.id;
    use.has_message = take_source_and_tag(status, use.source, use.tag) ||
                      take_source_and_tag(matched, use.source, use.tag);
    op.requests.push_back(use);
  };
  const Value& one = argument(s, "request");
  const Value& many = argument(s, "array_of_requests");
  const Value& statuses = result(s, "array_of_statuses");
  const bool starts = meaning.does_any(mpi::kDoesStart);
  if (starts || s.call == mpi::kMPI_Request_free || s.call == mpi::kMPI_Cancel) {
    op.action = action_without_completion(s.call);
    if (many.is_array())
      many.for_each([&](const Value& request) { add(request, {}, {}); });
    else
      add(one, {}, {});
    if (s.call == mpi::kMPI_Pready_range)
      op.partitions = static_cast<uint64_t>(argument(s, "partition_high").integer_or(0) -
                                            argument(s, "partition_low").integer_or(0) + 1);
    if (s.call == mpi::kMPI_Pready_list) op.partitions = argument(s, "array_of_partitions").size();
    return;
  }
  if (!meaning.does_any(mpi::kDoesComplete)) return;
  op.action = Action::kComplete;
  const auto all_unsuccessful = [&] {
    op.unsuccessful = RequestsAsked(many.is_array() ? many : one);
    op.is_poll = true;
  };
  const bool has_flag = s.find("flag") != nullptr;
  if (has_flag && !is_true(result(s, "flag"))) return all_unsuccessful();
  if (meaning.plain == mpi::kMPI_Wait) return add(one, result(s, "status"), s.matched);
  Elements each_status(statuses), each_matched(s.matched);
  uint64_t i = 0;
  if (meaning.plain == mpi::kMPI_Waitall) {
    op.requests.reserve(many.size());
    many.for_each([&](const Value& request) {
      add(request, each_status.at(i), each_matched.at(i));
      ++i;
    });
    return;
  }
  if (meaning.plain == mpi::kMPI_Waitany) {
    const Value& index = result(s, "index");
    if (index.is_integer() && index.number >= 0)
      add(many.at(static_cast<uint64_t>(index.number)), result(s, "status"),
          s.matched.is_array() ? s.matched.at(0) : s.matched);
    return;
  }
  const Value& indices = result(s, "array_of_indices");
  if (indices.size() == 0) return all_unsuccessful();
  Elements each_request(many);
  indices.for_each([&](const Value& index) {
    if (index.is_integer() && index.number >= 0)
      add(each_request.at(static_cast<uint64_t>(index.number)), each_status.at(i),
          each_matched.at(i));
    ++i;
  });
}

}  // namespace refrain::events
