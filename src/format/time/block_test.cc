// What docs/format.md promises of times, on sequences made to break it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "format/codes/checksum.h"
#include "format/decode/time_block.h"
#include "format/time/block_encoder.h"
#include "format/time/spec.h"

namespace refrain::format {
namespace {

using TimedCalls = std::vector<TimedCall>;

struct Encoded {
  std::vector<TimeBlock> blocks;
  std::vector<std::string> bytes;
  size_t size() const {
    size_t n = 0;
    for (const std::string& b : bytes) n += b.size();
    return n;
  }
};

TimeSpec spec_of(std::string_view text) {
  const auto spec = TimeSpec::parse(text);
  EXPECT_TRUE(spec.ok()) << text;
  return spec.ok() ? *spec : TimeSpec{};
}

// Terminal t is function t % 8.
std::vector<uint16_t> functions() {
  std::vector<uint16_t> list;
  for (uint32_t t = 0; t < 4096; ++t) list.push_back(static_cast<uint16_t>(t % 8));
  return list;
}

Encoded encode(const TimedCalls& calls, const TimeSpec& spec, size_t in_block,
               BlockCoding coding = BlockCoding::kBySignature) {
  BlockEncoder encoder(spec);
  for (uint32_t t = 0; t < 4096; ++t) encoder.set_call(t, static_cast<uint16_t>(t % 8));
  Encoded out;
  for (size_t i = 0; i < calls.size(); i += in_block) {
    std::string& bytes = out.bytes.emplace_back();
    const size_t n = std::min(in_block, calls.size() - i);
    out.blocks.push_back(encoder.encode({calls.data() + i, n}, bytes, coding));
  }
  return out;
}

// Blocks from the last to the first: none needs another.
TimedCalls decode(const TimedCalls& calls, const Encoded& encoded, const TimeSpec& spec) {
  TimedCalls out = calls;
  for (TimedCall& c : out) c.begin_ns = c.end_ns = 0;
  size_t end = out.size();
  BlockDecoder decoder(spec);
  const auto call_of = functions();
  for (size_t b = encoded.blocks.size(); b-- > 0;) {
    const size_t n = encoded.blocks[b].calls;
    end -= n;
    const uint64_t before = b == 0 ? 0 : encoded.blocks[b - 1].end_ns;
    const auto status =
        decoder.decode(encoded.blocks[b], encoded.bytes[b], before, call_of, {out.data() + end, n});
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
  return out;
}

uint64_t apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// |error| <= bound * of, exactly.
::testing::AssertionResult within(uint64_t error, uint64_t of, uint32_t bound) {
  __extension__ using Wide = unsigned __int128;
  if (Wide{error} * TimeSpec::kOne <= Wide{of} * bound) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "error " << error << " of " << of;
}

void expect_bounds(const TimedCalls& was, const TimedCalls& is, const TimeSpec& spec) {
  std::vector<uint64_t> last(4096);
  for (size_t i = 0; i < was.size(); ++i) {
    const TimedCall &w = was[i], &c = is[i];
    const uint32_t bound = spec.bound_of(static_cast<uint16_t>(w.terminal % 8));
    const uint64_t interval = w.begin_ns > last[w.terminal] ? w.begin_ns - last[w.terminal] : 0;
    const uint64_t part = last[w.terminal] > 0 ? interval / 8 : 0;
    const uint64_t duration = w.end_ns - w.begin_ns;
    last[w.terminal] = w.begin_ns;
    ASSERT_LE(c.begin_ns, c.end_ns) << i;
    ASSERT_TRUE(within(apart(c.begin_ns, w.begin_ns), interval, bound)) << "begin of " << i;
    ASSERT_TRUE(within(apart(c.end_ns, w.end_ns), interval + duration, bound)) << "end of " << i;
    ASSERT_TRUE(within(apart(c.end_ns - c.begin_ns, duration), duration, bound)) << i;
    const uint64_t end = i == 0 ? 0 : was[i - 1].end_ns, its_end = i == 0 ? 0 : is[i - 1].end_ns;
    ASSERT_GE(c.end_ns, its_end) << i;
    if (w.begin_ns >= end) {
      ASSERT_GE(c.begin_ns, its_end) << i;
      const uint64_t gap = w.begin_ns - end;
      ASSERT_TRUE(within(apart(c.begin_ns - its_end, gap), std::max(gap, part), bound)) << i;
    } else {
      ASSERT_EQ(its_end - c.begin_ns, end - w.begin_ns) << i;
    }
  }
}

void expect_kept(const TimedCalls& calls, const std::string& what) {
  for (const char* text : {"exact", "bins:0.2", "bins:0.02", "bins:0.001", "bins:0.5"}) {
    for (const size_t in_block : {size_t{1}, size_t{7}, size_t{1000}, kCallsPerBlock}) {
      SCOPED_TRACE(what + ", " + text + ", blocks of " + std::to_string(in_block));
      const TimeSpec spec = spec_of(text);
      const TimedCalls read = decode(calls, encode(calls, spec, in_block), spec);
      if (spec.mode == TimeMode::kExact) {
        ASSERT_EQ(read, calls);
        ASSERT_EQ(decode(calls, encode(calls, spec, in_block, BlockCoding::kPlain), spec), calls);
      } else
        expect_bounds(calls, read, spec);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// From gaps and durations.
class Maker {
 public:
  Maker& call(uint32_t terminal, uint64_t gap, uint64_t duration) {
    calls_.push_back({terminal, now_ + gap, now_ + gap + duration});
    now_ += gap + duration;
    return *this;
  }
  // A call around all that came since `begin`.
  Maker& around(uint32_t terminal, uint64_t begin, uint64_t more) {
    calls_.push_back({terminal, begin, now_ += more});
    return *this;
  }
  uint64_t now() const { return now_; }
  const TimedCalls& calls() const { return calls_; }

 private:
  TimedCalls calls_;
  uint64_t now_ = 0;
};

TEST(TimeBlocks, EmptyGapsAndDurations) {
  Maker m;
  for (uint32_t i = 0; i < 3000; ++i) m.call(i % 5, 0, 0);
  expect_kept(m.calls(), "zeros");
}

TEST(TimeBlocks, BurstsAfterLongGaps) {
  Maker m;
  for (uint32_t i = 0; i < 40; ++i) {
    m.call(0, uint64_t{1} << (i % 41), 3);
    for (uint32_t k = 0; k < 60; ++k) m.call(k % 3, k % 2, 1);
  }
  expect_kept(m.calls(), "bursts");
}

TEST(TimeBlocks, EqualCalls) {
  Maker m;
  for (uint32_t i = 0; i < 20000; ++i) m.call(i % 3, 117, 1234);
  expect_kept(m.calls(), "equal");
  // What errs the same way each time has to be taken back; of exact durations the last bit is raw.
  EXPECT_LT(encode(m.calls(), spec_of("bins:0.2"), kCallsPerBlock).size(), 5500u);
  EXPECT_LT(encode(m.calls(), spec_of("exact"), kCallsPerBlock).size(), 3000u);
}

TEST(TimeBlocks, CallsInsideOfCalls) {
  Maker m;
  std::mt19937_64 random(7);
  for (uint32_t i = 0; i < 500; ++i) {
    m.call(1, random() % 1000, random() % 100);
    const uint64_t begin = m.now() + random() % 3;
    m.call(2, random() % 10 + 3, random() % 50);
    const uint64_t middle = m.now();
    m.call(3, random() % 10, random() % 50);
    if (i % 3 == 0) m.around(2, middle, random() % 5);
    m.around(4, begin, random() % 4 == 0 ? 0 : random() % 100000);
  }
  expect_kept(m.calls(), "nested");
}

TEST(TimeBlocks, CallAroundAllThatBeganAtZero) {
  Maker m;
  m.call(0, 5, 5).call(1, 900000, 100).around(2, 0, 0).call(1, 2, 2);
  expect_kept(m.calls(), "around all");
}

TEST(TimeBlocks, RandomTimesOfAllSizes) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    std::mt19937_64 random(seed);
    const uint64_t most = 1 + random() % 41;
    const uint32_t terminals = 1 + static_cast<uint32_t>(random() % (seed % 2 == 0 ? 5 : 900));
    Maker m;
    for (uint32_t i = 0; i < 3000; ++i) {
      const auto number = [&] { return random() >> (63 - random() % most); };
      m.call(static_cast<uint32_t>(random() % terminals), number(), number());
    }
    expect_kept(m.calls(), "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

TEST(TimeBlocks, BoundsOfSingleFunctions) {
  const TimeSpec* spec = nullptr;
  TimeSpec made = spec_of("bins:0.02");
  made.overrides = {{1, 200'000}, {5, 1000}};
  spec = &made;
  std::mt19937_64 random(3);
  Maker m;
  for (uint32_t i = 0; i < 5000; ++i)
    m.call(static_cast<uint32_t>(random() % 16), random() % 5000, random() % 100000);
  expect_bounds(m.calls(), decode(m.calls(), encode(m.calls(), *spec, 900), *spec), *spec);
  EXPECT_LT(encode(m.calls(), spec_of("bins:0.2"), 900).size(),
            encode(m.calls(), *spec, 900).size());
}

// Who coded took one signature for two; its reader knows better, and functions are all they share.
TEST(TimeBlocks, ByFunctionNeitherKnowsSignatures) {
  std::mt19937_64 random(5);
  Maker m;
  for (uint32_t i = 0; i < 3000; ++i)
    m.call(static_cast<uint32_t>(random() % 64), random() % 700, random() % 9000);
  TimedCalls functions_only = m.calls(), merged = m.calls();
  for (TimedCall& c : functions_only) c.terminal %= 8;
  for (TimedCall& c : merged)
    if (c.terminal >= 32) c.terminal -= 32;
  for (const char* text : {"exact", "bins:0.2"}) {
    const TimeSpec spec = spec_of(text);
    BlockEncoder encoder(spec);
    for (uint32_t call = 0; call < 8; ++call) encoder.set_call(call, static_cast<uint16_t>(call));
    Encoded encoded;
    encoded.blocks.push_back(
        encoder.encode(functions_only, encoded.bytes.emplace_back(), BlockCoding::kByFunction));
    EXPECT_EQ(encoded.blocks[0].coding, BlockCoding::kByFunction);
    if (spec.mode == TimeMode::kExact)
      EXPECT_EQ(decode(merged, encoded, spec), merged);
    else
      expect_bounds(merged, decode(merged, encoded, spec), spec);
  }
}

TEST(TimeBlocks, AClockThatGoesBackwardsIsSetRight) {
  const TimedCalls calls = {{0, 10, 20}, {1, 30, 15}, {0, 40, 35}, {0, UINT64_MAX, UINT64_MAX}};
  const TimedCalls right = {
      {0, 10, 20}, {1, 20, 20}, {0, 35, 35}, {0, kMaxTimeNs - 1, kMaxTimeNs - 1}};
  const TimeSpec spec = spec_of("exact");
  EXPECT_EQ(decode(calls, encode(calls, spec, 10), spec), right);
}

// Damage that the checksum does not see: an error, or times in order that fit the index.
TEST(TimeBlocks, DamageNeverBreaksTheOrder) {
  std::mt19937_64 random(11);
  Maker m;
  for (uint32_t i = 0; i < 300; ++i)
    m.call(static_cast<uint32_t>(random() % 9), random() % 500, random() % 3000);
  using Case = std::pair<const char*, BlockCoding>;
  for (const auto& [text, coding] :
       {Case{"exact", BlockCoding::kBySignature}, Case{"exact", BlockCoding::kPlain},
        Case{"bins:0.2", BlockCoding::kBySignature}}) {
    const TimeSpec spec = spec_of(text);
    const Encoded good = encode(m.calls(), spec, 1000, coding);
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
      Encoded bad = good;
      std::string& bytes = bad.bytes[0];
      if (i % 3 == 0)
        bytes.resize(random() % bytes.size());
      else
        bytes[random() % bytes.size()] ^= static_cast<char>(1 << (random() % 8));
      bad.blocks[0].checksum = checksum32(bytes);
      TimedCalls calls = m.calls();
      BlockDecoder decoder(spec);
      const auto call_of = functions();
      if (!decoder.decode(bad.blocks[0], bytes, 0, call_of, calls).ok()) {
        ++refused;
        continue;
      }
      uint64_t end = 0;
      for (const TimedCall& c : calls) {
        ASSERT_LE(c.begin_ns, c.end_ns);
        ASSERT_LE(end, c.end_ns);
        end = c.end_ns;
      }
      ASSERT_EQ(end, good.blocks[0].end_ns);
    }
    EXPECT_GT(refused, 2000) << text;
    TimedCalls calls = m.calls();
    TimeBlock other = good.blocks[0];
    other.checksum ^= 1;
    EXPECT_FALSE(BlockDecoder(spec).decode(other, good.bytes[0], 0, functions(), calls).ok());
  }
}

TEST(TimeSpec, ThereAndBack) {
  for (const char* text : {"stats", "exact", "bins:0.02", "bins:0.5", "bins:0.001",
                           "bins:0.02,MPI_Wait=0.2", "bins:0.123456,MPI_Send=0.01"}) {
    const auto spec = TimeSpec::parse(text);
    ASSERT_TRUE(spec.ok()) << text;
    EXPECT_EQ(TimeSpec::parse(spec->to_string()).value(), *spec) << spec->to_string();
  }
  EXPECT_EQ(spec_of("bins:.02").to_string(), "bins:0.02");
  for (const char* text : {"", "bins", "bins:", "bins:0", "bins:0.6", "bins:1e-2", "bins:0.0001",
                           "bins:0.02,", "bins:0.02,MPI_Nothing=0.1", "bins:0.02,MPI_Wait",
                           "bins:0.02,MPI_Wait=0.1,MPI_Wait=0.2", "exactly", "bins:0.0200001"})
    EXPECT_FALSE(TimeSpec::parse(text).ok()) << text;
}

}  // namespace
}  // namespace refrain::format
