// The segments of all locations as representatives, united over the ranks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/iterations/cutter.h"
#include "analysis/iterations/iterations.h"
#include "similarity/segment_profile.h"
#include "similarity/store.h"

namespace refrain::analysis::iterations {

// A segment as the table keeps it.
struct KeptSegment {
  uint64_t begin_ns = 0, end_ns = 0;
  double waiting_ns = 0;
  uint64_t mpi_ns = 0, bytes = 0;
  uint32_t calls = 0;
  int32_t loop = -1;  // of the run
  uint32_t number = 0;
  bool is_in_vain = false;
};

struct KeptLocation {
  Rank rank = 0;
  uint32_t thread = 0;
  std::vector<KeptSegment> segments;  // in order
};

// Where behaviours are: a call of the kind that takes longest in a structure.
struct Longest {
  CallId call = 0;
  DefinitionId path = kNoDefinition;
};

class BehaviourFinder {
 public:
  explicit BehaviourFinder(const similarity::MethodSpec& method);
  // All segments of a location, in order; then next().
  void add(const Segment& segment);
  void next(size_t location);
  // Of the locations whose segments were added, in their order.
  Behaviours finish(const std::vector<KeptLocation>& locations);

 private:
  void name_rows(Behaviours& out) const;

  similarity::MethodSpec method_;
  std::unique_ptr<similarity::SegmentProfileBuilder> builder_;
  std::unique_ptr<similarity::SegmentStore> store_;
  similarity::SegmentProfile all_;
  bool is_first_ = true;
  std::map<uint64_t, std::pair<Longest, uint64_t>> longest_;  // by structure; ns of that call
};

// Iterations in which every location has the same behaviours, by loop. `loops`: how many there are.
std::vector<BehaviourPattern> patterns_of(const Behaviours& behaviours,
                                          const std::vector<KeptLocation>& locations, size_t loops);

}  // namespace refrain::analysis::iterations
