// SegmentMatcher: the segments of a location that the program marks, matched while it runs (Mohror,
// section 4.2.2): what is kept is a few representatives, and for each segment which one stands for
// it and when it began.
//
//   call that ends --TimeLog::push--> row of calls --kMatchStep of them--> cut, match
//                                                                        |
//         spool: a block of the segments that have ended (format/spool/matched.h), and the row,
//         which keeps the calls of the segment under way
//
// Only for marks: their segments end at a known call. Loops are known only after the last call
// (docs/decisions/0023).
//
// Structures use the recorder's terminals, and times its own clock; MPI_Finalize translates both.
// See finish().
//
// Laws:   the thread of the location alone. The lock of the process for the first mark of a
//         signature only. A row is matched a step at a time, so that a call waits 0.3 ms at most.
// Budget: 900 instructions a call with avgWave where few segments match, keeping its time included
//         (./dev bench tracing); half of that is what a representative costs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/decode/time_table.h"
#include "format/segments/run_profile.h"
#include "format/spool/matched.h"
#include "grammar/grammar.h"
#include "mpi/call_table.h"

namespace refrain::tracer {

struct Location;

// What a rank's terminals are, for finish().
struct TerminalNames {
  std::span<const uint32_t> signatures;  // numbers in the trace
  std::span<const uint16_t> calls;
  std::span<const format::Mark> marks;
};

class SegmentMatcher {
 public:
  explicit SegmentMatcher(const Location& location);

  // A mark, before call() has it, in the order of the calls.
  void note(const Location& location, uint32_t terminal);
  // `key`: equal for equal calls; times in ns of the rank's clock.
  void call(uint64_t key, mpi::CallId call, uint64_t begin_ns, uint64_t end_ns);
  // Calls of segments that have ended since the last block.
  uint32_t ended() const { return writer_.calls(); }
  format::TimeBlock take(std::string& bytes) { return writer_.take(bytes); }
  size_t memory_bytes() const;

  // How many segments there are; behind the last call.
  uint64_t end();
  // Of the whole run, on the common clock (format::ClockMap), behind end(). Once.
  base::Result<format::RunProfile> finish(uint64_t rank, uint32_t thread,
                                          const std::vector<format::ClockPoint>& points,
                                          int64_t base_ns, const grammar::Grammar& grammar,
                                          const TerminalNames& names);

 private:
  void take_segment(const similarity::SegmentView& segment);

  format::LocationMatcher matcher_;
  format::ContextNames names_;
  format::CutCounts counts_;
  format::MarkCutter cutter_;
  format::spool::MatchedWriter writer_;
  std::map<std::pair<int, std::string>, format::Mark> marks_;
  std::unordered_map<uint32_t, const format::Mark*> mark_of_;  // by terminal, but for instances
  std::deque<const format::Mark*> noted_;
  uint64_t end_ns_ = 0;  // of the last call
};

}  // namespace refrain::tracer
