// The segments of a trace's locations, as data with times: from the loops that the grammar has
// found, or from what the program marked. Mohror, section 4.2.1.
//
// A segment reaches from the end of the call before it to the end of its last call: what a rank
// computes before a call is in the segment of the call, and nothing lies between segments. The
// first one begins with its first call.
//
// Loops are those of the recorded grammar, where equal calls are equal with all parameters. Where
// that finds next to none (messages of another size in every iteration), they are those of a
// grammar of functions and call paths, made anew.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/time/segments.h"
#include "refrain/calls.h"
#include "refrain/trace.h"
#include "similarity/contexts.h"
#include "similarity/marks.h"
#include "similarity/segment.h"

namespace refrain::analysis::reduce {

// Called for each segment of a location, in order. Stamps are valid during the call; the last one
// is the end of the last call.
using SegmentVisitor = std::function<void(const similarity::SegmentView&)>;

// Goes through the locations of one trace. Remembers the names of contexts, which are the same on
// all ranks, and how many messages the segments of each structure send and receive.
class SegmentReader {
 public:
  SegmentReader(const Trace& trace, format::SegmentSource source);
  ~SegmentReader();

  // All segments of a location whose calls have times; behind the first call without one there are
  // none. Fails when times cannot be read.
  Status read(const Location& location, const SegmentVisitor& visit);

  const std::vector<std::string>& contexts() const { return names_; }
  const similarity::MarkCounts& marks() const { return marks_; }
  uint64_t divided() const { return divided_; }  // segments that had too many calls
  uint64_t calls() const { return calls_; }      // that have times
  // Sends and receives in a segment of a structure.
  uint64_t messages_of(uint64_t structure) const;

 private:
  struct Collector;
  struct Plan;
  Status read_loops(const Location& location, const SegmentVisitor& visit);
  Status read_marks(const Location& location, const SegmentVisitor& visit);
  const Plan& plan_of(const Location& location, RankReader& rank);
  uint32_t context_named(const std::string& name);

  const Trace trace_;
  const format::SegmentSource source_;
  std::vector<std::string> names_;
  std::map<std::string, uint32_t> by_name_;
  similarity::ContextTable mark_contexts_;
  similarity::MarkCounts marks_;
  uint64_t divided_ = 0, calls_ = 0;
  std::unordered_map<uint64_t, uint64_t> messages_;  // by structure
  // By group and grammar.
  std::map<std::pair<GroupId, GrammarId>, std::unique_ptr<Plan>> plans_;
};

// How many messages a call of this function sends and receives, by its name.
uint64_t messages_of_call(std::string_view function);

}  // namespace refrain::analysis::reduce
