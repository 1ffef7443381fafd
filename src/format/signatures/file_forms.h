// Shapes and definitions in the form of the file: common structure, separated from the numbers.
//
// Signatures that differ only in numbers (the root of a broadcast that goes around, the partner in
// step k of an exchange) are a family, and so are the communicators of all rows of a mesh: the
// structure stands once, and the numbers are columns, most of them a run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/layout.h"
#include "format/trace_data.h"

namespace refrain::format {

// A shape (split form) without its requests and its large counts.
struct FileShape {
  std::string bytes;  // Form::kFile
  std::vector<int64_t> counts;
  std::vector<int64_t> requests;
};
// `shape` is a shape.
FileShape strip_shape(std::string_view shape);
// nullopt when the numbers are not those that the bytes have room for, or give no shape.
std::optional<std::string> restore_shape(const FileShape& shape);

// The payload of a definition. A form byte says how: 0 as it is, 1 a communicator, 2 a datatype.
struct FilePayload {
  std::string structure;
  std::vector<int64_t> numbers;
};
FilePayload strip_payload(const Definition& definition);
// nullopt when that makes no payload.
std::optional<std::string> restore_payload(const FilePayload& payload);

// What the members of a family have in common, and what they do not.
struct FileDefinition {
  DefinitionKind kind{};
  size_t refs = 0;
  FilePayload payload;  // of a call site: no structure, its offset
  bool like(const FileDefinition& other) const;
  uint64_t key() const;  // equal for definitions of one family, and hardly ever else
};
FileDefinition file_definition(const Definition& definition);

struct FileSignature {
  FileShape shape;  // but for the requests, of which a file may have millions
  size_t requests = 0;
  std::vector<ExprCode> codes;
  bool like(const FileSignature& other) const;
  uint64_t key() const;
};
FileSignature file_signature(const SignatureTable& all, size_t signature);

// "node7" becomes "node8", "n09" "n10": the last decimal number goes up by one. Empty without one.
std::string next_name(const std::string& name);

// Rank r is on host r / `ranks_each`, as launchers do it: the same form for one host and for many.
base::RunList host_blocks(uint64_t ranks, uint64_t ranks_each);

// From so many members on a column may be a list, and the family stands behind all others.
inline constexpr size_t kLongFamily = 4;
// From here on the members of a wholly regular family share their statistics.
inline constexpr size_t kSharingFamily = 8;
// Up to here the sides of a mesh may be equal, or a progression, by chance.
inline constexpr size_t kFamilyOfChance = 32;

// What a member of a family costs a reader in memory, in bytes, by the parts that it has.
inline uint64_t definition_cost(size_t structure_bytes, size_t refs, size_t numbers) {
  return 64 + structure_bytes + 4 * refs + 8 * numbers;
}
// Lists of members and the like are kept as runs, of several times their size as a payload.
inline constexpr uint64_t kCostPerPayloadByte = 16;
inline uint64_t signature_cost(size_t shape_bytes, size_t numbers, size_t slots) {
  return 64 + shape_bytes + 8 * numbers + 40 * slots;
}

inline uint64_t grammar_cost(size_t symbols) { return 64 + 24 * uint64_t{symbols}; }
// How often a symbol is repeated in the rules of a family of grammars that do not agree on it.
inline constexpr uint64_t kCountThatDiffers = 2;

// Whether the members of a long family are so alike that they share their statistics of time: all
// of their columns are regular, they differ in one at least, and are called from one place.
// Otherwise the statistics of a loop over all ranks would take as many bytes as there are ranks.
class Regularity {
 public:
  void see(ColumnMode mode) {
    is_regular_ = is_regular_ && is_flat(mode);
    differs_ = differs_ || mode == ColumnMode::kList;
  }
  void see_site(ColumnMode mode) {
    is_regular_ = is_regular_ && is_flat(mode) && mode != ColumnMode::kList;
  }
  bool shares_durations() const { return is_regular_ && differs_; }

 private:
  static bool is_flat(ColumnMode mode) {
    return mode == ColumnMode::kAsBefore || mode == ColumnMode::kConstant ||
           mode == ColumnMode::kList;
  }
  bool is_regular_ = true, differs_ = false;
};

// Which numbers of signatures are compared: those of the same slot of the same function, in
// signatures with as many slots.
inline uint64_t operand_key(uint32_t call_id, size_t slots, size_t slot, bool is_definition) {
  return static_cast<uint64_t>(call_id) << 48 | static_cast<uint64_t>(slots) << 24 |
         static_cast<uint64_t>(slot) << 1 | (is_definition ? 1 : 0);
}

// An order in which members of long families stand together behind everything else, so that nothing
// else gets another number when a family has more members. keys[i] is equal in all of a family,
// refs(i) are what i refers to, all smaller than i and so again in the result. The result lists the
// old indices in the new order.
using RefsOf = std::function<std::span<const uint32_t>(uint32_t)>;
std::vector<uint32_t> family_order(const std::vector<uint64_t>& keys, const RefsOf& refs);

}  // namespace refrain::format
