// The index is read in two steps. The functions read_* follow the layout and bound every number by
// limits.h as they meet it; check_time_index() looks at what the numbers mean together, also for an
// index that was not read but made. All errors are one kind of damage to a user, so they differ in
// their text only.

#include "format/decode/time_index.h"

#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/limits.h"
#include "format/time/grid.h"

namespace refrain::format {

namespace {

// Differences of two clocks within this do not overflow.
constexpr int64_t kMaxClockNs = int64_t{1} << 62;

base::Error bad(const std::string& what) { return base::fail("the index of times: " + what); }

bool read_spec(base::ByteReader& in, TimeSpec& spec) {
  const uint8_t mode = in.u8();
  // kStats is no mode here: without times there is no such section.
  if (mode != static_cast<uint8_t>(TimeMode::kBins) &&
      mode != static_cast<uint8_t>(TimeMode::kExact) &&
      mode != static_cast<uint8_t>(TimeMode::kSegments))
    return false;
  spec.mode = static_cast<TimeMode>(mode);
  if (spec.mode == TimeMode::kExact) return true;
  if (spec.mode == TimeMode::kSegments) {
    spec.method = in.string(kMaxMethodBytes);
    return in.ok();
  }
  spec.bound = static_cast<uint32_t>(in.varint());
  const uint64_t overrides = in.count(TimeSpec::kMaxOverrides);
  for (uint64_t i = 0; i < overrides; ++i) {
    const uint64_t call = in.varint();
    if (call > kMaxCallId) return false;
    spec.overrides.push_back({static_cast<uint16_t>(call), static_cast<uint32_t>(in.varint())});
  }
  return in.ok();
}

bool read_segments(base::ByteReader& in, SegmentInfo& info) {
  const uint8_t source = in.u8(), across = in.u8();
  if (source > static_cast<uint8_t>(SegmentSource::kMarks) ||
      across > static_cast<uint8_t>(AcrossRanks::kSegments))
    return false;
  info.source = static_cast<SegmentSource>(source);
  info.across = static_cast<AcrossRanks>(across);
  const uint64_t step = in.varint();
  if (step == 0 || step > kMaxStepNs) return false;
  info.step_ns = static_cast<uint32_t>(step);
  info.segments = in.varint();
  info.matches = in.varint();
  info.possible_matches = in.varint();
  info.threshold = std::bit_cast<double>(in.u64());
  info.loosenings = in.varint();
  info.error_ns = in.varint();
  info.relative_error = std::bit_cast<double>(in.u64());
  const uint64_t contexts = in.count(kMaxSegmentContexts);
  for (uint64_t i = 0; i < contexts && in.ok(); ++i)
    info.contexts.emplace_back(in.string(kMaxTextBytes));
  info.representatives = in.varint();
  info.bytes = in.varint();
  info.checksum = in.u32();
  return in.ok();
}

// Points of each rank's clock: its own time, and the common time by which it was then. Both are
// differences to the point before. Unsigned sums, as a damaged file may have any.
bool read_clocks(base::ByteReader& in, std::vector<std::vector<ClockPoint>>& clocks) {
  const uint64_t ranks = in.count(kMaxRanks);
  uint64_t all = 0;
  for (uint64_t r = 0; r < ranks && in.ok(); ++r) {
    const uint64_t points = in.count(kMaxClockPoints);
    all += points;
    // Each rank within its limit could still be gigabytes for all.
    if (all > kMaxClockPointsOfAll) return false;
    std::vector<ClockPoint>& list = clocks.emplace_back();
    uint64_t local = 0, offset = 0;
    for (uint64_t i = 0; i < points; ++i) {
      local += static_cast<uint64_t>(in.zigzag());
      offset += static_cast<uint64_t>(in.zigzag());
      list.push_back({static_cast<int64_t>(local), static_cast<int64_t>(local + offset)});
    }
  }
  return in.ok();
}

// A chunk is some blocks of one thread; its next chunk may stand anywhere behind it. Times of
// blocks go on from the end of the thread's block before, in whichever chunk that was.
bool read_chunks(base::ByteReader& in, std::vector<TimeChunk>& chunks) {
  const uint64_t count = in.count(kMaxTimeChunks);
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> ends;
  for (uint64_t c = 0; c < count && in.ok(); ++c) {
    TimeChunk& chunk = chunks.emplace_back();
    chunk.rank = in.varint();
    const uint64_t thread = in.varint();
    if (thread > UINT32_MAX) return false;
    chunk.thread = static_cast<uint32_t>(thread);
    const uint64_t blocks = in.count(kMaxTimeBlocks);
    uint64_t& end = ends[{chunk.rank, chunk.thread}];
    for (uint64_t b = 0; b < blocks && in.ok(); ++b) {
      TimeBlock& block = chunk.blocks.emplace_back();
      uint64_t calls = in.varint();
      // A block without calls does not exist: zeros say how it is coded.
      for (; calls == 0 && block.coding < kLastBlockCoding && in.ok(); calls = in.varint())
        block.coding = static_cast<BlockCoding>(static_cast<uint8_t>(block.coding) + 1);
      const uint64_t bytes = in.varint();
      // Here already, since the numbers are narrowed below.
      if (calls > kMaxCallsPerBlock || bytes > kMaxBlockBytes) return false;
      block.calls = static_cast<uint32_t>(calls);
      block.bytes = static_cast<uint32_t>(bytes);
      // A call within another one begins before that has ended, so a block may begin before the end
      // of the one before.
      block.begin_ns = end + static_cast<uint64_t>(in.zigzag());
      block.end_ns = end = block.begin_ns + in.varint();
      block.checksum = in.u32();
    }
  }
  return in.ok();
}

// Local times ascend strictly, so that the common time between two points can be interpolated.
base::Status check_clock(const std::vector<ClockPoint>& points) {
  for (size_t i = 0; i < points.size(); ++i) {
    const ClockPoint& p = points[i];
    // With this much room differences, and sums of two, need no check where they are used.
    if (p.local_ns <= -kMaxClockNs || p.local_ns >= kMaxClockNs || p.common_ns <= -kMaxClockNs ||
        p.common_ns >= kMaxClockNs)
      return bad("a clock shows more than can be");
    if (i > 0 && (p.local_ns <= points[i - 1].local_ns || p.common_ns < points[i - 1].common_ns))
      return bad("a clock goes backwards");
  }
  return base::Done{};
}

base::Status check_segments(const SegmentInfo& info) {
  const auto is_good = [](double x) { return std::isfinite(x) && x >= 0; };
  if (!is_good(info.threshold) || !is_good(info.relative_error))
    return bad("what it says of segments makes no sense");
  // Counts of what was tried: more hits than tries cannot be.
  if (info.matches > info.possible_matches || info.contexts.size() > kMaxSegmentContexts)
    return bad("what it says of segments makes no sense");
  if (info.step_ns == 0 || info.step_ns > kMaxStepNs) return bad("a step is beyond the limits");
  if (info.bytes > kMaxTimeBytes) return bad("representatives are beyond the limits");
  return base::Done{};
}

base::Status check_spec(const TimeSpec& spec) {
  const auto is_bound = [](uint32_t b) {
    return b >= TimeSpec::kMinBound && b <= TimeSpec::kMaxBound;
  };
  if (!spec.has_times()) return bad("there are times, but none are meant to be");
  if (spec.mode == TimeMode::kExact) return base::Done{};
  if (spec.mode == TimeMode::kSegments) {
    if (spec.method.size() > kMaxMethodBytes) return bad("the name of a method is too long");
    return base::Done{};
  }
  if (!is_bound(spec.bound)) return bad("a bound is beyond the limits");
  for (size_t i = 0; i < spec.overrides.size(); ++i) {
    if (!is_bound(spec.overrides[i].bound)) return bad("a bound is beyond the limits");
    if (i > 0 && spec.overrides[i].call <= spec.overrides[i - 1].call)
      return bad("functions with bounds of their own do not ascend");
  }
  return base::Done{};
}

}  // namespace

// The last bytes of the section say how long the index in front of them is: who opens a file reads
// these first, then the index, and no block.
base::Result<uint64_t> time_index_bytes(std::string_view tail, uint64_t section_bytes) {
  base::ByteReader in(tail);
  const uint64_t bytes = in.u32();
  // The caller allocates as much as this says.
  if (!in.ok() || bytes > kMaxTimeIndexBytes || bytes + kTimeTailBytes > section_bytes)
    return bad("it is longer than the section");
  return bytes + kTimeTailBytes;
}

base::Result<TimeIndex> read_time_index(std::string_view bytes, uint64_t section_bytes,
                                        uint64_t ranks) {
  if (bytes.size() < kTimeTailBytes) return bad("it is cut short");
  const size_t size = bytes.size() - kTimeTailBytes;
  base::ByteReader tail(bytes.substr(size));
  const uint32_t length = tail.u32(), checksum = tail.u32();
  if (length != size || section_bytes < bytes.size()) return bad("its length is wrong");
  // Before the first field is looked at: of a damaged index every message would be a guess.
  if (checksum32(bytes.substr(0, size)) != checksum) return bad("wrong checksum: it is damaged");
  base::ByteReader in(bytes.substr(0, size));
  TimeIndex index;
  if (!read_spec(in, index.spec)) return bad("what kind of times there are makes no sense");
  if (index.spec.mode == TimeMode::kSegments && !read_segments(in, index.segments))
    return bad("what it says of segments does not follow the description");
  if (!read_clocks(in, index.clocks)) return bad("the clocks do not follow the description");
  if (!read_chunks(in, index.chunks)) return bad("the blocks do not follow the description");
  if (!in.at_end()) return bad("there is more behind it");
  const base::Status good = check_time_index(index, section_bytes - bytes.size(), ranks);
  if (!good.ok()) return good.error();
  return index;
}

base::Status check_time_index(const TimeIndex& index, uint64_t block_bytes, uint64_t ranks) {
  if (const base::Status spec = check_spec(index.spec); !spec.ok()) return spec;
  if (index.spec.mode == TimeMode::kSegments)
    if (const base::Status good = check_segments(index.segments); !good.ok()) return good;
  if (!index.clocks.empty() && index.clocks.size() != ranks)
    return bad("there are clocks of another number of ranks");
  for (const std::vector<ClockPoint>& points : index.clocks)
    if (const base::Status clock = check_clock(points); !clock.ok()) return clock;
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> ends;
  uint64_t bytes = index.segments.bytes;
  for (const TimeChunk& chunk : index.chunks) {
    if (chunk.rank >= ranks) return bad("there is no rank " + std::to_string(chunk.rank));
    uint64_t& end = ends[{chunk.rank, chunk.thread}];
    for (const TimeBlock& block : chunk.blocks) {
      if (block.calls == 0 || block.calls > kMaxCallsPerBlock || block.bytes > kMaxBlockBytes)
        return bad("a block is beyond the limits");
      // A block may begin inside of the one before (nested calls), but not end there: ends ascend.
      if (block.begin_ns > block.end_ns || block.end_ns >= kMaxTimeNs || block.end_ns < end)
        return bad("a block ends before it begins, or before the one before it");
      end = block.end_ns;
      bytes += block.bytes;
    }
  }
  // Blocks lie one behind the other without gaps, and their offsets are sums over the index. So the
  // sum must be the section, or all blocks behind the error would be read from wrong places.
  if (bytes != block_bytes) return bad("the blocks do not fill the section");
  return base::Done{};
}

}  // namespace refrain::format
