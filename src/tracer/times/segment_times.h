// --timing segments:METHOD: the work of each rank in MPI_Finalize. Its exact times are read back
// from the spool block by block, and its calls are cut into segments and matched (Mohror, section
// 4.2.2), unless segment_matcher.h has done this before. Later the starts of its segments are coded
// with the representatives of all ranks. segment_handover.h is the communication among ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/merge/merge.h"
#include "format/segments/reduced.h"
#include "format/time/data.h"

namespace refrain::tracer {

struct Location;
class Process;
class SegmentMatcher;

// What a rank is told by rank 0, which has merged the calls of all.
struct SegmentPlan {
  std::vector<format::ClockPoint> clock;  // of the rank
  int64_t base_ns = 0;                    // where times of the trace begin on the common clock
  std::vector<uint32_t> signatures;       // by terminal: number in the trace
  std::vector<uint64_t> paths;            // by terminal: of function and call path
};

class SegmentTimes {
 public:
  SegmentTimes(similarity::MethodSpec method, format::SegmentSource source,
               format::AcrossRanks across)
      : how_{method, source, format::effective(across, method), 0} {}

  const format::ReducedHow& how() const { return how_; }

  // Of the rank's own record, before it is merged with others.
  void learn(const format::PartialTrace& leaf);
  // The profile of the rank; with a problem where it cannot be.
  format::RunProfile match(Process& process, const SegmentPlan& plan);
  // What stands for the segments of a location, by number in the trace: `numbers` in the order of
  // its group's sequence. Of `representatives` only those that are used have calls and a length.
  // False: they do not fit.
  bool encode(size_t location, const std::vector<uint32_t>& numbers,
              std::span<const format::Representative> representatives, uint32_t step_ns);
  size_t location_count() const { return own_.size(); }

  using Visit = std::function<void(uint32_t thread, const std::vector<format::TimeBlock>& blocks,
                                   std::string_view bytes)>;
  void each(const Visit& visit) const;

 private:
  // Of a location, between matching and encoding.
  struct Own {
    uint32_t thread = 0;
    int64_t start_ns = 0;
    std::vector<int64_t> lengths_ns;
    std::vector<uint32_t> places;  // by segment: in the sequence; empty: one behind the other
    format::TimeChunk chunk;
    std::string bytes;
  };

  base::Result<format::RunProfile> match(Process& process, const SegmentPlan& plan,
                                         const format::ThreadGrammar& location);
  base::Result<format::RunProfile> take(const Process& process, const SegmentPlan& plan,
                                        const format::ThreadGrammar& location,
                                        SegmentMatcher& matcher);
  base::Status feed(const SegmentPlan& plan, const Location& location,
                    const grammar::Grammar& grammar, format::SegmentCutter& cutter);
  void take_starts(format::RunProfile& profile);

  format::ReducedHow how_;
  std::vector<grammar::Grammar> grammars_;
  std::vector<format::ThreadGrammar> locations_;
  std::vector<uint16_t> call_of_;    // by terminal
  std::vector<format::Mark> marks_;  // by terminal; with segments from marks only
  std::vector<Own> own_;
};

}  // namespace refrain::tracer
