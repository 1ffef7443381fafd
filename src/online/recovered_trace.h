// Writes the trace file of a job that did not write its own, with the times of its calls: of one
// that died (`recover`), and of one that was received while it ran.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/spool/read.h"
#include "format/time/data.h"
#include "format/trace_data.h"

namespace refrain::online {

// Times of the ranks of a job.
struct RecoveredTimes {
  format::TimeSpec spec;
  std::vector<std::vector<format::ClockPoint>> clocks;  // by rank
  std::vector<uint64_t> ranks;  // that have times, ascending; none: the trace has statistics only
  bool matched = false;         // some are those of what stands for segments
  // Asked for each of these, in this order: they need not be in memory at a time.
  std::function<base::Result<std::vector<format::spool::ThreadTimes>>(uint64_t rank)> of_rank;

  // What add() needs of a rank, whose record may be gone by then.
  struct OfRank {
    uint64_t rank = 0, world_size = 0;
    format::TimeSpec spec;
    std::vector<format::ClockPoint> clock;
    bool matched = false;
  };
  static OfRank of(const format::spool::RankSpool& rank);
  void add(OfRank of);
};

// What went wrong with the segments, and what the trace has instead.
using Complain = std::function<void(const base::Error&)>;

// An older file of this name is replaced when all of the new one is there.
base::Status write_recovered(const std::string& output, format::TraceData& trace,
                             const RecoveredTimes& times, const Complain& complain);

}  // namespace refrain::online
