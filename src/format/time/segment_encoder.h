// SegmentEncoder: the segments of a location -> blocks of the time section. For the recorder as
// well: no exceptions of its own, nothing but appending to a bounded list between blocks.
//
//   SegmentEncoder encoder(representatives);
//   encoder.begin(start_ns);                                 // of the location's first segment
//   for each segment: encoder.segment(id, length_ns, chunk, bytes);
//   encoder.finish(chunk, bytes);
//   bytes_of_all += encode_representatives(representatives); // behind all blocks, once
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "format/time/data.h"
#include "format/time/segment_model.h"

namespace refrain::format {

// More than BlockEncoder takes: a segment is one number, and what is expected is learnt anew in
// every block.
inline constexpr size_t kCallsPerSegmentBlock = 32768;
// Segments with more calls are to be divided.
inline constexpr size_t kMaxCallsPerSegment = 8192;

class SegmentEncoder {
 public:
  // `representatives` outlive it, each with 1 to kMaxCallsPerSegment calls. Starts are rounded to
  // multiples of `step_ns`, 1 to kMaxStepNs; roundings do not add up.
  explicit SegmentEncoder(std::span<const Representative> representatives, uint32_t step_ns = 1)
      : representatives_(representatives),
        step_ns_(step_ns),
        sequence_(representatives.size(), step_ns),
        first_at_(representatives.size()) {}

  void begin(uint64_t start_ns) {
    now_ns_ = start_ns;
    start_ = now_ = rounded(start_ns);
  }
  // The next segment: `id` stands for it. It begins where the one before ended; `length_ns` is from
  // there to its end, below kMaxSegmentNs. Appends a block to chunk and bytes when one is full.
  void segment(uint32_t id, uint64_t length_ns, TimeChunk& chunk, std::string& bytes);
  // Behind the last segment.
  void finish(TimeChunk& chunk, std::string& bytes);

  size_t memory_bytes() const {
    return sizeof *this + sequence_.memory_bytes() + segments_.capacity() * sizeof(Segment) +
           first_at_.capacity() * sizeof(uint64_t);
  }

 private:
  struct Segment {
    uint32_t id;
    int64_t length;  // in steps
  };

  uint64_t rounded(uint64_t ns) const { return (ns + step_ns_ / 2) / step_ns_; }
  uint32_t find_new();

  std::span<const Representative> representatives_;
  uint64_t step_ns_;
  std::vector<Segment> segments_;  // of the block
  SegmentSequence sequence_;
  std::vector<uint64_t> first_at_;  // number of its first segment in the block, after those before
  uint64_t coded_ = 0;              // segments of blocks before, plus 1
  uint64_t now_ns_ = 0;             // where the next segment begins
  uint64_t now_ = 0, start_ = 0;    // in steps; start of the block's first segment
  size_t calls_ = 0;
};

// Fails where a stamp is out of order or beyond the limits, says which.
base::Result<std::string> encode_representatives(std::span<const Representative> representatives);

}  // namespace refrain::format
