// Reduced times: representatives and sequences of segments, to bytes and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/decode/segment_block.h"
#include "format/decode/time_index.h"
#include "format/encode/time_index.h"
#include "format/limits.h"
#include "format/time/segment_encoder.h"
#include "similarity/segment_cluster.h"

namespace refrain::format {
namespace {

using Random = std::mt19937_64;

Representative random_representative(Random& random, uint32_t contexts, bool nested) {
  Representative r;
  r.context = static_cast<uint32_t>(random() % contexts);
  const size_t calls = 1 + random() % 12;
  int64_t end = 0;
  for (size_t i = 0; i < calls; ++i) {
    int64_t begin = end + static_cast<int64_t>(random() % 5000);
    if (nested && random() % 4 == 0) begin = end - static_cast<int64_t>(random() % 3000);
    end = std::max(begin, end) + static_cast<int64_t>(random() % 2000);
    r.stamps.push_back(begin);
    r.stamps.push_back(end);
  }
  if (random() % 3 == 0) r.elastic = static_cast<uint32_t>(random() % r.stamps.size());
  return r;
}

struct Segment {
  uint32_t id;
  uint64_t length_ns;
};

struct Case {
  std::vector<Representative> representatives;
  std::vector<Segment> segments;
  uint64_t start_ns = 0;
  uint32_t step_ns = 1;
};

Case random_case(uint64_t seed, bool nested) {
  Random random(seed);
  Case c;
  const size_t count = 1 + random() % 9;
  for (size_t i = 0; i < count; ++i)
    c.representatives.push_back(random_representative(random, 4, nested));
  c.start_ns = random() % 1'000'000;
  const size_t segments = 1 + random() % 3000;
  for (size_t i = 0; i < segments; ++i) {
    const auto id = static_cast<uint32_t>(i % 5 == 0 ? random() % count : i % count);
    const auto own = static_cast<uint64_t>(c.representatives[id].length_ns());
    c.segments.push_back({id, random() % 10 == 0 ? random() % 100'000 : own + random() % 300});
  }
  return c;
}

struct MadeSegments {
  TimeChunk chunk;
  std::string bytes;
};

MadeSegments encode(const Case& c) {
  MadeSegments made;
  SegmentEncoder encoder(c.representatives, c.step_ns);
  encoder.begin(c.start_ns);
  for (const Segment& s : c.segments) encoder.segment(s.id, s.length_ns, made.chunk, made.bytes);
  encoder.finish(made.chunk, made.bytes);
  return made;
}

base::Status decode(const Case& c, const MadeSegments& made, std::vector<TimedCall>& out) {
  SegmentDecoder decoder(c.representatives, c.step_ns);
  size_t at = 0;
  uint64_t before = 0;
  for (const TimeBlock& block : made.chunk.blocks) {
    std::vector<TimedCall> calls(block.calls);
    const base::Status decoded =
        decoder.decode(block, std::string_view(made.bytes).substr(at, block.bytes), before, calls);
    if (!decoded.ok()) return decoded;
    at += block.bytes;
    before = block.end_ns;
    out.insert(out.end(), calls.begin(), calls.end());
  }
  return base::Done{};
}

// Slow and obvious: the representative's stamps where the segment began, the elastic part as the
// clusters say it, nothing behind the segment's end.
std::vector<TimedCall> reference(const Case& c) {
  std::vector<TimedCall> out;
  uint64_t start = c.start_ns;
  for (const Segment& s : c.segments) {
    const Representative& r = c.representatives[s.id];
    std::vector<double> stamps(r.stamps.begin(), r.stamps.end());
    if (r.elastic != kNoElastic)
      similarity::stretch(std::vector<double>(stamps).data(), stamps.size(), r.elastic,
                          static_cast<double>(s.length_ns), stamps.data());
    for (double& stamp : stamps) stamp = std::min(stamp, static_cast<double>(s.length_ns));
    for (size_t k = 0; k < stamps.size(); k += 2)
      out.push_back({0, start + static_cast<uint64_t>(stamps[k]),
                     start + static_cast<uint64_t>(stamps[k + 1])});
    start += s.length_ns;
  }
  return out;
}

TEST(Segments, TimesAreThoseOfTheRepresentativeAtTheStart) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Case c = random_case(seed, false);
    std::vector<TimedCall> calls;
    const base::Status decoded = decode(c, encode(c), calls);
    ASSERT_TRUE(decoded.ok()) << seed << ": " << decoded.error().to_string();
    const std::vector<TimedCall> expected = reference(c);
    ASSERT_EQ(calls.size(), expected.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_EQ(calls[i].begin_ns, expected[i].begin_ns) << "seed " << seed << ", call " << i;
      ASSERT_EQ(calls[i].end_ns, expected[i].end_ns) << "seed " << seed << ", call " << i;
    }
  }
}

TEST(Segments, CallsInsideOfOthersKeepTheirOrder) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Case c = random_case(seed, true);
    std::vector<TimedCall> calls;
    ASSERT_TRUE(decode(c, encode(c), calls).ok()) << seed;
    uint64_t end = c.start_ns;
    for (const TimedCall& call : calls) {
      ASSERT_LE(call.begin_ns, call.end_ns);
      ASSERT_LE(end, call.end_ns);
      end = call.end_ns;
    }
  }
}

TEST(Segments, WorkedExample) {
  // Begin and end of two calls, 100 ns long; what comes in between is elastic.
  Case c;
  c.representatives = {{0, 2, {10, 20, 90, 100}}, {0, kNoElastic, {10, 20, 90, 100}}};
  c.segments = {{0, 100}, {0, 150}, {1, 150}, {1, 95}, {0, 15}};
  std::vector<TimedCall> calls;
  ASSERT_TRUE(decode(c, encode(c), calls).ok());
  const std::vector<TimedCall> expected = {
      {0, 10, 20},   {0, 90, 100},  {0, 110, 120}, {0, 240, 250}, {0, 260, 270},
      {0, 340, 350}, {0, 410, 420}, {0, 490, 495}, {0, 505, 510}, {0, 510, 510}};
  EXPECT_EQ(calls, expected);
}

// Roundings do not add up: every start is that of the file without steps, rounded.
TEST(Segments, StartsAreKeptToAStep) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Case c = random_case(seed, false);
    for (Representative& r : c.representatives) r = {r.context, kNoElastic, {0, 0}};
    std::vector<TimedCall> exact, rounded;
    ASSERT_TRUE(decode(c, encode(c), exact).ok());
    const size_t bytes = encode(c).bytes.size();
    c.step_ns = 100;
    ASSERT_TRUE(decode(c, encode(c), rounded).ok());
    EXPECT_LT(encode(c).bytes.size(), bytes + 10);
    ASSERT_EQ(exact.size(), rounded.size());
    for (size_t i = 0; i < exact.size(); ++i)
      ASSERT_EQ(rounded[i].begin_ns, (exact[i].begin_ns + 50) / 100 * 100) << seed << ' ' << i;
  }
}

TEST(Segments, BlocksHaveABoundAndAreReadAlone) {
  Case c;
  c.representatives.push_back({0, kNoElastic, {}});
  for (int64_t i = 0; i < 2000; ++i) c.representatives[0].stamps.push_back(10 * i);
  for (int i = 0; i < 100; ++i) c.segments.push_back({0, 20'000});
  const MadeSegments made = encode(c);
  ASSERT_EQ(made.chunk.blocks.size(), 4u);
  size_t at = 0;
  for (const TimeBlock& block : made.chunk.blocks) {
    EXPECT_LE(block.calls, kMaxCallsPerBlock);
    std::vector<TimedCall> calls(block.calls);
    SegmentDecoder decoder(c.representatives, 1);  // knows nothing of the blocks before
    ASSERT_TRUE(decoder
                    .decode(block, std::string_view(made.bytes).substr(at, block.bytes),
                            block.begin_ns, calls)
                    .ok());
    EXPECT_EQ(calls.back().end_ns, block.end_ns - 10);
    at += block.bytes;
  }
}

// One loop with noise, the others regular: what a segment costs.
TEST(Segments, TakeAsManyBytesAsTheirLengthsAreUncertain) {
  Random random(7);
  Case noise, regular;
  for (Case* c : {&noise, &regular}) c->representatives = {{0, kNoElastic, {100, 900, 950, 1000}}};
  for (int i = 0; i < 10'000; ++i) {
    noise.segments.push_back({0, 1000 + random() % 256});
    regular.segments.push_back({0, 1000});
  }
  // 8 bits are not known, and another sign.
  EXPECT_LE(encode(noise).bytes.size(), 10'000u * 10 / 8);
  EXPECT_LE(encode(regular).bytes.size(), 300u);
}

SegmentInfo info_of(const std::string& bytes, uint64_t count, uint64_t contexts) {
  SegmentInfo info;
  info.representatives = count;
  info.bytes = bytes.size();
  info.checksum = checksum32(bytes);
  for (uint64_t i = 0; i < contexts; ++i) info.contexts.push_back("main_" + std::to_string(i));
  return info;
}

TEST(Segments, RepresentativesComeBack) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Case c = random_case(seed, seed % 2 == 0);
    const auto bytes = encode_representatives(c.representatives);
    ASSERT_TRUE(bytes.ok());
    const auto read = read_representatives(info_of(*bytes, c.representatives.size(), 4), *bytes);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_EQ(*read, c.representatives);
  }
}

TEST(Segments, RepresentativesOutOfOrderAreRefused) {
  const auto refused = [](Representative r) {
    return !encode_representatives(std::vector<Representative>{std::move(r)}).ok();
  };
  EXPECT_FALSE(refused({0, kNoElastic, {1, 2, 3, 4}}));
  EXPECT_TRUE(refused({0, kNoElastic, {}}));
  EXPECT_TRUE(refused({0, kNoElastic, {1}}));
  EXPECT_TRUE(refused({0, kNoElastic, {2, 1}}));
  EXPECT_TRUE(refused({0, kNoElastic, {1, 5, 2, 4}}));
  EXPECT_TRUE(refused({0, 4, {1, 2, 3, 4}}));
  EXPECT_TRUE(refused({0, kNoElastic, {0, kMaxSegmentNs}}));
}

// With checksums made right: an error, or times that keep the order.
TEST(Segments, DamagedBytesAreAnErrorOrKeepTheOrder) {
  Random random(11);
  int good = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Case c = random_case(static_cast<uint64_t>(round % 7 + 1), true);
    c.segments.resize(std::min<size_t>(c.segments.size(), 40));
    MadeSegments made = encode(c);
    for (uint64_t n = 1 + random() % 3; n > 0; --n)
      made.bytes[random() % made.bytes.size()] ^= static_cast<char>(1 << random() % 8);
    made.chunk.blocks[0].checksum = checksum32(made.bytes);
    std::vector<TimedCall> calls;
    const bool ok = decode(c, made, calls).ok();
    ++(ok ? good : refused);
    uint64_t end = c.start_ns;
    for (const TimedCall& call : calls) {
      ASSERT_LE(call.begin_ns, call.end_ns);
      ASSERT_LE(end, call.end_ns);
      ASSERT_LE(call.end_ns, made.chunk.blocks[0].end_ns);
      end = call.end_ns;
    }
    std::string bytes = encode_representatives(c.representatives).value();
    bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    const auto read = read_representatives(info_of(bytes, c.representatives.size(), 4), bytes);
    if (!read.ok()) continue;
    for (const Representative& r : *read) EXPECT_GE(r.length_ns(), 0);
  }
  EXPECT_GT(refused, 1000);
}

TEST(Segments, TheIndexComesBack) {
  Case c = random_case(3, false);
  const MadeSegments made = encode(c);
  const std::string bytes = encode_representatives(c.representatives).value();
  TimeIndex index;
  index.spec.mode = TimeMode::kSegments;
  index.spec.method = "avgWave:0.2";
  index.chunks = {made.chunk};
  index.segments = info_of(bytes, c.representatives.size(), 4);
  index.segments.source = SegmentSource::kMarks;
  index.segments.across = AcrossRanks::kGroups;
  index.segments.step_ns = 250;
  index.segments.segments = c.segments.size();
  index.segments.matches = 17;
  index.segments.possible_matches = 20;
  index.segments.threshold = 0.4;
  index.segments.loosenings = 1;
  index.segments.error_ns = 12345;
  index.segments.relative_error = 0.25;
  const std::string text = write_time_index(index);
  const uint64_t size = made.bytes.size() + bytes.size() + text.size();
  const auto read = read_time_index(text, size, 1);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->spec, index.spec);
  EXPECT_EQ(read->segments, index.segments);
  EXPECT_EQ(read->spec.to_string(), "segments:avgWave:0.2");
  // Representatives are not counted as blocks, nor blocks as them.
  index.segments.bytes += 1;
  EXPECT_FALSE(check_time_index(index, made.bytes.size() + bytes.size(), 1).ok());
  index.segments.bytes -= 1;
  index.segments.matches = 21;
  EXPECT_FALSE(check_time_index(index, made.bytes.size() + bytes.size(), 1).ok());
}

TEST(Segments, RepresentativesThatTakeMoreThanTheirBytesAreRefused) {
  // Nothing but zeros: every number is the least one that can be.
  const std::string bytes(64, '\0');
  const SegmentInfo info = info_of(bytes, UINT64_MAX, 1);
  EXPECT_FALSE(read_representatives(info, bytes).ok());
}

}  // namespace
}  // namespace refrain::format
