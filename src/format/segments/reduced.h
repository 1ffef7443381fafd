// Makes the data of the file from the profile of all ranks: representatives, numbered by first use,
// and their index. The blocks of a location are coded by the rank that has its starts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/segments/run_profile.h"
#include "format/time/data.h"
#include "format/time/segments.h"

namespace refrain::format {

struct ReducedTimes {
  SegmentInfo info;
  std::vector<Representative> representatives;
  std::string bytes;                // of them
  std::vector<uint32_t> number_of;  // of a segment of the profile, in `representatives`
  std::vector<uint32_t> group_of;   // of a location of the profile; kNoGroup
  static constexpr uint32_t kNoGroup = UINT32_MAX;
};

struct ReducedHow {
  similarity::MethodSpec method;
  SegmentSource source = SegmentSource::kLoops;
  AcrossRanks across = AcrossRanks::kGroups;  // effective()
  // To how many ns the starts of segments are kept. 0: to the nanosecond, and with auto to a
  // sixteenth of what it may err in a segment of mean length, at most to the microsecond that it
  // takes for noise.
  uint32_t step_ns = 0;
};

// The words of the options --segments and --across-ranks; nothing for others.
std::optional<SegmentSource> source_of(std::string_view word);
std::optional<AcrossRanks> across_of(std::string_view word);

// Fails where times are beyond the limits.
base::Result<ReducedTimes> finish_profile(const RunProfile& profile, const ReducedHow& how);

// The blocks of one location: its segments by number of their representative, and their lengths.
// Appends to chunk and bytes.
void encode_location(std::span<const Representative> representatives, uint32_t step_ns,
                     uint64_t start_ns, std::span<const uint32_t> numbers,
                     std::span<const int64_t> lengths_ns, TimeChunk& chunk, std::string& bytes);

}  // namespace refrain::format
