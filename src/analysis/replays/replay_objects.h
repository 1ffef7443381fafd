// Whether objects of two traces are of one kind: communicators with the same members, datatypes
// with the same size, extent and constructor. Their names are not looked at.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "mpi/call_table.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::analysis {

// `a` of the original and `b` of the replay are objects (ValueKind::kObject), as `rank` sees them.
bool same_object(const Trace& original, const Trace& again, Rank rank, const Value& a,
                 const Value& b);

// Whether filters have left calls out of the trace, which may have made objects.
bool lacks_calls(const Trace& trace);

// Objects that have another number in the replay, as `rank` sees them. One may have had several:
// numbers are used again.
class OtherNames {
 public:
  OtherNames(const Trace& original, const Trace& again) : original_(original), again_(again) {}
  void note(const Value& a, const Value& b);
  bool has(const Value& a, const Value& b) const;

 private:
  const Trace& original_;
  const Trace& again_;
  std::unordered_map<std::string, std::unordered_set<std::string>> names_;  // "win#1": "win#0"
};

// A function that says what the MPI, the machine or a clock is like.
bool asks_environment(const mpi::CallInfo& info);

}  // namespace refrain::analysis
