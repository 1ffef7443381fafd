// Reduced times -> begin and end of calls: the representatives, and blocks of segments. Any bytes
// give either times in the order of calls, or an error message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/time/data.h"
#include "format/time/segment_model.h"

namespace refrain::format {

// `bytes`: what `info` says of them; the checksum is verified here.
base::Result<std::vector<Representative>> read_representatives(const SegmentInfo& info,
                                                               std::string_view bytes);

// The calls of one segment, which takes from `start_ns` to `start_ns + length_ns`, both below 2^62:
// stamps of the representative, those from the elastic one on moved with the segment's end; none
// beyond the end, and in the representative's order where moving has brought them out of it.
void rebuild_segment(const Representative& representative, uint64_t start_ns, uint64_t length_ns,
                     std::span<TimedCall> calls);

// For one set of representatives, which outlive it, and one step. Keep one for each thread that
// reads: it holds tables.
class SegmentDecoder {
 public:
  SegmentDecoder(std::span<const Representative> representatives, uint32_t step_ns);
  // As BlockDecoder::decode().
  base::Status decode(const TimeBlock& block, std::string_view bytes, uint64_t before_ns,
                      std::span<TimedCall> calls);

 private:
  std::span<const Representative> representatives_;
  uint64_t step_ns_;
  std::optional<SegmentSequence> sequence_;  // where there is a representative
};

}  // namespace refrain::format
