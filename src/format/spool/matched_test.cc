// What a recorder writes of segments that were matched while the program ran comes back: exactly,
// or as what stands for it says.
#include "format/spool/matched.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "format/codes/checksum.h"
#include "format/decode/time_block.h"
#include "format/limits.h"
#include "format/spool/read.h"

namespace refrain::format::spool {
namespace {

struct Segment {
  uint32_t id = 0;
  bool is_new = false;
  std::vector<double> stamps;  // and the end
};

// Random segments: `id` is what they are alike to, or nobody (by some of the others).
std::vector<Segment> random_segments(std::mt19937& random, size_t count) {
  std::vector<size_t> calls;  // by id
  std::vector<Segment> all;
  for (size_t i = 0; i < count; ++i) {
    Segment s;
    s.is_new = calls.empty() || random() % 4 == 0;
    const bool is_alone = !s.is_new && random() % 5 == 0;
    if (s.is_new) calls.push_back(random() % 30 == 0 ? 2000 : 1 + random() % 6);
    s.id = is_alone ? UINT32_MAX
                    : static_cast<uint32_t>(s.is_new ? calls.size() - 1 : random() % calls.size());
    const size_t n = is_alone ? 1 + random() % 4 : calls[s.id];
    double end = 0;
    for (size_t c = 0; c < n; ++c) {
      const double gap = random() % 1000;
      // A call may begin in another one, which ends after it.
      const double begin = random() % 10 == 0 && i + c > 0 ? end - gap : end + gap;
      end = std::max(end, begin) + random() % 5000;
      s.stamps.push_back(begin);
      s.stamps.push_back(end);
    }
    s.stamps.push_back(end);
    all.push_back(std::move(s));
  }
  return all;
}

struct Coded {
  std::vector<TimeBlock> blocks;
  std::string bytes;
  std::vector<format::TimedCall> expected;  // what must come back
};

Coded code(const std::vector<Segment>& segments, std::mt19937& random) {
  Coded coded;
  MatchedWriter writer;
  std::vector<std::vector<double>> first;  // by id
  int64_t start = 100000;
  for (const Segment& s : segments) {
    writer.segment(s.id, s.is_new, {0, 0, start, s.stamps});
    if (s.is_new) first.push_back(s.stamps);
    const std::vector<double>& known = s.id == UINT32_MAX ? s.stamps : first[s.id];
    const double length = s.stamps.back();
    double end = 0, end_there = 0;
    for (size_t c = 0; c + 1 < known.size(); c += 2) {
      const bool is_last = c + 3 == known.size();
      double begin = known[c];
      if (begin >= end_there) begin = std::max(begin, end);
      begin = std::min(begin, length);
      end_there = known[c + 1];
      end = is_last ? length : std::min(std::max(end_there, std::max(begin, end)), length);
      coded.expected.push_back({0, static_cast<uint64_t>(start + static_cast<int64_t>(begin)),
                                static_cast<uint64_t>(start + static_cast<int64_t>(end))});
    }
    start += static_cast<int64_t>(length);
    if (writer.calls() > 20000 || random() % 10 == 0)
      coded.blocks.push_back(writer.take(coded.bytes));
  }
  if (writer.calls() > 0) coded.blocks.push_back(writer.take(coded.bytes));
  return coded;
}

TEST(Matched, ComesBack) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const Coded coded = code(random_segments(random, 1 + random() % 400), random);
    MatchedReader reader;
    std::vector<format::TimedCall> all, calls;
    size_t at = 0;
    for (const TimeBlock& b : coded.blocks) {
      ASSERT_EQ(b.coding, BlockCoding::kMatched);
      const std::string_view bytes = std::string_view(coded.bytes).substr(at, b.bytes);
      ASSERT_EQ(b.checksum, checksum32(bytes));
      ASSERT_TRUE(reader.read(b, bytes, &calls));
      EXPECT_EQ(calls.back().end_ns, b.end_ns);
      all.insert(all.end(), calls.begin(), calls.end());
      at += b.bytes;
    }
    ASSERT_EQ(all, coded.expected) << seed;
  }
}

// The blocks that a trace may have.
TEST(Matched, BecomesPlainBlocks) {
  std::mt19937 random(7);
  const Coded coded = code(random_segments(random, 3000), random);
  ThreadTimes times;
  times.blocks = coded.blocks;
  times.bytes = coded.bytes;
  TimeSpec exact;
  exact.mode = TimeMode::kExact;
  BlockDecoder decoder(exact);
  std::vector<format::TimedCall> all;
  uint64_t before = 0;
  size_t runs = 0;
  ASSERT_TRUE(for_each_run(times, [&](std::vector<TimeBlock> blocks, std::string_view bytes) {
    for (const TimeBlock& b : blocks) {
      std::vector<format::TimedCall> calls(b.calls);
      EXPECT_TRUE(decoder.decode(b, bytes.substr(0, b.bytes), before, {}, calls).ok());
      all.insert(all.end(), calls.begin(), calls.end());
      bytes.remove_prefix(b.bytes);
      before = b.end_ns;
    }
    ++runs;
    return true;
  }));
  EXPECT_GT(runs, 1u);
  EXPECT_EQ(all, coded.expected);
}

TEST(Matched, DamageIsNoticedOrHarmless) {
  std::mt19937 random(3);
  const Coded coded = code(random_segments(random, 200), random);
  size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = coded.bytes;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    MatchedReader reader;
    std::vector<format::TimedCall> calls;
    size_t at = 0;
    for (const TimeBlock& b : coded.blocks) {
      if (!reader.read(b, std::string_view(bytes).substr(std::min(at, bytes.size()), b.bytes),
                       &calls)) {
        ++refused;
        break;
      }
      uint64_t end = 0;
      for (const format::TimedCall& c : calls) {
        ASSERT_LE(c.begin_ns, c.end_ns);
        ASSERT_LE(end, c.end_ns);
        end = c.end_ns;
      }
      ASSERT_EQ(end, b.end_ns);
      at += b.bytes;
    }
  }
  EXPECT_GT(refused, 1500u);
}

}  // namespace
}  // namespace refrain::format::spool
