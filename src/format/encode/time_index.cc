#include "format/encode/time_index.h"

#include <bit>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "format/codes/checksum.h"

namespace refrain::format {

namespace {

void write_spec(const TimeSpec& spec, base::ByteWriter& out) {
  out.put_u8(static_cast<uint8_t>(spec.mode));
  if (spec.mode == TimeMode::kSegments) out.put_string(spec.method);
  if (spec.mode != TimeMode::kBins) return;
  out.put_varint(spec.bound);
  out.put_varint(spec.overrides.size());
  for (const TimeSpec::Override& o : spec.overrides) {
    out.put_varint(o.call);
    out.put_varint(o.bound);
  }
}

// Differences wrap, as everywhere in the format.
int64_t minus(uint64_t a, uint64_t b) { return static_cast<int64_t>(a - b); }

void write_clocks(const std::vector<std::vector<ClockPoint>>& clocks, base::ByteWriter& out) {
  out.put_varint(clocks.size());
  for (const std::vector<ClockPoint>& points : clocks) {
    out.put_varint(points.size());
    ClockPoint before;
    for (const ClockPoint& p : points) {
      const auto local = static_cast<uint64_t>(p.local_ns);
      const auto common = static_cast<uint64_t>(p.common_ns);
      out.put_zigzag(minus(local, static_cast<uint64_t>(before.local_ns)));
      out.put_zigzag(minus(common - local, static_cast<uint64_t>(before.common_ns) -
                                               static_cast<uint64_t>(before.local_ns)));
      before = p;
    }
  }
}

void write_segments(const SegmentInfo& info, base::ByteWriter& out) {
  out.put_u8(static_cast<uint8_t>(info.source));
  out.put_u8(static_cast<uint8_t>(info.across));
  out.put_varint(info.step_ns);
  out.put_varint(info.segments);
  out.put_varint(info.matches);
  out.put_varint(info.possible_matches);
  out.put_u64(std::bit_cast<uint64_t>(info.threshold));
  out.put_varint(info.loosenings);
  out.put_varint(info.error_ns);
  out.put_u64(std::bit_cast<uint64_t>(info.relative_error));
  out.put_varint(info.contexts.size());
  for (const std::string& name : info.contexts) out.put_string(name);
  out.put_varint(info.representatives);
  out.put_varint(info.bytes);
  out.put_u32(info.checksum);
}

}  // namespace

std::string write_time_index(const TimeIndex& index) {
  base::ByteWriter out;
  write_spec(index.spec, out);
  if (index.spec.mode == TimeMode::kSegments) write_segments(index.segments, out);
  write_clocks(index.clocks, out);
  out.put_varint(index.chunks.size());
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> ends;  // of the last block, by location
  for (const TimeChunk& chunk : index.chunks) {
    out.put_varint(chunk.rank);
    out.put_varint(chunk.thread);
    out.put_varint(chunk.blocks.size());
    uint64_t& end = ends[{chunk.rank, chunk.thread}];
    for (const TimeBlock& block : chunk.blocks) {
      for (auto zeros = static_cast<uint8_t>(block.coding); zeros > 0; --zeros) out.put_varint(0);
      out.put_varint(block.calls);
      out.put_varint(block.bytes);
      out.put_zigzag(minus(block.begin_ns, end));
      out.put_varint(block.end_ns - block.begin_ns);
      out.put_u32(block.checksum);
      end = block.end_ns;
    }
  }
  base::ByteWriter tail;
  tail.put_u32(static_cast<uint32_t>(out.size()));
  tail.put_u32(checksum32(out.view()));
  return out.take() + tail.take();
}

}  // namespace refrain::format
