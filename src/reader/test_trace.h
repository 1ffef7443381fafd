// Traces put together by hand, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/definitions.h"
#include "format/testing/timed.h"
#include "format/trace_data.h"
#include "grammar/builder.h"
#include "mpi/call_table.h"
#include "reader/internal.h"
#include "refrain/trace.h"

namespace refrain::reader {

using format::RankExpr;

inline RankExpr fixed(int64_t v) { return RankExpr{RankExpr::Kind::kConst, v, 0, 0}; }
inline RankExpr me_plus(int64_t v) { return RankExpr{RankExpr::Kind::kAffine, 1, v, 0}; }
inline RankExpr me_plus_mod_size(int64_t v) { return RankExpr{RankExpr::Kind::kMod, v, 0, 0}; }
inline RankExpr table(int64_t index) { return RankExpr{RankExpr::Kind::kTable, index, 0, 0}; }

// Writes a signature in split form, field by field.
class ShapeWriter {
 public:
  explicit ShapeWriter(std::string_view call) {
    const mpi::CallInfo* info = mpi::find_call(call);
    EXPECT_NE(info, nullptr) << call;
    out_.put_varint(info == nullptr ? 0 : info->id);
  }
  ShapeWriter& tag(format::FieldTag t) { return out_.put_u8(static_cast<uint8_t>(t)), *this; }
  ShapeWriter& varint(uint64_t v) { return out_.put_varint(v), *this; }
  ShapeWriter& slot(RankExpr e) { return slots_.push_back(e), *this; }

  ShapeWriter& none() { return tag(format::FieldTag::kNone); }
  ShapeWriter& integer(int64_t v) { return integer(fixed(v)); }
  ShapeWriter& integer(RankExpr e) { return tag(format::FieldTag::kInt).slot(e); }
  ShapeWriter& object(uint32_t definition) { return object(fixed(definition)); }
  ShapeWriter& object(RankExpr e) { return tag(format::FieldTag::kObject).slot(e); }
  ShapeWriter& constant(std::string_view name) {
    EXPECT_NE(mpi::constant_id(name), 0u) << name;
    return tag(format::FieldTag::kConst).varint(mpi::constant_id(name));
  }
  ShapeWriter& request(uint32_t signature) {
    return tag(format::FieldTag::kRequest).varint(signature);
  }
  ShapeWriter& new_request(uint32_t position) {
    return tag(format::FieldTag::kNewRequest).varint(position);
  }
  ShapeWriter& heap(int64_t id, int64_t offset) {
    tag(format::FieldTag::kBuffer);
    out_.put_u8(static_cast<uint8_t>(format::BufferClass::kHeap));
    return slot(fixed(id)).slot(fixed(offset));
  }
  ShapeWriter& array(uint64_t size) { return tag(format::FieldTag::kArray).varint(size); }
  ShapeWriter& repeat(uint64_t count) { return varint(count); }
  ShapeWriter& string(format::FieldTag t, std::string_view text) {
    tag(t);
    out_.put_string(text);
    return *this;
  }

  format::StoredSignature take() { return {out_.take(), std::move(slots_)}; }

 private:
  base::ByteWriter out_;
  std::vector<RankExpr> slots_;
};

class TraceBuilder {
 public:
  explicit TraceBuilder(uint64_t ranks) {
    data_.meta.ranks = ranks;
    data_.meta.hosts = {"host"};
    data_.meta.text = {{"program", "test"}, {"mpi", "MPICH"}};
    data_.meta.duration_ns = 1500;
    for (uint64_t r = 0; r < ranks; ++r) data_.meta.host_of_rank.append(0);
    data_.totals.resize(ranks);
  }

  uint32_t define(format::DefinitionKind kind, std::string payload,
                  std::vector<uint32_t> refs = {}) {
    data_.definitions.push_back({kind, std::move(payload), std::move(refs)});
    return static_cast<uint32_t>(data_.definitions.size() - 1);
  }
  uint32_t world() {
    format::CommDefinition comm;
    comm.constant = mpi::constant_id("MPI_COMM_WORLD");
    return define(format::DefinitionKind::kComm, format::write_comm(comm));
  }
  uint32_t comm(int64_t id, const std::vector<int64_t>& members,
                const std::vector<int64_t>& remote = {}) {
    format::CommDefinition comm;
    comm.id = id;
    comm.has_members = true;
    comm.inter = !remote.empty();
    for (const int64_t m : members) comm.local.append(m);
    for (const int64_t m : remote) comm.remote.append(m);
    return define(format::DefinitionKind::kComm, format::write_comm(comm));
  }
  uint32_t predefined_type(std::string_view name, int64_t size_bytes) {
    format::DatatypeDefinition type;
    type.constant = mpi::constant_id(name);
    EXPECT_NE(type.constant, 0u) << name;
    type.size_bytes = type.extent_bytes = size_bytes;
    return define(format::DefinitionKind::kDatatype, format::write_datatype(type));
  }
  uint32_t site(std::string_view module, std::string_view build_id, int64_t offset) {
    base::ByteWriter path;
    path.put_string(module);
    path.put_string(build_id);
    const uint32_t module_id = define(format::DefinitionKind::kModule, path.take());
    base::ByteWriter place;
    place.put_zigzag(offset);
    return define(format::DefinitionKind::kSite, place.take(), {module_id});
  }
  // Sites, innermost first.
  uint32_t path(const std::vector<uint32_t>& sites) {
    return define(format::DefinitionKind::kPath, {}, sites);
  }
  uint32_t signature(ShapeWriter& shape) {
    data_.signatures.push_back(shape.take());
    data_.durations.emplace_back();
    return static_cast<uint32_t>(data_.signatures.size() - 1);
  }
  int64_t table_of(const std::vector<int64_t>& values) {
    base::RunList& list = data_.tables.emplace_back();
    for (const int64_t v : values) list.append(v);
    return static_cast<int64_t>(data_.tables.size() - 1);
  }
  // A group whose ranks make these calls (signatures, in order) in thread 0.
  void group(const std::vector<int64_t>& ranks, const std::vector<uint32_t>& calls) {
    format::Group& group = data_.groups.emplace_back();
    for (const int64_t r : ranks) group.ranks.append(r);
    thread(0, calls);
  }
  // Another thread of the last group's ranks.
  void thread(uint64_t number, const std::vector<uint32_t>& calls) {
    format::Group& group = data_.groups.back();
    grammar::Builder builder;
    for (const uint32_t call : calls) {
      size_t terminal = 0;
      while (terminal < group.signatures.size() && group.signatures[terminal] != call) ++terminal;
      if (terminal == group.signatures.size()) group.signatures.push_back(call);
      builder.append(static_cast<grammar::Terminal>(terminal));
      data_.durations[call].count += group.ranks.size();
    }
    data_.grammars.push_back(builder.finish());
    group.locations.push_back(
        {static_cast<uint32_t>(number), static_cast<uint32_t>(data_.grammars.size() - 1)});
  }
  // Begin and end of every call of thread 0 of a rank, in ns since its MPI_Init. After group().
  void times(uint64_t rank, const std::vector<std::pair<uint64_t, uint64_t>>& times,
             std::string_view spec = "exact", size_t calls_per_block = format::kCallsPerBlock) {
    format::add_times(data_, rank, 0, times, spec, calls_per_block);
  }
  // What the rank's clock shows, and what the common one does.
  void clock(uint64_t rank, std::vector<format::ClockPoint> points) {
    data_.times.index.clocks.resize(data_.meta.ranks);
    data_.times.index.clocks[rank] = std::move(points);
  }
  format::TraceData& data() { return data_; }
  Result<Trace> try_open() const { return reader::trace_of(data_, "test.rfn", 0); }
  Trace open() const {
    Result<Trace> trace = try_open();
    EXPECT_TRUE(trace.ok()) << trace.error().to_string();
    return std::move(*trace);
  }

 private:
  format::TraceData data_;
};

}  // namespace refrain::reader
