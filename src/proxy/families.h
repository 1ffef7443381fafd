// Which ranks can share the functions of a proxy: those whose grammars differ in numbers only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "format/signatures/slot_evaluator.h"
#include "format/trace_data.h"
#include "refrain/trace.h"

namespace refrain::proxy {

// A group of the trace, whose ranks did the same up to expressions, and one thread of each.
struct Kind {
  uint32_t number = 0;  // of the group
  uint32_t thread = 0;
  const format::Group* group = nullptr;
  const grammar::Grammar* grammar = nullptr;

  Rank first_rank() const { return group->ranks.at(0); }
  uint64_t ranks() const { return group->ranks.size(); }
  format::RankPosition position(Rank rank) const {
    return {static_cast<uint64_t>(rank), static_cast<uint64_t>(group->place_of(rank))};
  }
  SignatureId signature(uint32_t terminal) const { return group->signatures[terminal]; }
  std::vector<uint32_t> terminals() const;  // of this thread, ascending
  std::vector<uint64_t> counts() const;     // by terminal: calls of one rank's thread
  // visit(rank) for each rank.
  template <class Visit>
  void for_each_rank(Visit visit) const {
    for (const base::RunList::Run& run : group->ranks.runs())
      for (uint64_t i = 0; i < run.count; ++i)
        visit(static_cast<Rank>(run.start + run.step * static_cast<int64_t>(i)));
  }
};

// Kinds of one thread whose rules have equal symbols, up to how often, and equal functions behind
// terminals.
struct Family {
  std::vector<Kind> kinds;
  const grammar::Grammar& grammar() const { return *kinds.front().grammar; }
  uint32_t thread() const { return kinds.front().thread; }
  uint32_t terminals() const {
    return static_cast<uint32_t>(kinds.front().group->signatures.size());
  }
};

// The symbol of the start that is repeated and has the most calls; SIZE_MAX: none is.
size_t main_loop_of(const grammar::Grammar& grammar);

// By thread, and in the order of their first groups. Fails with kUnsupported where ranks have no
// calls.
base::Result<std::vector<Family>> families_of(const Trace& trace);

}  // namespace refrain::proxy
