// Totals of a rank in a byte: what comes back is within the error that docs/format.md states, and
// is written as the same bytes again.
#include "format/totals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "format/codes/checksum.h"
#include "format/codes/quantise.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/layout.h"
#include "format/testing/sections.h"

namespace refrain::format {
namespace {

void expect_good_scale(uint32_t least, uint32_t greatest, unsigned bits, uint32_t code) {
  const CodeScale scale(least, greatest, bits);
  const uint32_t place = scale.place(code);
  SCOPED_TRACE(::testing::Message()
               << code << " in " << least << " .. " << greatest << ", " << bits << " bits");
  ASSERT_GE(place, 1u);
  ASSERT_LE(place, scale.last_place());
  ASSERT_LT(scale.last_place(), 1u << bits);
  const uint32_t back = scale.at(place);
  ASSERT_EQ(scale.place(back), place);
  ASSERT_EQ(place == 1, code == least) << "the ends are exact, and nothing else is taken for one";
  ASSERT_EQ(place == scale.last_place(), code == greatest);
  ASSERT_LE(back < code ? code - back : back - code, scale.max_error());
  ASSERT_TRUE(back == code || (code != least && code != greatest));
}

TEST(CodeScale, EveryCodeOfSmallRanges) {
  for (unsigned bits = kMinScaleBits; bits <= 6; ++bits) {
    for (uint32_t range = 0; range < 300; ++range) {
      for (uint32_t above = 0; above <= range; ++above) {
        expect_good_scale(1000, 1000 + range, bits, 1000 + above);
        if (HasFatalFailure()) return;
      }
      const CodeScale scale(7, 7 + range, bits);
      for (uint32_t p = 2; p <= scale.last_place(); ++p) ASSERT_GT(scale.at(p), scale.at(p - 1));
      EXPECT_EQ(scale.max_error() == 0, range + 1 < 1u << bits);
    }
  }
}

TEST(CodeScale, AnyRange) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300000; ++i) {
    const auto bits = static_cast<unsigned>(kMinScaleBits + random() % 11);
    auto least = static_cast<uint32_t>(random()), greatest = static_cast<uint32_t>(random());
    if (i % 3 == 0) greatest = least + static_cast<uint32_t>(random() >> (32 + random() % 32));
    if (i % 7 == 0) least = 0, greatest = UINT32_MAX;
    if (least > greatest) std::swap(least, greatest);
    const uint64_t range = greatest - least;
    expect_good_scale(least, greatest, bits, least + static_cast<uint32_t>(random() % (range + 1)));
    if (HasFatalFailure()) return;
  }
}

TraceData trace_of(std::vector<RankTotals> totals) {
  TraceData trace;
  trace.meta.ranks = totals.size();
  trace.meta.hosts = {"n1"};
  trace.meta.host_of_rank.append_run(0, 0, totals.size());
  trace.meta.complete = false;  // there are no groups
  trace.losses = {{"rank_missing", 0, -1, "all"}};
  trace.totals = std::move(totals);
  trace.cost = cost_of(trace.totals);
  return trace;
}

double difference(uint64_t a, uint64_t b) {
  return std::abs(static_cast<double>(a) - static_cast<double>(b));
}

constexpr double kMostError = 0.0055, kCostError = 0.0305;
constexpr double kShort = 1 << kSpanMantissaBits;  // ns; below, codes of spans are numbers

// Writes, reads, compares within the stated errors, writes again.
void expect_round_trip(const std::vector<RankTotals>& totals) {
  const TraceData trace = trace_of(totals);
  const auto bytes = encode(trace);
  ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
  const auto back = decode(*bytes, "t.rfn");
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  ASSERT_TRUE(check(*bytes).empty());
  ASSERT_EQ(*encode(*back), *bytes);
  const RecorderCost &was = trace.cost, &is = back->cost;
  ASSERT_EQ(is.ranks, was.ranks);
  if (was.ranks == 0) return;
  for (const auto& [a, b] :
       {std::pair(was.memory_bytes, is.memory_bytes), std::pair(was.time_ns, is.time_ns)}) {
    ASSERT_EQ(time_code(b.least), time_code(a.least));
    ASSERT_EQ(time_code(b.greatest), time_code(a.greatest));
    ASSERT_LE(b.least_rank, a.least_rank);
    ASSERT_LE(b.greatest_rank, a.greatest_rank);
  }
  for (size_t r = 0; r < totals.size(); ++r) {
    const RankTotals &t = totals[r], &got = back->totals[r];
    SCOPED_TRACE(r);
    const auto in = static_cast<double>(t.in_mpi_ns);
    const double span = in + static_cast<double>(t.outside_ns);
    ASSERT_LE(difference(got.in_mpi_ns, t.in_mpi_ns), std::max(in, 1024.0) * kMostError + 1);
    ASSERT_LE(difference(got.outside_ns, t.outside_ns),
              std::max(span, kShort) * 2 * kMostError + 1);
    ASSERT_EQ(got.cost.memory_bytes == 0, t.cost.memory_bytes == 0);
    if (t.cost.memory_bytes == 0) continue;
    ASSERT_LE(difference(got.cost.memory_bytes, t.cost.memory_bytes),
              kCostError * std::max(static_cast<double>(t.cost.memory_bytes), 1024.0) + 1);
    ASSERT_LE(difference(got.cost.time_ns, t.cost.time_ns),
              kCostError * std::max(static_cast<double>(t.cost.time_ns), 1024.0) + 1);
  }
}

TEST(SharedTotals, OneRank) {
  expect_round_trip({{3'000'000, 7'000'000, {100'000, 2'000'000}}});
  expect_round_trip({{0, 0, {1, 0}}});
  const TraceData trace = *decode(*encode(trace_of({{1'234'567, 7'654'321, {99'999, 5}}})), "t");
  EXPECT_LE(difference(trace.totals[0].outside_ns, 7'654'321), (1'234'567 + 7'654'321) >> 17);
}

TEST(SharedTotals, EqualRanksCostNoError) {
  expect_round_trip(std::vector<RankTotals>(100, {5000, 1'000'000'000, {123'456, 789'012}}));
  const RankTotals one{1024, 99'000, {2048, 1500}};
  const TraceData trace = *decode(*encode(trace_of(std::vector<RankTotals>(9, one))), "t");
  for (const RankTotals& t : trace.totals) {
    EXPECT_EQ(t.in_mpi_ns, one.in_mpi_ns);
    EXPECT_EQ(t.outside_ns, one.outside_ns);
    EXPECT_EQ(t.cost.memory_bytes, one.cost.memory_bytes);
    EXPECT_EQ(t.cost.time_ns, one.cost.time_ns);
  }
}

TEST(SharedTotals, Extremes) {
  expect_round_trip({{0, 0, {1, 0}}, {0, 1, {1, 1}}, {1, 0, {2, 0}}, {1, 1, {3, 9}}});
  expect_round_trip({{0, 0, {}}, {1000, 5000, {400, 0}}, {0, 0, {500, 100}}});
  constexpr uint64_t kHuge = UINT64_MAX / 4;
  expect_round_trip({{kHuge, kHuge, {kHuge, kHuge}}, {1, 1, {1, 1}}, {9, 77, {12, kHuge / 2}}});
  // Beyond 64 bits together: as much as fits.
  const auto huge = decode(*encode(trace_of({{UINT64_MAX, UINT64_MAX, {UINT64_MAX, 7}}})), "t");
  ASSERT_TRUE(huge.ok());
  EXPECT_EQ(huge->totals[0].in_mpi_ns, UINT64_MAX);
}

TEST(SharedTotals, AnySpread) {
  std::mt19937_64 random(7);
  const double ratios[] = {1.0001, 1.01, 1.3, 2, 10, 1000, 1e6, 1e12};
  for (int i = 0; i < 400; ++i) {
    const auto any = [&random](double least, double ratio) {
      const double u = static_cast<double>(random() % 1'000'001) / 1e6;
      return static_cast<uint64_t>(least * std::pow(ratio, u));
    };
    const double span_ratio = ratios[random() % 8], memory_ratio = ratios[random() % 6];
    const double time_ratio = ratios[random() % 6], unknown = random() % 4 == 0 ? 0.2 : 0;
    std::vector<RankTotals> totals(1 + random() % 200);
    for (RankTotals& t : totals) {
      const uint64_t span = any(20'000, span_ratio);
      t.in_mpi_ns = random() % (span + 1);
      if (random() % 5 == 0) t.in_mpi_ns = span;
      t.outside_ns = span - t.in_mpi_ns;
      if (static_cast<double>(random() % 100) < 100 * unknown) continue;
      t.cost = {any(100'000, memory_ratio), any(50'000, time_ratio)};
    }
    expect_round_trip(totals);
    if (HasFatalFailure()) FAIL() << "case " << i;
  }
}

TEST(SharedTotals, SaysWhoHasTheExtremes) {
  std::vector<RankTotals> totals;
  for (uint64_t r = 0; r < 1000; ++r)
    totals.push_back({5000, 1'000'000 + r, {100'000 + (r * 389) % 1000 * 500, 9'000'000 - r * 7}});
  const auto back = decode(*encode(trace_of(totals)), "t.rfn");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->cost.memory_bytes.least_rank, 0u);
  EXPECT_EQ((back->cost.memory_bytes.greatest_rank * 389) % 1000, 999u);
  EXPECT_EQ(back->cost.time_ns.greatest_rank, 0u);
  EXPECT_NEAR(back->cost.time_ns.sum / 1000, 9'000'000 - 3500, 5000);
}

TEST(SharedTotals, AFileOfVersion11HasSpreadsOnly) {
  TraceData trace = trace_of({{3000, 7000, {}}, {4000, 6000, {}}});
  trace.cost.add(0, {1000, 2'000'000});
  trace.cost.add(1, {3000, 1'000'000});
  const auto bytes = encode(trace);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(read_header(*bytes, "t")->must_understand & kFeatureSharedTotals, 0);
  const auto back = decode(*bytes, "t.rfn");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->cost.ranks, 2u);
  EXPECT_EQ(back->cost.memory_bytes.greatest_rank, 1u);
  EXPECT_EQ(back->totals[1].cost.memory_bytes, 0u);
  EXPECT_EQ(*encode(*back), *bytes);
}

TEST(SharedTotals, ASummaryThatIsNotThatOfTheRanksIsNotWritten) {
  TraceData trace = trace_of({{3000, 7000, {900, 1000}}, {4000, 6000, {1000, 1000}}});
  EXPECT_TRUE(encode(trace).ok());
  trace.cost.memory_bytes.greatest = 1100;
  EXPECT_FALSE(encode(trace).ok());
  trace.cost = {};
  EXPECT_FALSE(encode(trace).ok());
}

// The bytes of a file with other bytes in its totals section, checksums made right.
std::string with_totals(std::string bytes, size_t at, uint8_t value) {
  const auto header = read_header(bytes, "t");
  EXPECT_TRUE(header.ok());
  const auto put_u32 = [&bytes](size_t offset, uint32_t v) {
    for (size_t i = 0; i < 4; ++i) bytes[offset + i] = static_cast<char>(v >> (8 * i));
  };
  for (size_t i = 0; i < header->sections.size(); ++i) {
    const SectionEntry& e = header->sections[i];
    if (e.type != SectionType::kTotals) continue;
    bytes[e.offset + at] = static_cast<char>(value);
    const size_t next = i + 1 < header->sections.size() ? header->sections[i + 1].entry_offset
                                                        : kHeaderBytes + header->table_bytes;
    put_u32(next - 4, checksum32(std::string_view(bytes).substr(e.offset, e.stored_bytes)));
  }
  testing::renew_header_checksum(bytes, header->table_bytes);
  return bytes;
}

TEST(SharedTotals, ContradictionsAreFound) {
  // Two ranks. The form, then for each scale its places, the least and how much more the greatest
  // is.
  const std::string good =
      *encode(trace_of({{1000, 9000, {600, 1500}}, {1000, 9000, {600, 1500}}}));
  EXPECT_EQ(with_totals(good, 0, 1), good);
  const std::pair<size_t, uint8_t> wrong[] = {
      {0, 3}, {0, 2},          // forms
      {1, 0}, {1, 1}, {1, 2},  // places
  };
  for (const auto& [at, value] : wrong) {
    const auto findings = check(with_totals(good, at, value));
    ASSERT_FALSE(findings.empty()) << at;
    EXPECT_EQ(findings[0].section, "totals") << at;
  }
  // Of anything else there are either findings or totals.
  for (size_t at = 0; at < 40; ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      const std::string bytes = with_totals(good, at, static_cast<uint8_t>(value));
      EXPECT_EQ(check(bytes).empty(), decode(bytes, "t").ok()) << at << " " << value;
    }
  }
}

size_t totals_bytes(const std::vector<RankTotals>& totals) {
  const auto bytes = encode(trace_of(totals));
  EXPECT_TRUE(bytes.ok());
  const auto sizes = section_sizes(*bytes, "t.rfn");
  for (const SectionSize& s : *sizes)
    if (s.type == SectionType::kTotals) return s.raw_bytes;
  return 0;
}

TEST(SharedTotals, TakeAByteARankWhereRanksAreAlike) {
  std::mt19937_64 random(8);
  const auto near = [&random](double value, double part) {
    std::normal_distribution<double> noise(value, value * part);
    return static_cast<uint64_t>(std::max(0.0, noise(random)));
  };
  for (const size_t ranks : {64u, 1024u, 4096u}) {
    std::vector<RankTotals> totals(ranks);
    for (RankTotals& t : totals) {
      t.in_mpi_ns = near(2e8, 0.01);
      t.outside_ns = near(1e9, 0.0001) - t.in_mpi_ns;
      t.cost = {near(900'000, 0.01), near(3e6, 0.05)};
    }
    expect_round_trip(totals);
    EXPECT_LE(totals_bytes(totals), ranks + 64) << ranks;
    for (RankTotals& t : totals) t = totals[0];
    EXPECT_LE(totals_bytes(totals), ranks / 64 + 64) << ranks;
  }
}

TEST(SharedTotals, NothingAboutNobodyTakesAByte) {
  const TraceData trace = trace_of(std::vector<RankTotals>(1000));
  EXPECT_EQ(totals_bytes(trace.totals), 1u);
  const auto back = decode(*encode(trace), "t");
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(back->totals.empty());
  EXPECT_EQ(*encode(*back), *encode(trace));
}

}  // namespace
}  // namespace refrain::format
