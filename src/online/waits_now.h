// What is known of the waiting in a job that runs: plain data, made by LiveWaits (live_waits.h).
// Patterns and causes are those of docs/waits.md, of the forward sweep alone: a cause is the rank
// that a wait ended with, not what had made that rank late.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/waits/pattern.h"

namespace refrain::online {

// Of a job that keeps none, or those of segments.
inline constexpr const char* kNoTimes =
    "there are no times of single calls, which waits are made of: record with --timing exact or "
    "bins:0.02";

// "recent": found since the look before.
struct WaitsNow {
  struct OfPattern {
    analysis::waits::Pattern pattern = analysis::waits::Pattern::kAll;
    uint64_t ns = 0, count = 0;
    uint64_t recent_ns = 0, recent_count = 0;
  };
  struct OfRank {
    uint64_t rank = 0;
    uint64_t waiting_ns = 0, causing_ns = 0;  // it waited; others waited for it
    uint64_t recent_waiting_ns = 0, recent_causing_ns = 0;
  };
  // Why nothing is known; empty: it is.
  std::string why_not;
  // Why no more is found than what is here; empty: it goes on.
  std::string stopped;
  std::vector<OfPattern> patterns;  // without those that they contain; in the order of the tree
  std::vector<OfRank> ranks;        // that wait or are waited for; most first
  uint64_t ns = 0, recent_ns = 0;   // of all patterns
  uint64_t calls = 0;               // that were looked at
  uint64_t unassigned_ns = 0;       // waiting whose cause is not known
  // Points of the run, in ns since its first MPI_Init: all calls before the first one were looked
  // at, at the look before those before the second one.
  uint64_t swept_until_ns = 0, recent_from_ns = 0;
  uint64_t lag_ns = 0;          // the age of the run less that
  int64_t behind_rank = -1;     // whose calls the rest waits for; -1: nobody's
  uint64_t unmatched_ends = 0;  // of messages and collectives beyond what is kept: not analysed
  uint64_t late_calls = 0;      // that came when their time had been looked at already
  bool is_whole = false;        // the job is over, and every call with a time was looked at
};

}  // namespace refrain::online
