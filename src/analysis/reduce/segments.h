// The segments of a trace's locations, as data with times: the calls, their times and their marks
// go to format/segments/cut.h, which cuts them as it does in the recorder.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "format/segments/cut.h"
#include "format/time/segments.h"
#include "refrain/calls.h"
#include "refrain/trace.h"
#include "similarity/segment.h"

namespace refrain::analysis::reduce {

// Called for each segment of a location, in order. Stamps are valid during the call; the last one
// is the end of the last call.
using SegmentVisitor = std::function<void(const similarity::SegmentView&)>;

// Goes through the locations of one trace. Remembers how many messages the segments of each
// structure send and receive.
class SegmentReader {
 public:
  SegmentReader(const Trace& trace, format::SegmentSource source);
  ~SegmentReader();

  // All segments of a location whose calls have times; behind the first call without one there are
  // none. Fails when times cannot be read.
  Status read(const Location& location, format::ContextNames* names, format::CutCounts* counts,
              const SegmentVisitor& visit);

  // Sends and receives in a segment of a structure.
  uint64_t messages_of(uint64_t structure) const;

 private:
  const format::LoopPlan& plan_of(const Location& location, RankReader& rank);
  std::unique_ptr<format::SegmentCutter> cutter_of(const Location& location, RankReader& rank,
                                                   format::ContextNames* names,
                                                   format::CutCounts* counts,
                                                   const SegmentVisitor& visit);

  const Trace trace_;
  const format::SegmentSource source_;
  std::unordered_map<uint64_t, uint64_t> messages_;  // by structure
  // By group and grammar.
  std::map<std::pair<GroupId, GrammarId>, std::unique_ptr<format::LoopPlan>> plans_;
};

// What a call says about the program, if it does.
format::Mark mark_of(const Trace& trace, const Signature& call);

// How many messages a call of this function sends and receives; none where it makes a request to be
// started.
uint64_t messages_of_call(CallId call);

}  // namespace refrain::analysis::reduce
