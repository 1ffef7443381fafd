// Reduced times: segments of calls that are replaced by representatives (trace profiling). The
// times of a location are then its sequence of (representative, length of the segment): each
// segment begins where the one before it ended, so that its start is known, to the nanosecond or to
// a step that the file says, and times of calls come from the representative. docs/format.md,
// Reduced times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace refrain::format {

// Stamps and lengths are below this many ns (36 years).
inline constexpr int64_t kMaxSegmentNs = int64_t{1} << 60;
inline constexpr uint32_t kMaxStepNs = 1'000'000'000;
inline constexpr uint32_t kNoElastic = UINT32_MAX;

// Where segments come from: loops that the grammar has found, or what the program marked.
enum class SegmentSource : uint8_t { kLoops = 0, kMarks = 1 };
// What representatives stand for segments of: their own rank's; those of process groups, ranks all
// of whose segments match; those of any rank, each representative for itself.
enum class AcrossRanks : uint8_t { kOff = 0, kGroups = 1, kSegments = 2 };

struct Representative {
  uint32_t context = 0;  // of SegmentInfo::contexts
  // The stamp from which on stamps keep their distance to the end of a segment instead of to its
  // start; kNoElastic: none does.
  uint32_t elastic = kNoElastic;
  // Begin and end of each call, in ns since the start of the segment; at least one call. Ends do
  // not descend; a begin may lie before the end before it, and before the start.
  std::vector<int64_t> stamps;

  uint64_t calls() const { return stamps.size() / 2; }
  int64_t length_ns() const { return stamps.back(); }
  bool operator==(const Representative&) const = default;
};

// What the index says about segments.
struct SegmentInfo {
  SegmentSource source = SegmentSource::kLoops;
  AcrossRanks across = AcrossRanks::kOff;
  uint32_t step_ns = 1;  // starts of segments are kept as multiples of this
  uint64_t segments = 0;
  uint64_t matches = 0, possible_matches = 0;
  double threshold = 0;     // in force at the end; k for iter_k
  uint64_t loosenings = 0;  // of the threshold, for want of memory
  // No stamp differs by more from the one that the representative has; and that in relation to the
  // length of the segment. Upper bounds.
  uint64_t error_ns = 0;
  double relative_error = 0;
  uint64_t representatives = 0;
  uint64_t bytes = 0;  // of the representatives, behind the blocks
  uint32_t checksum = 0;
  std::vector<std::string> contexts;  // names of the parts that segments come from
  bool operator==(const SegmentInfo&) const = default;

  double degree_of_matching() const {
    return possible_matches == 0
               ? 1
               : static_cast<double>(matches) / static_cast<double>(possible_matches);
  }
};

}  // namespace refrain::format
