// Synthetic ranks: RankRecords made by hand, for tests. Not part of any library.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/definitions.h"
#include "format/trace_data.h"

namespace refrain::format::testing {

// The bytes of one signature, field by field.
class Sig {
 public:
  Sig(uint32_t call, uint32_t site) {
    out_.put_varint(call);
    tag(FieldTag::kObject).put_varint(site);
  }
  Sig& integer(int64_t v) { return tag(FieldTag::kInt).put_zigzag(v), *this; }
  Sig& constant(const char* name);
  Sig& object(uint32_t def) { return tag(FieldTag::kObject).put_varint(def), *this; }
  Sig& none() { return tag(FieldTag::kNone), *this; }
  Sig& request(uint32_t terminal) { return tag(FieldTag::kRequest).put_varint(terminal), *this; }
  Sig& new_request(uint32_t n) { return tag(FieldTag::kNewRequest).put_varint(n), *this; }
  Sig& buffer(BufferClass kind, int64_t id, int64_t offset, int64_t device = 0);
  Sig& array(uint64_t n) { return tag(FieldTag::kArray).put_varint(n), *this; }
  Sig& times(uint64_t n) { return out_.put_varint(n), *this; }
  Sig& ints(const std::vector<int64_t>& values);      // kArray, every element for itself
  Sig& int_runs(const std::vector<int64_t>& values);  // kIntRuns, as long arrays are recorded
  Sig& status(int64_t source, int64_t tag_value) {
    return tag(FieldTag::kStatus), integer(source), integer(tag_value);
  }
  Sig& text(const std::string& s) { return tag(FieldTag::kString).put_string(s), *this; }
  // A rank, or MPI_PROC_NULL when negative.
  Sig& peer(int64_t rank) { return rank < 0 ? constant("MPI_PROC_NULL") : integer(rank); }
  base::ByteWriter& tag(FieldTag t) { return out_.put_u8(static_cast<uint8_t>(t)), out_; }
  std::string bytes() const { return std::string(out_.view()); }

 private:
  base::ByteWriter out_;
};

// Interns definitions and signatures and grows the grammar, as the recorder does.
class SyntheticRank {
 public:
  SyntheticRank(uint64_t rank, uint64_t world_size);
  ~SyntheticRank();
  SyntheticRank(const SyntheticRank&) = delete;
  SyntheticRank& operator=(const SyntheticRank&) = delete;

  uint64_t rank() const { return record_.rank; }
  uint32_t define(DefinitionKind kind, std::string payload, std::vector<uint32_t> refs = {});
  uint32_t site(int64_t offset);
  uint32_t world();
  uint32_t comm(int64_t id, const base::RunList& members);
  uint32_t datatype(const char* name, int64_t size_bytes);
  uint32_t call(const Sig& sig);  // the terminal
  RankRecord finish();

 private:
  RankRecord record_;
  std::map<std::string, uint32_t> definition_index_, signature_index_;
  std::vector<uint32_t> sequence_;
};

RankRecord halo_2d(uint64_t rank, uint64_t columns, uint64_t rows, bool periodic,
                   uint64_t iterations);
RankRecord halo_3d(uint64_t rank, uint64_t edge, uint64_t iterations);

// leaf() and merge() over a tree that `seed` chooses (0: pairs of neighbours), everything sent
// through serialise() and parse() on the way; then finish().
TraceData merge_all(const std::vector<RankRecord>& ranks, uint64_t seed = 0);

// Calls are compared in order, parameter by parameter, arrays element by element.
// Empty when the trace says exactly what the rank recorded, else the first difference.
std::string difference(const TraceData& trace, const RankRecord& rank);

}  // namespace refrain::format::testing
