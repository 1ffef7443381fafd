// The times of the calls of a trace, as they stand in the file: blocks of consecutive calls of one
// location, each readable without the others, and the index of the blocks. docs/format.md, Time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/time/segments.h"
#include "format/time/spec.h"

namespace refrain::format {

// A call as the recorder saw it, in ns of its rank's own clock since the begin of the rank's
// MPI_Init. Calls of a location are in the order of their ends.
struct TimedCall {
  uint32_t terminal = 0;  // of the grammar: which signature
  uint64_t begin_ns = 0, end_ns = 0;
  bool operator==(const TimedCall&) const = default;
};

// What the encoder is best given at a time: smaller blocks take more bytes, larger ones cost who
// wants a window of time more.
inline constexpr size_t kCallsPerBlock = 8192;

// What a block's numbers are coded by.
enum class BlockCoding : uint8_t {
  kBySignature = 0,
  // What is expected of a call goes by its function alone: under `--memory` tables begin anew, and
  // who codes does not know then which terminals of the trace are one.
  kByFunction = 1,
  // Nothing is expected, and coding costs next to nothing: of exact times that are read back soon,
  // to make segments of them.
  kPlain = 2,
  // Of spool files alone, never of a trace: spool/matched.h.
  kMatched = 3,
};
inline constexpr auto kLastBlockCoding = BlockCoding::kPlain;

// One block: `calls` calls in a row, in `bytes` bytes. Begin of the first and end of the last call
// are exact; of segments it is the start of the first and the end of the last of them that are.
struct TimeBlock {
  uint32_t calls = 0;
  uint32_t bytes = 0;
  uint32_t checksum = 0;  // of the bytes
  uint64_t begin_ns = 0;  // of the first call, or segment
  uint64_t end_ns = 0;    // of the last one
  BlockCoding coding = BlockCoding::kBySignature;
  bool operator==(const TimeBlock&) const = default;
};

// Consecutive blocks of one location; their bytes stand one after the other. A location may have
// several chunks, in order.
struct TimeChunk {
  uint64_t rank = 0;
  uint32_t thread = 0;
  std::vector<TimeBlock> blocks;
};

// What a rank's clock showed at moments of the common clock, which is rank 0's. Between points the
// common time is interpolated, beyond them it goes on like in the nearest segment (with one point:
// at the rank's own rate; without any: the rank's clock is the common clock).
struct ClockPoint {
  int64_t local_ns = 0;   // since the begin of the rank's MPI_Init; strictly ascending
  int64_t common_ns = 0;  // since the begin of rank 0's MPI_Init; ascending
  bool operator==(const ClockPoint&) const = default;
};

// The index of the time section.
struct TimeIndex {
  TimeSpec spec;                                // has_times(), or there is no section at all
  std::vector<std::vector<ClockPoint>> clocks;  // by rank; empty: no rank has any
  std::vector<TimeChunk> chunks;                // in the order of their bytes
  SegmentInfo segments;                         // TimeMode::kSegments only
};

struct TimeData {
  TimeIndex index;
  std::string bytes;  // of all blocks, in the order of the index; then of the representatives
  bool empty() const { return index.chunks.empty(); }
};

}  // namespace refrain::format
