// Calls of POSIX and stdio functions that the program made itself (`record --posix on`): sums over
// ranks, and the ranks at the ends.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format/trace_data.h"
#include "refrain/trace.h"

namespace refrain::analysis {

// A number of each rank that called the function: its ends, and the lowest ranks that have them.
struct PosixSpread {
  uint64_t least = 0, greatest = 0;
  Rank least_rank = 0, greatest_rank = 0;
};

struct PosixRow {
  std::string function;
  uint64_t ranks = 0;    // that called it
  format::PosixUse all;  // sums; of the shortest and the longest call of any rank
  PosixSpread calls, bytes, time_ns;
  std::vector<std::pair<Rank, format::PosixUse>> by_rank;  // ascending
};

struct PosixProfile {
  bool is_known = false;       // the trace was recorded with it
  std::vector<PosixRow> rows;  // most time first
  format::PosixUse all;        // of all functions; no shortest and no longest call
};

PosixProfile posix_profile(const Trace& trace);
// Whether such calls were counted.
bool has_posix(const Trace& trace);

}  // namespace refrain::analysis
