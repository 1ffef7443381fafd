// Statistics of durations come back within their bounds, whatever they are, in the room they have.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "format/codes/quantise.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/encode/stat_plan.h"
#include "format/merge/merge.h"
#include "format/stats/grain.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

constexpr double kBound = 1.0 / 2048;

// One rank that called `signatures` different sends from four places, number i calls(i) times.
template <class Calls>
TraceData trace_of(size_t signatures, Calls calls) {
  testing::SyntheticRank rank(0, 1);
  for (size_t i = 0; i < signatures; ++i) {
    for (uint64_t k = calls(i); k > 0; --k)
      rank.call(testing::Sig(7, rank.site(static_cast<int64_t>(9 + i % 4)))
                    .integer(static_cast<int64_t>(i * i))
                    .object(rank.world()));
  }
  auto trace = finish(std::move(*leaf(rank.finish(), 1)));
  EXPECT_TRUE(trace.ok());
  return std::move(*trace);
}

// Statistics of d.count calls that took so long.
template <class Duration>
void measure(DurationStats& d, Duration duration) {
  const uint64_t calls = d.count;
  d = {};
  for (; d.count < calls; ++d.count) {
    const uint64_t ns = duration();
    d.min_ns = d.count == 0 ? ns : std::min(d.min_ns, ns);
    d.max_ns = std::max(d.max_ns, ns);
    d.sum_ns += static_cast<double>(ns);
    d.histogram.add(Histogram::bucket_of(ns), 1);
  }
}

struct Coded {
  TraceData trace;
  unsigned mantissa_bits = 0, grain = 0;
  bool is_quick = false;
  uint64_t bytes = 0, padding = 0;
};
Coded there_and_back(const TraceData& trace) {
  Coded out;
  const auto bytes = encode(trace);
  EXPECT_TRUE(bytes.ok());
  auto again = decode(*bytes, "t.rfn");
  EXPECT_TRUE(again.ok()) << again.error().to_string();
  if (!again.ok()) return out;
  EXPECT_TRUE(check(*bytes).empty());
  out.trace = std::move(*again);
  const auto number = [](const std::string& text) {
    return static_cast<unsigned>(std::stoul(text.substr(text.find('=') + 2)));
  };
  for (const ByteLine& line : annotate(*bytes)) {
    if (line.meaning.starts_with("bits of the mantissa")) out.mantissa_bits = number(line.meaning);
    if (line.meaning.starts_with("grain")) out.grain = number(line.meaning);
    if (line.meaning.starts_with("bytes of padding")) out.padding = number(line.meaning);
  }
  out.is_quick = (out.mantissa_bits & kQuickBit) != 0;
  out.mantissa_bits &= ~kQuickBit;
  const auto sizes = section_sizes(*bytes, "t.rfn");
  for (const SectionSize& s : *sizes)
    if (s.type == SectionType::kDurations) out.bytes = s.raw_bytes;
  return out;
}

bool near(double value, double truth, double bound) {
  return std::abs(value - truth) <= bound * truth + 0.5;
}

// What the document promises of one signature.
void expect_bounds(const DurationStats& truth, const DurationStats& found, const Coded& coded,
                   size_t i) {
  // Of time codes, which are rounded themselves.
  const double half = std::ldexp(1, -static_cast<int>(coded.mantissa_bits) - 1) + kBound;
  ASSERT_EQ(found.count, truth.count) << i;
  if (truth.count == 0) return;
  const auto calls = static_cast<double>(truth.count);
  const double mean = truth.sum_ns / calls;
  // A single call's number is chosen like a mean.
  const double end = truth.count == 1 ? 2 * half : half;
  EXPECT_TRUE(near(static_cast<double>(found.min_ns), static_cast<double>(truth.min_ns), end)) << i;
  EXPECT_TRUE(near(static_cast<double>(found.max_ns), static_cast<double>(truth.max_ns), end))
      << i << ": " << found.max_ns << " for " << truth.max_ns << ", " << coded.mantissa_bits;
  // Of two calls it is made of two codes.
  const bool is_code = coded.mantissa_bits == 10 && truth.count != 2;
  EXPECT_TRUE(near(found.sum_ns / calls, mean, is_code ? kBound : 2 * half))
      << i << ": " << found.sum_ns / calls << " for " << mean;
  EXPECT_LE(static_cast<double>(found.min_ns), found.sum_ns / calls * (1 + kBound) + 1) << i;
  EXPECT_GE(static_cast<double>(found.max_ns), found.sum_ns / calls * (1 - kBound) - 1) << i;
  uint64_t sum = 0;
  for (size_t b = 0; b < Histogram::kBuckets; ++b) sum += found.histogram[b];
  EXPECT_EQ(sum, truth.count) << i;
  if (coded.grain > 1) return;
  const double in_rest = coded.grain == 0 ? 0 : 2 * std::sqrt(calls);
  for (size_t b = 0; b < Histogram::kBuckets; ++b)
    EXPECT_TRUE(near(static_cast<double>(found.histogram[b]),
                     static_cast<double>(truth.histogram[b]), 0.045) ||
                std::abs(static_cast<double>(found.histogram[b]) -
                         static_cast<double>(truth.histogram[b])) <= in_rest)
        << i << ", bucket " << b << ": " << found.histogram[b] << " for " << truth.histogram[b];
}

// Time, shortest and longest call of each place.
struct Place {
  double sum_ns = 0;
  uint64_t min_ns = UINT64_MAX, max_ns = 0;
};
std::map<int64_t, Place> places_of(const TraceData& trace) {
  std::map<int64_t, Place> places;
  for (size_t i = 0; i < trace.signatures.size(); ++i) {
    const DurationStats& d = trace.durations[i];
    if (d.count == 0) continue;
    Place& p = places[trace.signatures[i].slots[0].a];
    p.sum_ns += d.sum_ns;
    p.min_ns = std::min(p.min_ns, d.min_ns);
    p.max_ns = std::max(p.max_ns, d.max_ns);
  }
  return places;
}
void expect_places(const TraceData& truth, const TraceData& found) {
  const auto expected = places_of(truth);
  auto places = places_of(found);
  for (const auto& [site, p] : expected) {
    EXPECT_TRUE(near(places[site].sum_ns, p.sum_ns, 2 * kBound))
        << site << ": " << places[site].sum_ns << " for " << p.sum_ns;
    EXPECT_TRUE(
        near(static_cast<double>(places[site].min_ns), static_cast<double>(p.min_ns), kBound));
    EXPECT_TRUE(
        near(static_cast<double>(places[site].max_ns), static_cast<double>(p.max_ns), kBound));
  }
}

using Random = std::mt19937_64;
// How long calls take, in ways that programs have and in ways that none has.
const std::pair<const char*, uint64_t (*)(Random&, size_t)> kKinds[] = {
    {"like calls",
     [](Random& r, size_t i) {
       std::lognormal_distribution<double> ns(5.0 + static_cast<double>(i % 5), 1.1);
       return static_cast<uint64_t>(ns(r));
     }},
    {"a clock of 10 ns", [](Random& r, size_t) { return 10 + r() % 40 * 10; }},
    {"all the same", [](Random&, size_t) { return uint64_t{1234567}; }},
    {"nothing", [](Random&, size_t) { return uint64_t{0}; }},
    {"anything", [](Random& r, size_t) { return r() >> (1 + r() % 63); }},
    {"two modes", [](Random& r, size_t) { return r() % 7 == 0 ? r() % 9'000'000 : 80 + r() % 9; }},
    {"for ever", [](Random& r, size_t) { return (uint64_t{1} << 62) + r() % 1000; }},
};

TEST(Statistics, OfFewSignaturesAreExactWhereTheyMayBe) {
  for (const auto& [name, duration] : kKinds) {
    SCOPED_TRACE(name);
    Random random(5);
    TraceData trace = trace_of(300, [](size_t i) { return i % 7 * i % 90; });
    for (size_t i = 0; i < trace.durations.size(); ++i)
      measure(trace.durations[i], [&, &draw = duration] { return draw(random, i); });
    const Coded coded = there_and_back(trace);
    EXPECT_TRUE(coded.mantissa_bits == 10 || std::string(name) == "anything");
    for (size_t i = 0; i < trace.durations.size() && !HasFailure(); ++i)
      expect_bounds(trace.durations[i], coded.trace.durations[i], coded, i);
    expect_places(trace, coded.trace);
    if (coded.mantissa_bits == 10) {
      EXPECT_EQ(*encode(coded.trace), *encode(trace));
    }
  }
}

TEST(Statistics, OfManySignaturesTakeThreeBytesAndPlacesStayExact) {
  for (const auto& [name, duration] : kKinds) {
    SCOPED_TRACE(name);
    Random random(6);
    TraceData trace = trace_of(3000, [](size_t i) { return i % 3 == 0 ? i % 9 : 40 + i % 60; });
    uint64_t items = 0;
    for (size_t i = 0; i < trace.durations.size(); ++i) {
      items += trace.durations[i].count > 0 ? 1 : 0;
      measure(trace.durations[i], [&, &draw = duration] { return draw(random, i); });
    }
    const Coded coded = there_and_back(trace);
    // Of what is like nothing else nine bits an item are octaves.
    EXPECT_TRUE(coded.bytes <= 3 * items + 12 || name == std::string("anything"));
    for (size_t i = 0; i < trace.durations.size() && !HasFailure(); ++i)
      expect_bounds(trace.durations[i], coded.trace.durations[i], coded, i);
    expect_places(trace, coded.trace);
  }
}

TEST(Statistics, OfVeryManyThatWereCalledAFewTimesTakeThreeBytesAndPlacesStayExact) {
  for (const auto& [name, duration] : kKinds) {
    for (const uint64_t most : {1, 4, 20}) {
      SCOPED_TRACE(name + (" " + std::to_string(most)));
      Random random(8);
      TraceData trace = trace_of(9000, [&](size_t i) { return 1 + i / 4 % most; });
      for (size_t i = 0; i < trace.durations.size(); ++i)
        measure(trace.durations[i], [&, &draw = duration] { return draw(random, i); });
      const Coded coded = there_and_back(trace);
      EXPECT_TRUE(coded.is_quick);
      EXPECT_TRUE(coded.bytes <= 3 * 9000 + 12 || name == std::string("anything")) << coded.bytes;
      for (size_t i = 0; i < trace.durations.size() && !HasFailure(); ++i)
        expect_bounds(trace.durations[i], coded.trace.durations[i], coded, i);
      expect_places(trace, coded.trace);
      if (coded.mantissa_bits == 10) {
        EXPECT_EQ(*encode(coded.trace), *encode(trace));
      }
    }
  }
}

TEST(Statistics, OfFewSignaturesTakeARoomOfTheirOwn) {
  std::map<uint64_t, int> sizes;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    TraceData trace = trace_of(60, [](size_t i) { return 1 + i; });
    for (size_t i = 0; i < trace.durations.size(); ++i)
      measure(trace.durations[i], [&] { return kKinds[seed % 2].second(random, i * seed); });
    ++sizes[there_and_back(trace).bytes];
  }
  EXPECT_EQ(sizes.size(), 1u);
  EXPECT_EQ(sizes.begin()->first, 4 + 8 + 3 + 5 + 58 * 8u);
}

TEST(Statistics, ThatDoNotFitTheCallsAreMadeToFit) {
  TraceData trace = trace_of(4, [](size_t i) { return i == 0 ? 1 : 100; });
  trace.durations[0] = DurationStats{7, 100, 900, 2800, {}};  // of one call
  trace.durations[1] = DurationStats{};                       // of none
  DurationStats& d = trace.durations[2];  // a histogram of others, and beyond the ends
  d = DurationStats{40, 1000, 2000, 60000, {}};
  for (size_t b = 3; b < 20; ++b) d.histogram.add(b, 5);
  const Coded coded = there_and_back(trace);
  EXPECT_EQ(coded.trace.durations[0].min_ns, 400u);
  EXPECT_EQ(coded.trace.durations[0].max_ns, 400u);
  EXPECT_EQ(coded.trace.durations[1].count, 100u);
  EXPECT_EQ(coded.trace.durations[1].max_ns, 0u);
  EXPECT_EQ(coded.trace.durations[2].histogram[9] + coded.trace.durations[2].histogram[10], 100u);
}

TEST(Statistics, LevelsAreAsCloseAsTheySay) {
  Random random(7);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t count = random() >> random() % 64;
    const auto truth = static_cast<double>(count);
    const size_t below = kFineLevels.below(count);
    EXPECT_LE(kFineLevels[below], count);
    if (below + 1 < kFineLevels.size()) {
      EXPECT_LE(truth - static_cast<double>(kFineLevels[below]), 0.045 * truth);
      const double above = static_cast<double>(kFineLevels[below + 1]) - truth;
      EXPECT_TRUE(kFineLevels[below] == count || above <= 0.045 * truth) << count;
    }
    const size_t nearest = kRootLevels.nearest(count);
    const double off = std::abs(truth - static_cast<double>(kRootLevels[nearest]));
    EXPECT_TRUE(nearest + 1 == kRootLevels.size() ||
                off <= std::max(std::sqrt(truth), 0.045 * truth))
        << count;
    EXPECT_EQ(kRootLevels.nearest(kRootLevels[nearest]), nearest);
  }
}

// The same arithmetic on every machine and with every compiler.
TEST(Statistics, AreTheSameBytesEverywhere) {
  TraceData trace = trace_of(5, [](size_t i) { return 1 + i * i * 9; });
  for (size_t i = 0; i < trace.durations.size(); ++i) {
    uint64_t ns = 17 + i;
    measure(trace.durations[i], [&] { return ns = ns * 69069 % 100003; });
  }
  const auto bytes = encode(trace);
  ASSERT_TRUE(bytes.ok());
  std::string hex;
  for (const ByteLine& line : annotate(*bytes))
    if (line.meaning.starts_with("coded statistics")) hex = line.hex;
  EXPECT_EQ(hex, "dd 5e 6b 3a 8b c0 ad f7 88 6e 6c e7 e2 c6 eb 1b ...");
}

}  // namespace
}  // namespace refrain::format
