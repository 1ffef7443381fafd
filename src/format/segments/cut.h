// Where the segments of a location begin and end (Mohror, section 4.2.1), call by call: from the
// loops that its grammar has found, or from what the program marked. Used by the recorder (--timing
// segments) and by `refrain reduce`.
//
// A segment reaches from the end of the call before it to the end of its last call: what a rank
// computes before a call is in the segment of the call, and nothing lies between segments. The
// first one begins with its first call.
//
// Loops are those of the recorded grammar, where equal calls are equal with all parameters. If
// almost none are found (messages of different sizes in every iteration), the loops are those of a
// new grammar of functions and call paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/grammar.h"
#include "similarity/contexts.h"
#include "similarity/loops.h"
#include "similarity/marks.h"
#include "similarity/segment.h"

namespace refrain::format {

// What a call says about the program, if it does.
struct Mark {
  enum class Kind : uint8_t { kNone, kBegin, kEnd, kInstance };
  Kind kind = Kind::kNone;
  std::string name;
};
// The mark that a call of MPI_Pcontrol(level) is: instance `phase_n`, from level 3 on.
Mark mark_of_level(int64_t level);
// The name of a function of the program: its module, without folders, and the offset in it.
std::string function_name(std::string_view module, int64_t offset);

struct CutCall {
  uint64_t key = 0;   // equal where calls are, on all ranks; for marks only
  uint32_t call = 0;  // mpi::CallId; for marks only
  const Mark* mark = nullptr;
  int64_t begin_ns = 0, end_ns = 0;
  uint64_t messages = 0;  // that the call sends and receives, if somebody wants to know
};

// What stands for a call in the structure of a segment from marks: the key, but of a mark its name
// counts; every number of an instance is a signature of its own, what it is called is not.
uint64_t structure_key(const CutCall& call);

// The parts of a program that segments come from, by name.
class ContextNames {
 public:
  uint32_t number_of(const std::string& name);
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, uint32_t> by_name_;
};

struct CutCounts {
  uint64_t calls = 0;    // in segments
  uint64_t divided = 0;  // segments that had too many calls
  similarity::MarkCounts marks;
  void add(const CutCounts& other);
};

// Called for each segment, in order. Stamps are valid during the call; the last one is the end of
// the last call.
using SegmentVisitor =
    std::function<void(const similarity::SegmentView& segment, uint64_t messages)>;

// Cuts the calls of one location, which are given one by one. What it is made of outlives it.
class SegmentCutter {
 public:
  SegmentCutter(ContextNames* names, CutCounts* counts, SegmentVisitor visit)
      : names_(names), counts_(counts), visit_(std::move(visit)) {}
  virtual ~SegmentCutter() = default;
  virtual void call(const CutCall& call) = 0;
  // There are no more, or none with times.
  virtual void finish() = 0;

 protected:
  void collect(const CutCall& call);
  // Ends the segment; without calls: nothing.
  void cut(uint32_t context, uint64_t structure);
  int64_t end_ns() const { return end_ns_; }

  ContextNames* names_;
  CutCounts* counts_;

 private:
  SegmentVisitor visit_;
  bool is_first_ = true;
  int64_t start_ns_ = 0, end_ns_ = 0;
  std::vector<double> stamps_;
  uint64_t messages_ = 0;
};

// Which grammar's loops are a location's segments, and what stands for each terminal in it.
struct LoopPlan {
  std::optional<grammar::Grammar> own;  // of functions and call paths; else the recorded one
  std::vector<uint64_t> keys;
};
// `calls`: of the location. `signatures`: by terminal, numbers that mean the same on all ranks.
// `function_and_path` gives a number that is equal where the terminal's function and path are.
LoopPlan plan_loops(const grammar::Grammar& recorded, uint64_t calls,
                    std::span<const uint32_t> signatures,
                    const std::function<uint64_t(size_t terminal)>& function_and_path);
// How many segments that will be, but for those that are divided.
uint64_t count_segments(const grammar::Grammar& grammar);

class LoopCutter final : public SegmentCutter {
 public:
  LoopCutter(const LoopPlan& plan, const grammar::Grammar& recorded, ContextNames* names,
             CutCounts* counts, SegmentVisitor visit);
  void call(const CutCall& call) override;
  void finish() override;

 private:
  void end_part();

  similarity::ContextTable contexts_;
  std::vector<uint32_t> known_;  // contexts, by number in contexts_
  similarity::LoopWalk walk_;
  similarity::LoopSegment segment_;
  uint64_t before_ = 0, taken_ = 0;  // calls of the segment: in parts before, in this one
};

class MarkCutter final : public SegmentCutter, private similarity::SegmentConsumer {
 public:
  MarkCutter(ContextNames* names, CutCounts* counts, SegmentVisitor visit);
  void call(const CutCall& call) override;
  void finish() override;

 private:
  // What MarkSegmenter cuts is only where: times are those that were collected.
  void segment(const similarity::SegmentView& view) override;
  void hand_over();

  similarity::ContextTable contexts_;
  similarity::MarkSegmenter segmenter_;
  bool is_cut_ = false;
  uint32_t context_ = 0;
  uint64_t structure_ = 0;
};

// One number out of two.
uint64_t mix_keys(uint64_t a, uint64_t b);
uint64_t key_of_name(std::string_view name);

}  // namespace refrain::format
