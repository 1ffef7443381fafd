// Samples that are made from known parameters, with noise and outliers: these parameters lie in
// the intervals.
#include "sim/calibrate/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sim/calibrate/robust.h"
#include "sim/machine/machine_text.h"

namespace refrain::sim {
namespace {

struct Truth {
  struct Range {
    double up_to, latency, send, receive, gap, per_byte, copied;
  };
  std::vector<Range> ranges;
  double acknowledged = 1e18, acknowledgement = 700;
  double limit = 65536, handshake = 900, copy = 150, copy_per_byte = 0.08, overlap = 0.4;
  double crossing = 600, crossing_per_byte = 0.06;
  const Range& of(double s) const {
    size_t i = 0;
    while (s > ranges[i].up_to) ++i;
    return ranges[i];
  }
};

Truth two_ranges() {
  return {{{8192, 1500, 300, 350, 900, 0.12, 0.05}, {1e18, 2400, 420, 380, 900, 0.10, 0.02}}};
}

// What the tests measure on such a machine, by hand. docs/calibrate.md has the same formulas.
double measured(const Truth& t, SampleTest test, double s, double count) {
  const Truth::Range& r = t.of(s);
  const double send = r.send + s * r.copied, receive = r.receive + s * r.copied;
  const double data = r.latency + s * r.per_byte;
  const bool waits = s > t.limit;
  const double begun = waits ? std::max(r.send + 2 * t.handshake, send) : send;
  switch (test) {
    case SampleTest::kPingPong: return 2 * (begun + data + receive);
    case SampleTest::kSend: return send;
    case SampleTest::kReceive: return receive;
    case SampleTest::kLate:
      return waits ? t.handshake + data + receive : receive + t.copy + s * t.copy_per_byte;
    case SampleTest::kBurst: return 5000 + count * std::max({send, receive, r.gap, s * r.per_byte});
    case SampleTest::kExchange: {
      const double taken = !waits && s > t.acknowledged ? t.acknowledgement : 0;
      return count * (begun + data + receive + taken + t.crossing + s * t.crossing_per_byte);
    }
    case SampleTest::kOverlap: return (1 - t.overlap) * s * r.per_byte + receive;
    case SampleTest::kTaken: return begun + data + receive + t.acknowledgement;
    case SampleTest::kDelayed: return waits || s > t.acknowledged ? 1e6 : send;
    case SampleTest::kProbed: return waits ? 2e6 : s > t.acknowledged ? 1e6 : send;
    default: return 0;  // fit_self_test.cc
  }
}

class Maker {
 public:
  // `drift`: what a line of samples differs by as a whole, one of `rounds` of each test and size.
  Maker(uint64_t seed, double noise, double outliers, double drift = 0, size_t rounds = 1)
      : random_(seed), noise_(noise), outliers_(outliers), drift_(drift), rounds_(rounds) {}

  Samples make(const Truth& truth) {
    Samples out;
    std::vector<uint64_t> sizes;
    for (uint64_t s = 1; s <= 4 << 20; s *= 2) {
      sizes.push_back(s);
      if (s >= 8 && s < 4 << 20) sizes.push_back(s + s / 2);
    }
    for (const uint64_t s : sizes) {
      const bool waits = static_cast<double>(s) > truth.limit;
      add(truth, SampleTest::kPingPong, s, 0, out);
      add(truth, SampleTest::kSend, s, 0, out);
      add(truth, SampleTest::kLate, s, 0, out);
      add(truth, SampleTest::kExchange, s, 4, out);
      if (waits) {
        add(truth, SampleTest::kOverlap, s, 0, out);
        continue;
      }
      add(truth, SampleTest::kReceive, s, 0, out);
      if (static_cast<double>(s) > truth.acknowledged) add(truth, SampleTest::kTaken, s, 0, out);
      add(truth, SampleTest::kBurst, s, 4, out);
      add(truth, SampleTest::kBurst, s, 24, out);
    }
    for (const uint64_t s : {1, 256, 257, 1000, 60000, 65535, 65536, 65537, 70000, 1 << 20})
      for (const SampleTest test : {SampleTest::kDelayed, SampleTest::kProbed})
        add(truth, test, s, 0, out);
    return out;
  }

 private:
  void add(const Truth& truth, SampleTest test, uint64_t bytes, uint64_t count, Samples& out) {
    SampleCell cell;
    cell.test = test;
    cell.bytes = bytes;
    cell.count = count;
    cell.delay_ns = 1000000;
    const double value =
        measured(truth, test, static_cast<double>(bytes), static_cast<double>(count));
    std::normal_distribution<double> noise(1, noise_);
    std::normal_distribution<double> drift(1, drift_);
    std::uniform_real_distribution<double> share(0, 1), factor(1.5, 40);
    for (size_t round = 0; round < rounds_; ++round) {
      const double level = drift_ > 0 ? value * std::max(0.1, drift(random_)) : value;
      cell.lines.push_back(40);
      for (int i = 0; i < 40; ++i) {
        double ns = level * std::max(0.1, noise(random_));
        if (share(random_) < outliers_) ns *= factor(random_);
        cell.ns.push_back(std::floor(ns + 0.5));
      }
    }
    out.cells.push_back(std::move(cell));
  }

  std::mt19937_64 random_;
  double noise_, outliers_, drift_;
  size_t rounds_;
};

// What is true of messages of `s` bytes, and what was found for them.
struct Found {
  double truth;
  Parameter found;
};
std::vector<Found> compare(const Truth& truth, const Protocol& protocol) {
  std::vector<Found> out;
  for (const double s : {512.0, 16384.0}) {
    const Truth::Range& t = truth.of(s);
    const SizeRange& r = protocol.range_of(static_cast<uint64_t>(s));
    for (const auto& [value, parameter] : {std::pair(t.latency, r.latency),
                                           {t.send, r.send},
                                           {t.receive, r.receive},
                                           {t.per_byte, r.gap_per_byte},
                                           {t.copied, r.cpu_per_byte},
                                           {truth.crossing, r.crossing},
                                           {truth.crossing_per_byte, r.crossing_per_byte}})
      out.push_back({value, parameter});
    if (s < 8192) out.push_back({t.gap, r.gap});  // behind the bytes of larger messages
  }
  const SizeRange& large = protocol.range_of(1 << 20);
  out.push_back({truth.handshake, large.handshake});
  out.push_back({truth.of(1 << 20).latency, large.latency});
  out.push_back({truth.of(1 << 20).per_byte, large.gap_per_byte});
  out.push_back({truth.copy, protocol.unexpected_copy});
  out.push_back({truth.copy_per_byte, protocol.unexpected_copy_per_byte});
  out.push_back({truth.overlap, protocol.overlap});
  return out;
}

struct Coverage {
  size_t inside = 0, all = 0, ranges = 0;
  double widest = 0;
};

Coverage coverage(double drift, size_t rounds, bool tells_lines = true) {
  Coverage out;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Truth truth = two_ranges();
    Samples samples = Maker(seed, 0.03, 0.05, drift, rounds).make(truth);
    for (SampleCell& cell : samples.cells)
      if (!tells_lines) cell.lines.clear();
    const auto found = fit_protocol(samples, {});
    EXPECT_TRUE(found.ok()) << found.error().message;
    if (!found.ok()) return out;
    EXPECT_EQ(found->protocol.eager_limit, 65536U);
    EXPECT_GT(found->outliers, found->samples / 40);
    out.ranges += found->protocol.ranges.size();
    for (const Found& one : compare(truth, found->protocol)) {
      ++out.all;
      out.inside += one.found.low <= one.truth && one.truth <= one.found.high ? 1 : 0;
      EXPECT_LE(one.found.low, one.found.value);
      EXPECT_LE(one.found.value, one.found.high);
      // No interval is so wide that everything lies in it.
      out.widest = std::max(out.widest, (one.found.high - one.found.low) / one.truth);
    }
  }
  return out;
}

TEST(Fit, KnownParametersLieInTheirIntervals) {
  const Coverage found = coverage(0, 1);
  // Intervals of 95 %: of 360, four standard deviations below 342 are 325.
  EXPECT_GE(found.inside, found.all * 90 / 100) << found.inside << " of " << found.all;
  EXPECT_LT(found.widest, 0.6);
  EXPECT_LE(found.ranges, 20U * 4);
}

// What a machine does for a while meets all samples of a line.
TEST(Fit, KnownParametersLieInTheirIntervalsWhereRoundsDiffer) {
  const Coverage found = coverage(0.03, 5);
  EXPECT_GE(found.inside, found.all * 90 / 100) << found.inside << " of " << found.all;
  const Coverage otherwise = coverage(0.03, 5, false);
  EXPECT_LT(otherwise.inside, otherwise.all * 85 / 100) << otherwise.inside;
}

// What the sends of a start are slower by meets all of its samples: one start alone does not know
// it.
TEST(Fit, SeveralStartsTellWhatStartsDifferBy) {
  size_t inside = 0, inside_alone = 0, all = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> slower(1, 0.1);
    std::vector<Samples> starts;
    for (uint64_t i = 0; i < 5; ++i) {
      Truth truth = two_ranges();
      const double factor = slower(random);
      for (Truth::Range& range : truth.ranges) range.send *= factor;
      starts.push_back(Maker(10 * seed + i, 0.03, 0.05).make(truth));
    }
    const auto alone = fit_protocol(starts[0], {});
    ASSERT_TRUE(alone.ok());
    for (size_t i = 1; i < starts.size(); ++i) ASSERT_TRUE(join(starts[0], starts[i], "more").ok());
    EXPECT_EQ(starts[0].starts, 5U);
    const auto found = fit_protocol(starts[0], {});
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->samples, 5 * alone->samples);
    EXPECT_EQ(found->protocol.eager_limit, 65536U);
    for (const uint64_t s : {512, 16384}) {
      const double truth = two_ranges().of(static_cast<double>(s)).send;
      const auto holds = [&](const FittedProtocol& fitted) {
        const Parameter& send = fitted.protocol.range_of(s).send;
        return send.low <= truth && truth <= send.high ? 1U : 0U;
      };
      ++all;
      inside += holds(*found);
      inside_alone += holds(*alone);
    }
  }
  EXPECT_GE(inside, all * 85 / 100) << inside << " of " << all;
  EXPECT_LT(inside_alone, all / 2) << inside_alone;
}

TEST(RobustMean, AMeanOfMeansHasTheirErrors) {
  const Estimate both = mean_of({{100, 3, 40}, {120, 4, 40}});
  EXPECT_DOUBLE_EQ(both.mean, 110);
  EXPECT_DOUBLE_EQ(both.error, 2.5);
  EXPECT_EQ(both.used, 80U);
}

TEST(RobustMean, LinesThatDifferTellLessThanTheirSamples) {
  const std::vector<double> samples = {98, 102, 118, 122, 108, 112};
  const std::vector<size_t> lines = {2, 2, 2};
  EXPECT_NEAR(robust_mean(samples, lines).error, 1.965 * 10 / std::sqrt(3), 1e-9);
  EXPECT_LT(robust_mean(samples).error, 5);
  EXPECT_EQ(robust_mean(samples, {3, 3}).error, robust_mean(samples).error);  // too few
  EXPECT_EQ(robust_mean(samples, lines).mean, robust_mean(samples).mean);
}

TEST(Fit, WithoutNoiseParametersAreExactAndPiecesAreThoseOfTheMachine) {
  const Truth truth = two_ranges();
  const auto found = fit_protocol(Maker(1, 0, 0).make(truth), {});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->protocol.ranges.size(), 3U);  // the limit cuts the second one
  EXPECT_GE(found->protocol.ranges[0].up_to, 8192U);
  EXPECT_LT(found->protocol.ranges[0].up_to, 12288U);
  EXPECT_EQ(found->protocol.ranges[1].up_to, 65536U);
  for (const Found& one : compare(truth, found->protocol))
    EXPECT_NEAR(one.found.value, one.truth, one.truth * 0.02 + 0.001);
}

TEST(Fit, AGapBehindTheProcessorsIsSaidToBeHidden) {
  Truth truth = two_ranges();
  truth.ranges[0].gap = truth.ranges[1].gap = 100;  // less than any processor needs
  const auto found = fit_protocol(Maker(3, 0.02, 0.02).make(truth), {});
  ASSERT_TRUE(found.ok());
  const Parameter gap = found->protocol.ranges[0].gap;
  EXPECT_EQ(gap.value, 0);
  EXPECT_LE(gap.low, 100);
  EXPECT_GE(gap.high, 100);
}

TEST(Fit, AllMessagesMayBeEager) {
  Truth truth = two_ranges();
  truth.limit = 1e18;
  const auto found = fit_protocol(Maker(4, 0.02, 0.02).make(truth), {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->protocol.eager_limit, UINT64_MAX);
  EXPECT_EQ(found->protocol.overlap.value, 0);
}

TEST(Fit, NoOverlapIsNone) {
  Truth truth = two_ranges();
  truth.overlap = 0;
  const auto found = fit_protocol(Maker(5, 0.02, 0.02).make(truth), {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->protocol.overlap.value, 0);
}

TEST(Fit, WithoutCrossingThereIsNone) {
  Truth truth = two_ranges();
  truth.crossing = truth.crossing_per_byte = 0;
  const auto found = fit_protocol(Maker(8, 0.02, 0.02).make(truth), {});
  ASSERT_TRUE(found.ok());
  for (const SizeRange& range : found->protocol.ranges) {
    EXPECT_EQ(range.crossing.value, 0);
    EXPECT_EQ(range.crossing_per_byte.high, 0);
  }
  // Samples of a version that did not measure exchanges.
  Samples samples = Maker(9, 0.02, 0.02).make(two_ranges());
  std::erase_if(samples.cells, [](const SampleCell& c) { return c.test == SampleTest::kExchange; });
  const auto old = fit_protocol(samples, {});
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(old->protocol.ranges[0].crossing.value, 0);
}

TEST(Fit, TheLimitIsFoundThroughContradictions) {
  Samples samples;
  const auto add = [&](uint64_t bytes, double ns) {
    samples.cells.push_back({SampleTest::kDelayed, bytes, 0, 1000, {ns, ns, 5000}, {3}});
  };
  for (const uint64_t bytes : {1, 100, 1000, 1001, 4000, 5000}) add(bytes, bytes > 1000 ? 990 : 10);
  add(50, 990);  // an interrupted one
  EXPECT_EQ(fit_limits(samples).eager, 1000U);
  EXPECT_EQ(fit_limits(samples).acknowledged, UINT64_MAX);
  // Up to 4000 bytes they wait for no more than their receiver.
  for (const uint64_t bytes : {1001, 4000, 5000})
    samples.cells.push_back(
        {SampleTest::kProbed, bytes, 0, 1000, {bytes > 4000 ? 2010.0 : 1010.0, 900, 5000}, {3}});
  EXPECT_EQ(fit_limits(samples).eager, 4000U);
  EXPECT_EQ(fit_limits(samples).acknowledged, 1000U);
  // Without such, the limit is as it was.
  for (SampleCell& cell : samples.cells)
    if (cell.test == SampleTest::kProbed) cell.ns = {2010.0};
  EXPECT_EQ(fit_limits(samples).eager, 1000U);
  EXPECT_EQ(fit_limits(samples).acknowledged, UINT64_MAX);
}

TEST(Fit, AcknowledgedMessagesAreFoundWithTheirHandshake) {
  Truth truth = two_ranges();
  truth.acknowledged = 256;
  const auto found = fit_protocol(Maker(12, 0.02, 0.02).make(truth), {});
  ASSERT_TRUE(found.ok());
  const Protocol& p = found->protocol;
  EXPECT_EQ(p.acknowledged_above, 256U);
  EXPECT_EQ(p.eager_limit, 65536U);
  EXPECT_NE(&p.range_of(256), &p.range_of(257));
  for (const uint64_t bytes : {uint64_t{257}, uint64_t{4096}, uint64_t{65536}}) {
    const Parameter& handshake = p.range_of(bytes).handshake;
    EXPECT_LT(handshake.low, truth.acknowledgement) << bytes;
    EXPECT_GT(handshake.high, truth.acknowledgement) << bytes;
    const Parameter& crossing = p.range_of(bytes).crossing;
    EXPECT_LT(crossing.low, truth.crossing) << bytes;
    EXPECT_GT(crossing.high, truth.crossing) << bytes;
  }
  EXPECT_EQ(p.range_of(256).handshake.value, p.range_of(256).latency.value);
  Machine machine;
  machine.distances[0] = machine.distances[1] = machine.distances[2] = p;
  const auto read = parse_machine(machine_text(machine, {Distance::kCore}, "made up"), "m.toml");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->distances[0].acknowledged_above, 256U);
}

// The line of large messages leaves nothing at 0 bytes.
TEST(Fit, ARangeWithoutALatencyBorrowsOne) {
  Samples samples = Maker(11, 0, 0).make(two_ranges());
  for (SampleCell& cell : samples.cells)
    if (cell.test == SampleTest::kPingPong && cell.bytes > 65536)
      for (double& ns : cell.ns) ns -= 10000;
  const auto found = fit_protocol(samples, {});
  ASSERT_TRUE(found.ok());
  for (const SizeRange& range : found->protocol.ranges) EXPECT_GT(range.latency.value, 0);
}

TEST(Fit, MissingTestsAreNamed) {
  Samples samples = Maker(6, 0.02, 0).make(two_ranges());
  std::erase_if(samples.cells, [](const SampleCell& c) { return c.test == SampleTest::kSend; });
  const auto found = fit_protocol(samples, {});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, base::ErrorCode::kUsage);
  EXPECT_NE(found.error().message.find("'send'"), std::string::npos);
}

TEST(Fit, TheMachineFileHasWhatWasFound) {
  const auto found = fit_protocol(Maker(7, 0.02, 0.03).make(two_ranges()), {});
  ASSERT_TRUE(found.ok());
  Machine machine;
  machine.name = "a \"quoted\" name";
  machine.distances[0] = machine.distances[1] = machine.distances[2] = found->protocol;
  const auto read = parse_machine(machine_text(machine, {Distance::kCore}, "made up"), "m.toml");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->name, machine.name);
  EXPECT_EQ(read->places(), UINT64_MAX);
  const Protocol& out = read->distances[2];
  EXPECT_EQ(out.eager_limit, found->protocol.eager_limit);
  ASSERT_EQ(out.ranges.size(), found->protocol.ranges.size());
  for (size_t i = 0; i < out.ranges.size(); ++i) {
    EXPECT_EQ(out.ranges[i].up_to, found->protocol.ranges[i].up_to);
    EXPECT_NEAR(out.ranges[i].latency.value, found->protocol.ranges[i].latency.value, 0.1);
    EXPECT_NEAR(out.ranges[i].handshake.high, found->protocol.ranges[i].handshake.high, 0.1);
    EXPECT_NEAR(out.ranges[i].gap_per_byte.low, found->protocol.ranges[i].gap_per_byte.low, 1e-6);
  }
}

}  // namespace
}  // namespace refrain::sim
