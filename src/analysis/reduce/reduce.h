// A trace with times of single calls -> reduced times: trace profiling after the fact (Mohror,
// chapter 4).
//
//   auto reduction = reduce::reduce(trace, {.method = similarity::parse_method("auto").value()});
//   auto done = reduce::write(trace, *reduction, "out.rfn");
//
// Memory: a bounded store for each location in turn, then 20 bytes for each segment of the run and
// the representatives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/time/data.h"
#include "reader/internal.h"
#include "refrain/trace.h"
#include "similarity/marks.h"
#include "similarity/method.h"

namespace refrain::analysis::reduce {

struct ReduceOptions {
  similarity::MethodSpec method;
  format::SegmentSource source = format::SegmentSource::kLoops;
  format::AcrossRanks across = format::AcrossRanks::kGroups;
  // Of the store of one location. When it is used up the threshold is loosened.
  uint64_t memory_bytes = UINT64_MAX;
  // To how many ns the starts of segments are kept. 0: to the nanosecond, and with auto to a
  // sixteenth of what it may err in a segment of mean length, at most to the microsecond that it
  // takes for noise.
  uint32_t step_ns = 0;
  // False: segments of one rank do not stand for each other (unless they are equal).
  bool within_ranks = true;
};

struct Reduction {
  format::TimeData times;
  uint64_t locations = 0;
  uint64_t calls = 0;          // that have times
  uint64_t missing_calls = 0;  // that had none before
  uint64_t groups = 0;         // ranks (or threads) with the same sequence of representatives
  uint64_t spilled = 0;        // representatives that did not fit the memory
  uint64_t divided = 0;        // segments with too many calls
  similarity::MarkCounts marks;
  // Of reduce_keeping_trends(): thresholds that were tried, and what is lost even at the last one.
  uint64_t attempts = 0;
  std::string lost;
  // What the thesis's size models (section 4.4) say of the full and the reduced trace.
  double full_model_bytes = 0, reduced_model_bytes = 0;
};

// Fails, with kUnsupported, when the calls of the trace have no times, and with a usage error when
// they are reduced already.
Result<Reduction> reduce(const Trace& trace, const ReduceOptions& options);

// The trace with those times instead of its own, as a file's bytes, or in memory. Fails as
// format::encode() and reader::trace_of() do.
Result<std::string> encode(const Trace& trace, const Reduction& reduction);
Result<Trace> rebuilt(const Trace& trace, const Reduction& reduction);

}  // namespace refrain::analysis::reduce
