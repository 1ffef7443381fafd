// A run over time, for a picture of it: a table of what each location did in each stretch of time,
// and the calls that a picture must place exactly.
//
// The grammar of a location tells exactly which call is the n-th one. A picture also needs times.
// An anchor is a call whose times are kept; calls between two anchors are placed by the mean
// durations of their signatures. If there are more than `most_anchors` calls, the anchors are the
// longest calls, and those after the longest times without a call. All others are narrow in any
// picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "events/call_class.h"
#include "refrain/trace.h"

namespace refrain::analysis {

struct Anchor {
  uint64_t seq = 0;
  uint64_t begin_ns = 0, end_ns = 0;
};

struct TimelineRow {  // one location
  Rank rank = 0;
  uint32_t thread = 0;
  GroupId group = 0;
  GrammarId grammar = 0;
  uint64_t calls = 0;
  uint64_t timed_calls = 0;
  uint64_t begin_ns = 0, end_ns = 0;  // without times: 0 and the length that its totals give
  std::vector<Anchor> anchors;        // by seq; none without times
  struct Span {
    uint64_t begin_ns = 0, end_ns = 0;
  };
  std::vector<Span> own_work;  // the recorder's, between two calls; none without times
};

struct FunctionTime {  // of a rank
  uint32_t row = 0;
  CallId call = 0;
  uint64_t ns = 0;
};

struct Timeline {
  bool has_times = false;
  bool is_whole = false;  // every call that has times is an anchor
  uint64_t begin_ns = 0, end_ns = 0;
  uint64_t least_ns = 0;       // calls that took longer, or came longer after another, are anchors
  size_t bins = 0;             // of the table, 0 without times
  std::vector<uint8_t> share;  // row * bins + bin: time in MPI, 255 is all
  std::vector<events::CallClass> classes;  // the same: the class of call that took most of it
  std::vector<TimelineRow> rows;           // by rank, then thread
  std::vector<FunctionTime> times;         // exact, with times only
  uint64_t damaged_rows = 0;               // whose times cannot be read to their end
};

struct TimelineOptions {
  size_t most_anchors = 250'000;
  size_t most_cells = size_t{1} << 19;  // of the table
  size_t most_bins = 2048;
  std::function<void(uint64_t done, uint64_t all)> progress;  // rows
};

// Reads every time of the trace once.
Timeline timeline(const Trace& trace, const TimelineOptions& options);

}  // namespace refrain::analysis
