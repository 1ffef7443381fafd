#include "analysis/clusters/reference.h"

#include <algorithm>

#include "analysis/clusters/signature_event.h"
#include "analysis/clusters/structure.h"
#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "grammar/fold.h"
#include "mpi/call_table.h"
#include "reader/internal.h"
#include "refrain/calls.h"

namespace refrain::analysis::clusters {

namespace {

// What it says, apart from names that another rank may have for the same.
void put(base::ByteWriter& out, const Value& v) {
  out.put_u8(static_cast<uint8_t>(v.kind));
  if (v.kind == ValueKind::kBuffer || v.kind == ValueKind::kRequest) return;
  if (v.is_constant()) out.put_varint(v.id);
  out.put_zigzag(v.number);
  out.put_varint(v.repeat);
  out.put_zigzag(v.step);
  out.put_string(v.text);
  for (const Value& item : v.items) {
    // A run of requests with a step is as many elements, whatever their names.
    const bool has_names = item.kind == ValueKind::kRequest && item.step != 0;
    for (uint64_t i = 0; i < (has_names ? item.repeat : 1); ++i) put(out, item);
  }
}

uint64_t hash_of_parameters(RankReader& reader, const Signature& call) {
  base::ByteWriter out;
  out.put_u16(call.call);
  const mpi::CallInfo* info = mpi::find_call(call.call);
  const auto comm = reader.trace().communicator(call.context, reader.rank());
  const Communicator in = comm ? *comm : reader.trace().world(reader.rank());
  const auto size = static_cast<int64_t>(in.is_inter ? in.remote_size() : in.size());
  for (size_t i = 0; i < call.args.size(); ++i) {
    const bool is_known = info != nullptr && i < info->params.size();
    if (is_known && info->params[i].direction == mpi::Direction::kOut) continue;
    const Value& v = call.args[i].value.at_entry();
    const bool is_end = is_known && info->params[i].kind == mpi::ParamKind::kRank &&
                        static_cast<int>(i) != info->root_param;
    if (is_end && v.is_integer() && size > 0 && in.me >= 0)
      out.put_zigzag(relative_rank(v.number, in.me, size));
    else
      put(out, v);
  }
  return format::hash64(out.view().data(), out.size());
}

}  // namespace

const ReferenceSignatures::Calls& ReferenceSignatures::of(Rank rank) {
  const auto [known, is_new] = known_.try_emplace(rank);
  Calls& out = known->second;
  const auto group = trace_.group_of(rank);
  if (!is_new || !group) return out;
  const auto& data = reader::data_of(trace_);
  const format::Group& of = data.groups[*group];
  RankReader reader(trace_, rank);
  for (const format::ThreadGrammar& location : of.locations) {
    const grammar::Grammar& g = data.grammars[location.grammar];
    const std::vector<uint64_t> occurs = grammar::occurrences(g, of.signatures.size());
    for (const uint32_t terminal : in_order_of_appearance(g, of.signatures.size())) {
      const Signature& call = reader.signature(SignatureId(of.signatures[terminal]));
      out.parameters.push_back(hash_of_parameters(reader, call));
      out.count.push_back(occurs[terminal]);
    }
  }
  return out;
}

uint64_t ReferenceSignatures::differing(Rank a, Rank b) {
  of(a);
  const Calls &y = of(b), &x = known_[a];
  uint64_t out = 0;
  for (size_t i = 0; i < std::max(x.count.size(), y.count.size()); ++i) {
    const uint64_t calls =
        std::max(i < x.count.size() ? x.count[i] : 0, i < y.count.size() ? y.count[i] : 0);
    const bool is_equal =
        i < x.parameters.size() && i < y.parameters.size() && x.parameters[i] == y.parameters[i];
    if (!is_equal && __builtin_add_overflow(out, calls, &out)) return UINT64_MAX;
  }
  return out;
}

}  // namespace refrain::analysis::clusters
