// Whether somebody who looks at the waiting of a rebuilt trace would say the same as of the full
// one: retention of trends (Mohror, section 5.1.4.4, where people compared KOJAK's displays), as a
// rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/waits/wait_states.h"

namespace refrain::analysis::reduce {

struct RetentionOptions {
  // Of the severity of a trend. A single rank may be off by half as much again of the longest wait
  // of a rank.
  double tolerance = 0.1;
  // Of the time of all ranks: a smaller wait is no trend.
  double least_share = 0.01;
};

// One kind of waiting at one place, where it is a trend in either trace.
struct Trend {
  waits::Pattern pattern{};
  DefinitionId path = kNoDefinition;
  CallId call = 0;
  uint64_t full_ns = 0, rebuilt_ns = 0;  // of all ranks
  Rank worst_rank = -1;                  // whose time differs most, in either direction
  uint64_t worst_full_ns = 0, worst_rebuilt_ns = 0;
  // The severity, that of each rank, and which ranks have at least half of the longest.
  bool same_severity = true, same_by_rank = true, same_ranks = true;
  bool is_new = false;  // nothing like it in the full trace
  bool kept() const { return same_severity && same_by_rank && same_ranks && !is_new; }
};

struct Retention {
  std::vector<Trend> trends;  // the longest in the full trace first
  bool same_dominant = true;  // the longest one, and where it is
  uint64_t negative = 0;      // calls that end before they begin, or before the one before them
  // 1 less the sum of what severities differ by, per pattern, call path and rank, in relation to
  // their sum in the trace that has more; 0 at least.
  double score = 1;
  // Empty: the trends are retained. Else why not, in a few words.
  std::string lost;
  bool retained() const { return lost.empty(); }
};

Retention compare_trends(const waits::WaitStates& full, const waits::WaitStates& rebuilt,
                         const RetentionOptions& options);

}  // namespace refrain::analysis::reduce
