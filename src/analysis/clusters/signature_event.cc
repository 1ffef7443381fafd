#include "analysis/clusters/signature_event.h"

#include <algorithm>
#include <array>
#include <string>

#include "analysis/clusters/type_bits.h"
#include "analysis/rank_loads.h"
#include "base/bytes.h"
#include "events/payload.h"
#include "format/codes/checksum.h"
#include "mpi/call_meaning.h"
#include "mpi/call_table.h"

namespace refrain::analysis::clusters {

namespace {

using similarity::RankFeature;

uint64_t hash_of(base::ByteWriter& words) {
  return format::hash64(words.view().data(), words.size());
}

bool is_any(const Value& v) { return v.name() == "MPI_ANY_SOURCE" || v.name() == "MPI_ANY_TAG"; }

void add(SignatureEvents::Event& out, RankFeature feature, int64_t value) {
  out.event.values.push_back({feature, value});
}

// How many elements: of each buffer that has a count of its own.
void add_counts(const Signature& call, const mpi::CallMeaning& meaning,
                SignatureEvents::Event& out) {
  uint64_t seen = 0;
  for (const mpi::BufferInfo& buffer : meaning.buffers) {
    const int at = buffer.count_param;
    if (at < 0 || at >= 64 || (seen >> at & 1) != 0) continue;
    seen |= uint64_t{1} << at;
    const Value& count = events::argument(call, at);
    if (count.is_integer()) add(out, RankFeature::kCount, count.number);
    if (count.is_array())
      add(out, RankFeature::kCount,
          static_cast<int64_t>(std::min<uint64_t>(events::sum_of_counts(count), INT64_MAX)));
  }
}

void add_integer(const Signature& call, const char* name, RankFeature feature,
                 SignatureEvents::Event& out) {
  const Value& v = events::argument(call, name);
  if (v.is_integer()) add(out, feature, v.number);
}

}  // namespace

uint64_t StackHashes::of(DefinitionId site) {
  const auto [known, is_new] = known_.try_emplace(site, 0);
  if (!is_new) return known->second;
  base::ByteWriter words;
  for (const DefinitionId step : trace_.call_path(site)) {
    const auto place = trace_.site(step);
    if (!place) continue;
    words.put_string(place->build_id.empty() ? place->module : place->build_id);
    words.put_zigzag(place->offset);
  }
  return known->second = hash_of(words);
}

int64_t relative_rank(int64_t peer, int64_t me, int64_t size) {
  int64_t apart = (peer % size - me % size) % size;  // no overflow, whatever a file says
  if (apart < 0) apart += size;
  return apart > size / 2 ? apart - size : apart;
}

SignatureEvents::Event SignatureEvents::of(SignatureId id) {
  const Signature& call = reader_.signature(id);
  const mpi::CallMeaning& meaning = mpi::meaning_of(call.call);
  Event out;
  base::ByteWriter stack;
  stack.put_u64(stacks_.of(call.site));
  stack.put_u16(call.call);
  out.event.stack = hash_of(stack);
  out.call_class = class_of(call, out.event.stack);
  add_counts(call, meaning, out);
  add_ends(call, out);
  if (meaning.does_any(mpi::kDoesComplete)) add_taken(call, out);
  add_integer(call, "color", RankFeature::kColor, out);
  add_integer(call, "key", RankFeature::kKey, out);
  add_types(call, out);
  return out;
}

// A call without a partner (MPI_PROC_NULL) does nothing: it is another one than with a partner.
uint64_t SignatureEvents::class_of(const Signature& call, uint64_t stack) const {
  const auto comm = reader_.trace().communicator(call.context, reader_.rank());
  base::ByteWriter words;
  words.put_u64(stack);
  words.put_zigzag(comm ? comm->id : -1);
  words.put_string(comm ? comm->name : "");
  for (const char* end : {"dest", "source", "target_rank"})
    words.put_u8(events::argument(call, end).name() == "MPI_PROC_NULL" ? 1 : 0);
  return hash_of(words);
}

// The message that a call with wildcards took.
const Value& SignatureEvents::taken(const Signature& call, bool source) const {
  static const Value kNothing;
  const Value* status = call.find("status");
  for (const Value* from : {status, &call.matched}) {
    if (from == nullptr) continue;
    const Value& v = source ? from->at_exit().source() : from->at_exit().tag();
    if (v.is_integer()) return v;
  }
  return kNothing;
}

void SignatureEvents::add_ends(const Signature& call, Event& out) {
  const mpi::CallInfo* info = mpi::find_call(call.call);
  if (info == nullptr) return;
  const bool receives = mpi::meaning_of(call.call).does_any(mpi::kDoesReceive | mpi::kDoesProbe);
  for (size_t i = 0; i < info->params.size() && i < call.args.size(); ++i) {
    const mpi::ParamInfo& param = info->params[i];
    if (param.direction == mpi::Direction::kOut || param.is_array) continue;
    const Value& value = call.args[i].value.at_entry();
    if (param.kind == mpi::ParamKind::kRank) {
      if (param.name == "dest" || param.name == "target_rank")
        add_end(call, RankFeature::kDestination, value, out);
      if (param.name == "source" && receives) add_end(call, RankFeature::kSource, value, out);
    }
    if (param.kind == mpi::ParamKind::kTag) {
      const Value& tag = is_any(value) ? taken(call, false) : value;
      if (tag.is_integer()) add(out, RankFeature::kTag, tag.number);
    }
  }
}

void SignatureEvents::add_end(const Signature& call, RankFeature feature, const Value& peer,
                              Event& out) {
  const Value& who = is_any(peer) ? taken(call, true) : peer;
  if (who.is_integer()) add_relative(call, feature, who.number, out);
}

void SignatureEvents::add_relative(const Signature& call, RankFeature feature, int64_t peer,
                                   Event& out) {
  out.is_absolute = false;
  const auto comm = reader_.trace().communicator(call.context, reader_.rank());
  const Communicator in = comm ? *comm : reader_.trace().world(reader_.rank());
  const auto size = static_cast<int64_t>(in.is_inter ? in.remote_size() : in.size());
  if (size > 0 && in.me >= 0) add(out, feature, relative_rank(peer, in.me, size));
}

// What receives from anybody took stands at the calls that complete them.
void SignatureEvents::add_taken(const Signature& call, Event& out) {
  const events::Op& op = op_of(ops_, call);
  if (op.action != events::Action::kComplete) return;
  for (const events::RequestUse& use : op.requests) {
    if (!use.has_message) continue;
    const Signature& posted = reader_.signature(use.request);
    const Value& source = events::argument(posted, "source");
    if (is_any(source)) add_relative(posted, RankFeature::kSource, use.source, out);
    for (const char* tag : {"tag", "recvtag"})
      if (is_any(events::argument(posted, tag))) add(out, RankFeature::kTag, use.tag);
  }
}

void SignatureEvents::add_types(const Signature& call, Event& out) {
  const mpi::CallInfo* info = mpi::find_call(call.call);
  if (info == nullptr) return;
  const Trace& trace = reader_.trace();
  const auto put = [&](TypeKind kind, const Value& v) {
    const uint8_t bit = [&]() -> uint8_t {
      if (!v.is_object()) return type_bit(kind, v.name(), 0);
      const DefinitionId id = v.definition();
      if (const auto comm = trace.communicator(id, reader_.rank()))
        return type_bit(kind, comm->name, comm->id);
      if (const auto type = trace.datatype(id)) return type_bit(kind, type->name, type->id);
      return type_bit(kind, {}, v.number);
    }();
    auto& all = out.event.types;
    if (std::find(all.begin(), all.end(), bit) == all.end()) all.push_back(bit);
  };
  for (size_t i = 0; i < info->params.size() && i < call.args.size(); ++i) {
    const mpi::ParamInfo& param = info->params[i];
    if (param.direction == mpi::Direction::kOut) continue;
    TypeKind kind = TypeKind::kDatatype;
    if (param.kind == mpi::ParamKind::kOp) kind = TypeKind::kOperation;
    if (param.kind == mpi::ParamKind::kComm) kind = TypeKind::kCommunicator;
    if (kind == TypeKind::kDatatype && param.kind != mpi::ParamKind::kDatatype) continue;
    const Value& value = call.args[i].value.at_entry();
    const auto one = [&](const Value& v) {
      if (v.is_object() || v.is_constant()) put(kind, v);
    };
    if (value.is_array())
      value.for_each_run([&](const Value& v, uint64_t) { one(v); });
    else
      one(value);
  }
}

}  // namespace refrain::analysis::clusters
