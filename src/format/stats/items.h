// Facts about the statistics of a file that the encoder and the decoder know before the statistics
// are coded.
#pragma once

#include <cstdint>
#include <vector>

#include "format/stats/model.h"
#include "format/trace_data.h"

namespace refrain::format {

// How often each signature was called by all ranks together, as far as it fits. The trace must have
// passed check_content().
std::vector<uint64_t> calls_by_signature(const TraceData& trace);

// The item of `members` signatures from `first` on, which share their statistics.
StatItem stat_item(const TraceData& trace, const std::vector<uint64_t>& calls, uint32_t first,
                   uint32_t members);

// Statistics of few signatures take a room that follows from how often these were called, and not
// from how long that took: a file of a regular program has the same length at any number of ranks.
// So many bytes for each, and for the section.
inline constexpr uint64_t kFewItems = 1000, kRoomOfSection = 8;
constexpr uint64_t room_for(uint64_t calls) {
  return calls == 0 ? 0 : calls == 1 ? 3 : calls == 2 ? 5 : 8;
}
// Of many signatures.
inline constexpr uint64_t kRoomOfMany = 3;

}  // namespace refrain::format
