// Turns a signature of the file into the parameters that one rank passed: expressions of the rank
// become numbers, and fields become values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "format/signatures/slot_evaluator.h"
#include "format/trace_data.h"
#include "mpi/call_table.h"
#include "reader/definition_table.h"
#include "refrain/calls.h"
#include "refrain/value.h"

namespace refrain::reader {

// Keeps references to both arguments. Not thread safe: it caches.
class SignatureDecoder {
 public:
  // `position`: of the rank in its group.
  SignatureDecoder(const format::TraceData& data, const DefinitionTable& definitions, Rank rank,
                   uint64_t position);

  // An empty signature without a name when `id` is out of range.
  Signature decode(SignatureId id);

 private:
  // The message that the receive which created a request asked for.
  const Value& posted_message(SignatureId id);
  Value to_value(const format::Field& field) const;
  Value array_of(const format::Field& field) const;
  // Names for what this version has no name for: a function or a parameter from the future.
  std::string_view made_up_name(std::string_view stem, size_t number);
  std::string_view argument_name(const mpi::CallInfo* info, size_t position);

  const format::TraceData& data_;
  const DefinitionTable& definitions_;
  const format::RankPosition who_;
  SignatureId current_;  // the one being decoded
  format::SlotEvaluator slots_;
  std::unordered_map<SignatureId, Value> posted_;
  std::unordered_set<std::string> made_up_names_;  // its strings stay where they are
};

}  // namespace refrain::reader
