#include "online/progress.h"

#include <algorithm>
#include <map>
#include <utility>

#include "format/trace_data.h"
#include "grammar/fold.h"
#include "mpi/call_name.h"
#include "reader/internal.h"

namespace refrain::online {

namespace {

struct Found {
  uint64_t iterations = 0, calls = 0;  // calls: of one iteration
  uint32_t first = 0;                  // its first terminal
};

// The repetition in the start rule that stands for most calls.
Found main_loop(const grammar::Grammar& grammar) {
  const grammar::Lengths lengths = grammar::lengths(grammar);
  std::map<std::pair<bool, uint32_t>, uint64_t> counts;
  std::map<std::pair<bool, uint32_t>, bool> is_repeated;
  for (uint32_t i = grammar.rule_begin(0); i < grammar.rule_end[0]; ++i) {
    const grammar::Symbol& s = grammar.symbols[i];
    counts[{s.is_rule, s.id}] += s.count;
    is_repeated[{s.is_rule, s.id}] |= s.count > 1;
  }
  Found best;
  std::pair<bool, uint32_t> symbol;
  for (const auto& [key, count] : counts) {
    const uint64_t calls = key.first ? lengths.rule[key.second] : 1;
    if (!is_repeated[key] || count * calls <= best.iterations * best.calls) continue;
    best = {count, calls, 0};
    symbol = key;
  }
  while (symbol.first) {
    const grammar::Symbol& s = grammar.symbols[grammar.rule_begin(symbol.second)];
    symbol = {s.is_rule, s.id};
  }
  best.first = symbol.second;
  return best;
}

}  // namespace

void add_progress(const Trace& trace, JobNow& job) {
  const format::TraceData& data = reader::data_of(trace);
  std::map<uint64_t, RankNow*> by_rank;
  for (RankNow& rank : job.ranks) by_rank[rank.rank] = &rank;
  job.loop = {};
  for (const format::Group& group : data.groups) {
    if (group.locations.empty()) continue;
    const Found found = main_loop(data.grammars[group.locations.front().grammar]);
    for (const base::RunList::Run& run : group.ranks.runs())
      for (uint64_t i = 0; i < run.count; ++i) {
        const auto it =
            by_rank.find(static_cast<uint64_t>(run.start + static_cast<int64_t>(i) * run.step));
        if (it != by_rank.end()) it->second->iterations = found.iterations;
      }
    if (found.iterations == 0) continue;
    LoopNow& loop = job.loop;
    const bool is_first = loop.most == 0;
    if (is_first || found.calls > loop.calls) {
      loop.calls = found.calls;
      loop.call = found.first < group.signatures.size()
                      ? mpi::call_name(trace.call_of(SignatureId(group.signatures[found.first])))
                      : std::string();
    }
    loop.least_calls = is_first ? found.calls : std::min(loop.least_calls, found.calls);
    loop.least = is_first ? found.iterations : std::min(loop.least, found.iterations);
    loop.most = std::max(loop.most, found.iterations);
  }
}

}  // namespace refrain::online
