// Any bytes as the section of times, as a block of it, as representatives of segments, and as the
// blocks of a spool whose segments were matched: an error, or times that keep the order and fit the
// index.
#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/decode/segment_block.h"
#include "format/decode/time_block.h"
#include "format/decode/time_index.h"
#include "format/decode/time_table.h"
#include "format/spool/matched.h"
#include "format/spool/read.h"
#include "support.h"

namespace {

using namespace refrain::format;
using refrain::fuzz::require;

// The index with its length and checksum made right.
void read_index(std::string_view index, uint64_t block_bytes) {
  refrain::base::ByteWriter out;
  out.put_bytes(index.data(), index.size());
  out.put_u32(static_cast<uint32_t>(index.size()));
  out.put_u32(checksum32(index));
  constexpr uint64_t kRanks = 4;
  const auto read = read_time_index(out.view(), block_bytes + out.size(), kRanks);
  if (!read.ok()) return;
  require(check_time_index(*read, block_bytes, kRanks).ok(), "what is read keeps the rules");
  const TimeTable table(*read);
  for (const auto& [location, blocks] : table.locations()) {
    const ClockMap clock = table.clock(location.first);
    uint64_t end = 0;
    for (const TimeTable::Block& block : blocks) {
      const uint64_t common = clock.to_common(block.block.end_ns);
      require(common >= end, "the common clock goes forwards");
      end = common;
    }
  }
}

void read_block(std::string_view bytes, const TimeSpec& spec, BlockCoding coding, uint8_t calls,
                uint8_t terminals) {
  std::vector<TimedCall> out(size_t{1} + calls);
  for (size_t i = 0; i < out.size(); ++i)
    out[i].terminal = static_cast<uint32_t>(i * i % (size_t{1} + terminals));
  TimeBlock block;
  block.calls = static_cast<uint32_t>(out.size());
  block.bytes = static_cast<uint32_t>(bytes.size());
  block.checksum = checksum32(bytes);
  block.begin_ns = 1000;
  block.end_ns = 100'000;
  block.coding = coding;
  BlockDecoder decoder(spec);
  if (!decoder.decode(block, bytes, 500, {}, out).ok()) return;
  uint64_t end = 500;
  for (const TimedCall& call : out) {
    require(call.begin_ns <= call.end_ns, "no call ends before it begins");
    require(call.end_ns >= end, "ends do not descend");
    end = call.end_ns;
  }
  require(end == block.end_ns, "the block ends as the index says");
}

// One rank's segments, by representatives that are good.
void read_segments(std::string_view bytes, uint8_t calls) {
  const std::vector<Representative> representatives = {{0, kNoElastic, {100, 200, 300, 400}},
                                                       {0, 1, {0, 500}},
                                                       {1, 2, {0, 10, -90, 2000, 2000, 2100}}};
  std::vector<TimedCall> out(size_t{1} + calls);
  TimeBlock block;
  block.calls = static_cast<uint32_t>(out.size());
  block.bytes = static_cast<uint32_t>(bytes.size());
  block.checksum = checksum32(bytes);
  block.begin_ns = 1000;
  block.end_ns = 100'000;
  SegmentDecoder decoder(representatives, 1);
  if (!decoder.decode(block, bytes, 500, out).ok()) return;
  uint64_t end = block.begin_ns;
  for (const TimedCall& call : out) {
    require(call.begin_ns <= call.end_ns, "no call ends before it begins");
    require(call.end_ns >= end, "ends do not descend");
    end = call.end_ns;
  }
  require(end <= block.end_ns, "nothing is behind the end of the block");
}

void read_dictionary(std::string_view bytes, uint8_t count) {
  SegmentInfo info;
  info.contexts = {"main_0", "main_loop_1"};
  info.representatives = count;
  info.bytes = bytes.size();
  info.checksum = checksum32(bytes);
  const auto read = read_representatives(info, bytes);
  if (!read.ok()) return;
  require(read->size() == count, "there are as many as the index says");
  for (const Representative& r : *read) {
    require(r.context < info.contexts.size(), "the context is there");
    std::vector<TimedCall> calls(r.calls());
    for (const uint64_t length : {uint64_t{0}, uint64_t{1000}, uint64_t{1} << 61}) {
      rebuild_segment(r, 50, length, calls);
      uint64_t end = 50;
      for (const TimedCall& call : calls) {
        require(call.begin_ns <= call.end_ns && end <= call.end_ns, "calls keep their order");
        end = call.end_ns;
      }
      require(end <= 50 + length, "nothing is behind the end of the segment");
    }
  }
}

// Blocks of calls (u8, less one), begin and end (numbers), length (u16) and bytes.
void read_matched(std::string_view input) {
  refrain::fuzz::Input in(input);
  spool::MatchedReader reader;
  spool::ThreadTimes times;
  while (!in.at_end()) {
    TimeBlock block;
    block.coding = BlockCoding::kMatched;
    block.calls = 1U + in.u8();
    block.begin_ns = static_cast<uint64_t>(in.number());
    block.end_ns = static_cast<uint64_t>(in.number());
    const std::string_view bytes = in.bytes(in.u16());
    block.bytes = static_cast<uint32_t>(bytes.size());
    block.checksum = checksum32(bytes);
    const bool is_behind = times.blocks.empty() || block.end_ns >= times.blocks.back().end_ns;
    if (!is_behind || !reader.read(block, bytes, nullptr)) break;
    times.blocks.push_back(block);
    times.bytes += bytes;
    times.calls += block.calls;
  }
  TimeSpec exact;
  exact.mode = TimeMode::kExact;
  BlockDecoder decoder(exact);
  uint64_t end = 0, calls = 0;
  spool::for_each_run(times, [&](const std::vector<TimeBlock>& blocks, std::string_view bytes) {
    for (const TimeBlock& block : blocks) {
      std::vector<TimedCall> out(block.calls);
      require(decoder.decode(block, bytes.substr(0, block.bytes), end, {}, out).ok(),
              "what was accepted becomes blocks of a trace");
      bytes.remove_prefix(block.bytes);
      end = block.end_ns;
      calls += block.calls;
    }
    return true;
  });
  require(calls == times.calls, "all calls have times");
}

}  // namespace

// From here on the first byte says nothing else.
constexpr uint8_t kMatched = 250;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  const std::string_view rest = refrain::fuzz::view_of(data + 3, size - 3);
  if (data[0] >= kMatched) return read_matched(refrain::fuzz::view_of(data + 1, size - 1)), 0;
  if (data[0] % 5 == 3) return read_segments(rest, data[1]), 0;
  if (data[0] % 5 == 4) return read_dictionary(rest, data[1]), 0;
  if (data[0] % 5 == 0) {
    read_index(rest, data[1] * uint64_t{256} + data[2]);
    return 0;
  }
  TimeSpec spec;
  spec.mode = data[0] % 5 == 1 ? TimeMode::kExact : TimeMode::kBins;
  if (spec.mode == TimeMode::kBins) spec.bound = 200'000;
  const BlockCoding coding = data[0] % 10 >= 5 ? BlockCoding::kPlain : BlockCoding::kBySignature;
  read_block(rest, spec, coding, data[1], data[2]);
  return 0;
}
