#include "analysis/iterations/plan.h"

#include <unordered_map>

#include "analysis/reduce/segments.h"
#include "format/trace_data.h"
#include "grammar/builder.h"
#include "grammar/terminal_cursor.h"
#include "mpi/call_meaning.h"
#include "reader/internal.h"

namespace refrain::analysis::iterations {

namespace {

// Whether a poll found nothing: by its flag, or by the requests that it names.
bool is_in_vain(const Signature& signature) {
  if (signature.failed()) return false;
  if (const Value* flag = signature.find("flag"); flag != nullptr)
    return flag->at_exit().integer_or(0) == 0;
  const Value* indices = signature.find("array_of_indices");
  return indices != nullptr && indices->at_exit().size() == 0;
}

}  // namespace

CallKind kind_of(const Trace& trace, const reader::SourcePaths& paths, const Signature& signature) {
  CallKind kind;
  kind.call = signature.call;
  kind.path = paths.of(signature.site);
  kind.is_poll = mpi::meaning_of(signature.call).how == mpi::How::kPolls;
  kind.is_in_vain = kind.is_poll && is_in_vain(signature);
  kind.mark = reduce::mark_of(trace, signature);
  kind.key = format::mix_keys(signature.call, kind.path);
  return kind;
}

// A call that stands several times in a row is a loop as well: the loop of a program that does
// nothing but MPI_Barrier. Which of those are worth mentioning is decided when all are known.
similarity::LoopOptions LoopPlan::options() const {
  similarity::LoopOptions options;
  options.nesting = similarity::LoopOptions::Nesting::kOutermost;
  options.min_calls = 1;
  options.call_keys = keys;
  return options;
}

const LoopPlan& Plans::of(const Location& location, RankReader& rank) {
  const GroupId group = *trace_.group_of(location.rank);
  std::unique_ptr<LoopPlan>& plan = plans_[{group, location.grammar}];
  if (plan != nullptr) return *plan;
  plan = std::make_unique<LoopPlan>();
  const format::TraceData& data = reader::data_of(trace_);
  const std::vector<uint32_t>& signatures = data.groups[group].signatures;
  struct Known {
    grammar::Terminal terminal;
    bool is_poll;
  };
  std::unordered_map<uint64_t, grammar::Terminal> terminals;  // by key
  std::vector<Known> known;                                   // by recorded terminal
  for (const uint32_t id : signatures) {
    const CallKind kind = kind_of(trace_, paths_, rank.signature(id));
    const auto [at, is_new] =
        terminals.try_emplace(kind.key, static_cast<grammar::Terminal>(plan->keys.size()));
    if (is_new) plan->keys.push_back(kind.key);
    known.push_back({at->second, kind.is_poll});
  }
  grammar::Builder builder;
  bool was_poll = false;
  grammar::Terminal last = 0;
  for (grammar::TerminalCursor cursor(data.grammars[location.grammar]); !cursor.at_end();) {
    const Known next = known[cursor.next()];
    if (!(was_poll && next.is_poll && next.terminal == last)) builder.append(next.terminal);
    was_poll = next.is_poll;
    last = next.terminal;
  }
  plan->grammar = builder.finish();
  return *plan;
}

std::set<std::string> repeated_marks(const Trace& trace, GroupId group) {
  std::map<std::string, uint64_t> counts;
  RankReader first(trace, trace.group_rank(group, 0));
  for (const Trace::Occurrence& seen : trace.occurrences(group)) {
    const format::Mark mark = reduce::mark_of(trace, first.signature(seen.signature));
    if (mark.kind == format::Mark::Kind::kBegin || mark.kind == format::Mark::Kind::kInstance)
      counts[mark.name] += seen.calls;
  }
  std::set<std::string> out;
  for (const auto& [name, count] : counts)
    if (count > 1) out.insert(name);
  return out;
}

}  // namespace refrain::analysis::iterations
