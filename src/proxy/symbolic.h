// Signatures with their expressions: parameters whose numbers are not those of one rank, but say
// which slot they are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/signatures/slot_evaluator.h"
#include "format/signatures/walk.h"
#include "mpi/call_meaning.h"
#include "mpi/call_table.h"
#include "proxy/families.h"
#include "refrain/trace.h"

namespace refrain::proxy {

struct SymbolicCall {
  const mpi::CallInfo* info = nullptr;  // null: a function that nobody knows
  const mpi::CallMeaning* meaning = nullptr;
  // Numbers of kInt, kObject, kBuffer and of runs are indices of slots, but in lists.
  format::CallFields fields;
  std::vector<bool> has_list;  // by parameter: a kIntList is in it, evaluate it rank by rank
};

// Keeps a reference to the trace. Not thread safe.
class Symbolic {
 public:
  explicit Symbolic(const Trace& trace);

  const Trace& trace() const { return trace_; }
  // `who`: a rank that makes the call.
  const SymbolicCall& call(SignatureId signature, format::RankPosition who);
  format::RankExpr expression(SignatureId signature, uint32_t slot) const;
  // Of one rank.
  int64_t value(SignatureId signature, uint32_t slot, format::RankPosition who);
  format::Context context(SignatureId signature, format::RankPosition who) {
    return evaluator_.context_of(signature, who);
  }
  // What `expression` gives for a rank where that signature stands.
  int64_t value_of(const format::RankExpr& expression, SignatureId signature,
                   format::RankPosition who);
  // A parameter with the numbers of one rank.
  format::Field field_of(SignatureId signature, size_t parameter, format::RankPosition who);
  // Where the variable of an object stands among those of its kind, mostly the N of "comm#N"; -1: a
  // predefined object, or none.
  int64_t object_number(int64_t definition);
  // Of ranks with several threads: the thread whose calls are asked for from now on, and that an
  // object, which several threads make, is in its calls the one that `owner` makes.
  void set_thread(uint32_t thread) { thread_ = thread; }
  void set_owner(uint32_t thread, const std::string& object, uint32_t owner) {
    owners_[{thread, object}] = owner;
  }

 private:
  const Trace& trace_;
  const format::TraceData& data_;
  format::SlotEvaluator evaluator_;
  std::unordered_map<SignatureId, SymbolicCall> calls_;
  std::unordered_map<std::string, int64_t> known_;  // objects that were counted anew
  uint32_t thread_ = 0;
  std::map<std::pair<uint32_t, std::string>, uint32_t> owners_;
};

}  // namespace refrain::proxy
