// Cuts the calls of a location into iterations and the calls between them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/iterations/plan.h"
#include "similarity/contexts.h"
#include "similarity/loops.h"
#include "similarity/structure.h"

namespace refrain::analysis::iterations {

struct TimedKind {
  const CallKind* kind = nullptr;
  uint64_t begin_ns = 0, end_ns = 0;
  uint64_t bytes = 0;
};

// A loop of a location: a mark by its name, or a part of the grammar.
struct LocalLoop {
  std::string name;                    // empty where it is no mark
  std::map<uint64_t, uint64_t> calls;  // key of its calls: how many, in all iterations together
  uint64_t iterations = 0;
};

struct Segment {
  int64_t loop = -1;  // a LocalLoop; -1: between loops
  uint64_t begin_ns = 0, end_ns = 0;
  uint64_t mpi_ns = 0, bytes = 0, calls = 0;
  bool is_in_vain = false;  // all of its calls asked and found nothing
  uint64_t structure = 0;
  const CallKind* longest = nullptr;  // the kind of its longest call
  uint64_t longest_ns = 0;
  std::span<const double> stamps;  // begin and end of each event, and the end; ns since begin_ns
};

class Cutter {
 public:
  // Segments are valid during the call. `marks`: what iterations are; empty: loops of `plan`, which
  // outlives it. `may_nest`: calls may be made inside of others, which end later.
  Cutter(const std::set<std::string>& marks, const LoopPlan* plan, bool may_nest,
         std::function<void(const Segment&)> visit);
  void call(const TimedKind& call);
  void finish();
  const std::vector<LocalLoop>& loops() const { return loops_; }

 private:
  // What has been collected of a segment.
  struct Open {
    int64_t loop = -1;
    uint64_t begin_ns = 0, first_ns = 0, end_ns = 0;  // end of the call before; begin of the first
    uint64_t mpi_ns = 0, bytes = 0, calls = 0;
    similarity::StructureKey structure;
    const CallKind* longest = nullptr;
    uint64_t longest_ns = 0;
    std::vector<uint64_t> times;                      // begin and end of each event
    std::vector<std::pair<uint64_t, uint64_t>> kept;  // begin and time of calls, where they nest
    bool is_exact = false;                            // begins where the program says so
    bool is_in_vain = true;                           // so far
  };

  void collect(const TimedKind& call, bool is_new_event);
  void add_time(uint64_t begin_ns, uint64_t end_ns);
  void begin(int64_t loop, uint64_t begin_ns, bool is_exact);
  void end();
  void release(uint64_t most_before_ns);
  void hand_over(Open& open, uint64_t most_before_ns);
  void loop_call(const TimedKind& call, bool is_new_event);
  void mark_before(const TimedKind& call);
  void mark_after(const TimedKind& call);
  int64_t loop_of_mark(const std::string& name);

  const std::set<std::string>& marks_;
  bool may_nest_;
  std::function<void(const Segment&)> visit_;
  std::vector<LocalLoop> loops_;
  // Loops of the grammar.
  similarity::ContextTable contexts_;
  std::vector<int64_t> loop_of_context_;  // -1: of none
  std::unique_ptr<similarity::LoopWalk> walk_;
  uint64_t left_ = 0;  // events of the segment that are still to come
  // Marks: the names of what is open, the one that is an iteration among them.
  std::vector<std::string> open_marks_;
  size_t iteration_depth_ = 0;  // of the one that is, from 1; 0: none
  bool is_instance_ = false;

  bool is_collecting_ = false, is_held_ = false, is_first_ = true;
  int64_t last_loop_ = -1;  // of the segment before
  Open open_, held_;        // held: the first iteration of a loop, until the second is known
  uint64_t end_ns_ = 0;
  const CallKind* last_ = nullptr;
  std::vector<double> stamps_;
};

}  // namespace refrain::analysis::iterations
