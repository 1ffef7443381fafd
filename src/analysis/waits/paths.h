// The path back in time that determined when a call began.
//
// Before a call, its rank computed since the end of the previous call. It was in that call since
// the end of the call's wait. The wait ended because a call of another rank began, so the path
// continues there. A path contains no waiting, and every moment of the run once. Two paths that
// meet at one location and time are the same from there back. The recorder's own work between two
// calls is a stretch of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/waits/vocabulary.h"
#include "analysis/waits/wait_log.h"

namespace refrain::analysis::waits {

inline constexpr PlaceId kEdge = UINT32_MAX;  // begin of a location

// From one call to the next, or a call.
struct Stretch {
  PlaceId from = kEdge, to = kEdge;  // a call: itself twice
  bool is_call = false;
  bool is_own = false;  // what the recorder did there
  bool operator==(const Stretch&) const = default;
  bool operator<(const Stretch& o) const {
    if (from != o.from) return from < o.from;
    if (to != o.to) return to < o.to;
    return is_call != o.is_call ? is_call < o.is_call : is_own < o.is_own;
  }
};

struct StretchHash {
  size_t operator()(const Stretch& s) const {
    return IntegerHash()((uint64_t{s.from} << 32 | s.to) ^ uint64_t{s.is_call} << 31);
  }
};

struct PathPart {
  uint64_t low = 0, high = 0;  // ns
  Stretch stretch;
  NodeId node = kNoNode;  // the call, or the one that the time is before; kNoNode: not known
  uint32_t location = 0;
  bool is_edge = false;   // before a location's first call
  bool is_direct = true;  // before the first change of locations
};

// A path, found as far as it is asked for.
class Path {
 public:
  explicit Path(WaitLog& log) : log_(log) {}
  // Anew, back from `time` on the location of a node: from before it, or, where it began earlier,
  // from inside it.
  void start(NodeId node, uint64_t time);
  bool begins_at(NodeId node, uint64_t time) const { return node == first_ && time == first_time_; }
  uint64_t first_time() const { return first_time_; }
  // Part number `i`, backwards. False behind the last one.
  bool part(size_t i, PathPart& out);
  // The next part, backwards, which is not kept. Not together with part(). False behind the last.
  bool next(PathPart& out);

 private:
  static constexpr int kMostEmpty = 4096;  // steps in a row that take no time
  void step();
  void step_inside();
  void step_before();
  void add_gap(const Node& before, const Stretch& gap);
  void enter(NodeId node);
  void jump(NodeId causer, uint64_t time);
  // Takes the time since `low`.
  void add(uint64_t low, Stretch stretch, NodeId of);

  WaitLog& log_;
  NodeId first_ = kNoNode;
  uint64_t first_time_ = 0;
  std::vector<PathPart> parts_;
  NodeId at_ = kNoNode;
  Node node_;
  uint64_t time_ = 0;
  bool is_inside_ = false, has_ended_ = true, is_direct_ = true;
  // Where the path goes on from the time before node_, instead of on its location.
  NodeId next_ = kNoNode;
  uint64_t next_time_ = 0;
};

// A part of a path, with how much of something it makes.
struct Share {
  PathPart part;
  double ns = 0;
};

// What made one call begin later than another.
class Difference {
 public:
  // The parts of the path to the later call that the other one has not, or has less of, with how
  // much each makes of the difference; they add up to it. A part makes at most what it took, and
  // the parts of one stretch together at most what the path has more of it than the other one. At
  // most `budget` parts are looked at; where the paths have not met by then, they are compared as
  // far back as that, and what was seen stands for the rest. Valid until the next call.
  const std::vector<Share>& shares(Path& later, Path& earlier, int budget);

 private:
  void compare(Path& later, Path& earlier, int budget);
  static void take(std::vector<PathPart>& to, PathPart part, uint64_t low, uint64_t high);
  static void cut(std::vector<PathPart>& parts, uint64_t low);
  void keep_excess();
  void keep_peaks(Share* begin, Share* end, double total);

  // Of one stretch: how much of it is on either path, and which shares are its parts.
  struct Group {
    Stretch stretch;
    double there = 0, here = 0;
    size_t first = 0, count = 0;
  };
  std::vector<PathPart> there_, here_;
  std::vector<Share> shares_;
  // Scratch.
  std::vector<Group> groups_;
  FlatMap<Stretch, uint32_t, StretchHash> group_of_;
  std::vector<uint32_t> group_of_part_;
  std::vector<double> sorted_;
};

// The level above which the values have `total` together; 0 where all of them are less than that.
// Sorts the values.
double level_of_peaks(std::vector<double>& values, double total);

}  // namespace refrain::analysis::waits
