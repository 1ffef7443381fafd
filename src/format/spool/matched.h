// Times of segments that the recorder has matched while the program ran (Mohror, section 4.2.2), in
// a spool file: blocks of the coding kMatched. A segment with a representative takes two numbers,
// however many calls it has; all others have exact times.
//
//   block    := segment*     the first one starts at TimeBlock::begin_ns
//   segment  := varint 0      exact    no later one refers to it
//             | varint 1      exact    the next one that later ones may refer to
//             | varint 2 + n  varint length_ns    the n-th of these stands for it
//   exact    := varint calls    (zigzag gap_ns  varint duration_ns)*
//
// A gap is from the end of the call before, that of the first call from the start of the segment. A
// segment begins where the one before it ended. Numbers are counted over all blocks of a location.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/time/data.h"
#include "similarity/segment.h"

namespace refrain::format::spool {

// What a segment begins with: see above.
enum SegmentKind : uint64_t { kExact = 0, kNew = 1, kKnown = 2 };

// One for each location. For the recorder: no exceptions of its own.
class MatchedWriter {
 public:
  // The next segment. `id` names what stands for it; `is_new`: itself, it is the first of the id.
  void segment(uint32_t id, bool is_new, const similarity::SegmentView& segment);
  // Calls of segments since the last block.
  uint32_t calls() const { return block_.calls; }
  // A block of these, of which there is at least one; its bytes are appended.
  TimeBlock take(std::string& bytes);
  size_t memory_bytes() const { return number_of_.capacity() * sizeof(uint32_t); }

 private:
  void exact(const similarity::SegmentView& segment);

  std::vector<uint32_t> number_of_;  // by id; kNone: later segments cannot refer to it
  uint32_t count_ = 0;
  TimeBlock block_;
  base::ByteWriter out_;
};

// Total: blocks may be anything. Holds 16 bytes for each call of a segment that others refer to.
class MatchedReader {
 public:
  // Blocks of a location, in order. Gives the times of block.calls calls, without terminals, if
  // `calls` is not null. False: that is no such block.
  bool read(const TimeBlock& block, std::string_view bytes, std::vector<format::TimedCall>* calls);

 private:
  bool exact(base::ByteReader& in, uint64_t room, Representative& to);

  std::vector<Representative> known_;
};

}  // namespace refrain::format::spool
