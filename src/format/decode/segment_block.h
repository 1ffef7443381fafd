// Reduced times -> begin and end of calls: the representatives, and blocks of segments. Total:
// whatever the bytes are, the result keeps the order of calls, or a word on what is wrong.
#pragma once

#include <cstdint>
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

// Keep one for each thread that reads: it holds tables.
class SegmentDecoder {
 public:
  // As BlockDecoder::decode(). `representatives` and the step are the same for all blocks.
  base::Status decode(const TimeBlock& block, std::string_view bytes, uint64_t before_ns,
                      std::span<const Representative> representatives, uint32_t step_ns,
                      std::span<TimedCall> calls);

 private:
  struct Expected {
    uint32_t block = 0;
    ExpectedLength length;
  };
  SegmentModel model_;
  std::vector<Expected> expected_;  // by representative
  uint32_t block_ = 0;
};

}  // namespace refrain::format
