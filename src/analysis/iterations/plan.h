// What decides where iterations begin: for each grammar of a group of ranks, a grammar of functions
// and call paths; and the marks that come several times.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "format/segments/cut.h"
#include "grammar/grammar.h"
#include "reader/source_paths.h"
#include "refrain/calls.h"
#include "refrain/trace.h"
#include "similarity/loops.h"

namespace refrain::analysis::iterations {

// A signature, as far as it matters here.
struct CallKind {
  uint64_t key = 0;  // equal where function and call path are, on all ranks
  CallId call = 0;
  DefinitionId path = kNoDefinition;
  bool is_poll = false;     // may ask in vain: several in a row at one place are one event
  bool is_in_vain = false;  // a poll that found nothing
  format::Mark mark;
};

CallKind kind_of(const Trace& trace, const reader::SourcePaths& paths, const Signature& signature);

// The events of a location (calls, but polls in a row are one) as a grammar of kinds.
struct LoopPlan {
  grammar::Grammar grammar;
  std::vector<uint64_t> keys;  // by terminal
  similarity::LoopOptions options() const;
};

class Plans {
 public:
  Plans(const Trace& trace, const reader::SourcePaths& paths) : trace_(trace), paths_(paths) {}
  // Made the first time that it is asked for; valid as long as this object.
  const LoopPlan& of(const Location& location, RankReader& rank);

 private:
  const Trace trace_;
  const reader::SourcePaths& paths_;
  std::map<std::pair<GroupId, GrammarId>, std::unique_ptr<LoopPlan>> plans_;
};

// Names of marks that a rank of the group meets several times.
std::set<std::string> repeated_marks(const Trace& trace, GroupId group);

}  // namespace refrain::analysis::iterations
