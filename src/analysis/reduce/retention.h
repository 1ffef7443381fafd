// Retention of trends: whether a rebuilt trace leads to the same diagnosis as the full one. In
// Mohror, section 5.1.4.4, people compared KOJAK's displays; here rules compare three measures rank
// by rank: waiting, time in calls, and computation before them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/reduce/activity.h"
#include "analysis/waits/wait_states.h"

namespace refrain::analysis::reduce {

struct RetentionOptions {
  // Of the severity of a trend. A single rank may be off by half as much again of the longest wait
  // of a rank.
  double tolerance = 0.1;
  // Of the time of all ranks: what takes less is no trend.
  double least_share = 0.01;
};

// What is known of one of the two traces.
struct Diagnosis {
  waits::WaitStates waits;
  std::vector<Activity> activities;
};
// Fails as wait_states() and activities() do.
Result<Diagnosis> diagnosis_of(const Trace& trace);

// Of one rank, in both traces.
struct RankTimes {
  Rank rank = 0;
  uint64_t full_ns = 0, rebuilt_ns = 0;
};

// One kind of waiting, or the calls or the computation, at one place, where it is a trend in either
// trace.
struct Trend {
  Measure measure = Measure::kWait;
  waits::Pattern pattern = waits::Pattern::kAll;  // of kWait
  DefinitionId path = kNoDefinition;
  CallId call = 0;
  uint64_t full_ns = 0, rebuilt_ns = 0;  // of all ranks
  Rank worst_rank = -1;                  // whose time differs most, in either direction
  uint64_t worst_full_ns = 0, worst_rebuilt_ns = 0;
  // The severity, that of each rank, and which ranks have at least half of the longest.
  bool same_severity = true, same_by_rank = true, same_ranks = true;
  // Of kComputation: which ranks have more of it than others, and how much more.
  bool same_disparity = true;
  bool is_new = false;           // nothing like it in the full trace
  std::vector<RankTimes> ranks;  // those that have any of it
  bool kept() const {
    return same_severity && same_by_rank && same_ranks && same_disparity && !is_new;
  }
};
// "late_sender", "time in MPI_Recv", "computation before MPI_Recv".
std::string trend_name(const Trend& trend);

struct Retention {
  std::vector<Trend> trends;  // by measure, the longest in the full trace first
  bool same_dominant = true;  // the longest one of each measure, and where it is
  uint64_t negative = 0;      // calls that end before they begin, or before the one before them
  // 1 less the sum of what severities differ by, per pattern, call path and rank, in relation to
  // their sum in the trace that has more; 0 at least. And the same of times in calls and before
  // them.
  double score = 1, time_score = 1;
  // Empty: the trends are retained. Else why not, in a few words.
  std::string lost;
  bool retained() const { return lost.empty(); }
};

Retention compare_trends(const Diagnosis& full, const Diagnosis& rebuilt,
                         const RetentionOptions& options);

}  // namespace refrain::analysis::reduce
