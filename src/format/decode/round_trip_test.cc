// What is encoded is what is decoded; how large the files are.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "format/codes/quantise.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/limits.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

std::vector<RankRecord> halo(uint64_t edge, bool periodic, uint64_t iterations) {
  std::vector<RankRecord> ranks;
  for (uint64_t r = 0; r < edge * edge; ++r)
    ranks.push_back(testing::halo_2d(r, edge, edge, periodic, iterations));
  return ranks;
}

std::string encoded(const TraceData& trace) {
  auto bytes = encode(trace);
  EXPECT_TRUE(bytes.ok()) << bytes.error().to_string();
  return bytes.ok() ? *bytes : std::string();
}

std::string one_host(std::vector<RankRecord> ranks) {
  for (RankRecord& r : ranks) r.host = "node0";
  return encoded(testing::merge_all(ranks));
}

TEST(RoundTrip, EverythingButTimeIsExact) {
  for (const bool periodic : {false, true}) {
    const auto ranks = halo(5, periodic, 30);
    TraceData trace = testing::merge_all(ranks);
    trace.losses.push_back(LossRecord{"spool_full", 17, 3, "no space left"});
    trace.meta.text["site_key"] = "kept";
    const std::string bytes = encoded(trace);
    auto again = decode(bytes, "t.rfn");
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    for (const RankRecord& r : ranks) ASSERT_EQ(testing::difference(*again, r), "");
    EXPECT_EQ(again->definitions, trace.definitions);
    EXPECT_EQ(again->meta.text, trace.meta.text);
    EXPECT_EQ(again->meta.hosts, trace.meta.hosts);
    EXPECT_EQ(again->meta.host_of_rank, trace.meta.host_of_rank);
    EXPECT_EQ(again->meta.ranks, 25u);
    EXPECT_EQ(again->meta.duration_ns, trace.meta.duration_ns);
    EXPECT_TRUE(again->meta.complete);
    ASSERT_EQ(again->losses.size(), 1u);
    EXPECT_EQ(again->losses[0].calls, 17u);
    EXPECT_EQ(again->losses[0].detail, "no space left");
    EXPECT_EQ(encoded(*again), bytes) << "encoding what was decoded gives the same bytes";
    EXPECT_TRUE(check(bytes).empty());
  }
}

// Readers refuse an expansion beyond the limit, and what compresses better is stored compressed all
// the same.
TEST(RoundTrip, CompressesBeyondTheLimit) {
  testing::SyntheticRank rank(0, 1);
  const uint32_t site = rank.site(0x40);
  constexpr size_t kLong = size_t{5} << 20;
  for (const char letter : {'a', 'b', 'c'})
    rank.call(testing::Sig(7, site).text(std::string(kLong, letter)));
  const std::string bytes = encoded(testing::merge_all({rank.finish()}));
  EXPECT_LT(bytes.size(), 3 * kLong / kMaxExpansion + 1000);
  EXPECT_GT(bytes.size(), (3 * kLong - kFreeRawBytes) / kMaxExpansion);
  auto again = decode(bytes, "t.rfn");
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(again->signatures.size(), 3U);
  EXPECT_EQ(encoded(*again), bytes);
  EXPECT_TRUE(check(bytes).empty());
}

TEST(RoundTrip, TimeKeepsItsBounds) {
  const TraceData trace = testing::merge_all(halo(4, false, 200));
  auto again = decode(encoded(trace), "t.rfn");
  ASSERT_TRUE(again.ok());
  const auto near = [](double value, double truth, double bound) {
    return std::abs(value - truth) <= bound * truth + 0.5;
  };
  for (size_t i = 0; i < trace.durations.size(); ++i) {
    const DurationStats& t = trace.durations[i];
    const DurationStats& d = again->durations[i];
    EXPECT_EQ(d.count, t.count);
    EXPECT_TRUE(near(static_cast<double>(d.min_ns), static_cast<double>(t.min_ns), 0.001));
    EXPECT_TRUE(near(static_cast<double>(d.max_ns), static_cast<double>(t.max_ns), 0.001));
    EXPECT_TRUE(near(d.sum_ns / static_cast<double>(d.count),
                     t.sum_ns / static_cast<double>(t.count), 0.001));
    // Counts within their square roots; what that leaves is in one bucket.
    for (size_t b = 0; b < d.histogram.size(); ++b) {
      const auto found = static_cast<double>(d.histogram[b]);
      const auto truth = static_cast<double>(t.histogram[b]);
      const double of_all = 2 * std::sqrt(static_cast<double>(t.count));
      EXPECT_TRUE(near(found, truth, 0.045) || std::abs(found - truth) <= of_all);
    }
  }
  for (size_t r = 0; r < trace.totals.size(); ++r)
    EXPECT_TRUE(near(static_cast<double>(again->totals[r].in_mpi_ns),
                     static_cast<double>(trace.totals[r].in_mpi_ns), 0.001));
}

TEST(RoundTrip, TimeCodes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t ns = random() >> random() % 64;
    const uint16_t code = time_code(ns);
    const uint64_t back = time_of(code);
    ASSERT_EQ(time_code(back), code) << ns;
    if (code > kMaxTimeCode) continue;  // rounded beyond 64 bits
    const double error = std::abs(static_cast<double>(back) - static_cast<double>(ns));
    ASSERT_LE(error, static_cast<double>(ns) / 2048) << ns;
  }
  EXPECT_EQ(time_of(time_code(0)), 0u);
  EXPECT_EQ(time_of(time_code(2047)), 2047u);
}

TEST(RoundTrip, ShareCodes) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t whole = 1 + (random() >> (34 + random() % 30));  // below 2^30
    const uint64_t part = random() % (whole + 1);
    const uint8_t code = share_code(part, whole);
    const uint64_t back = share_of(code, whole);
    ASSERT_EQ(share_code(back, whole), code) << part << " of " << whole;
    ASSERT_LE(std::abs(static_cast<double>(back) - static_cast<double>(part)),
              0.045 * static_cast<double>(part) + 0.5);
  }
}

TEST(RoundTrip, HaloFilesAreSmallAndFlat) {
  const auto without_totals = [](const std::string& bytes) {
    double n = 0;
    const auto sizes = section_sizes(bytes, "t.rfn");
    for (const SectionSize& s : *sizes) {
      if (s.type == SectionType::kTotals) n += s.stored_bytes;
      if (std::getenv("REFRAIN_TEST_SIZES") != nullptr)
        std::printf("  %-12s raw %6llu stored %8.1f\n", std::string(to_string(s.type)).c_str(),
                    static_cast<unsigned long long>(s.raw_bytes), s.stored_bytes);
    }
    if (std::getenv("REFRAIN_TEST_SIZES") != nullptr) std::printf("%zu bytes\n", bytes.size());
    return bytes.size() - static_cast<size_t>(n);
  };
  for (const bool periodic : {false, true}) {
    const std::string small = one_host(halo(8, periodic, 500));
    const std::string large = one_host(halo(64, periodic, 20));
    EXPECT_LT(small.size(), 3500u);
    // Larger numbers take a byte more here and there, nothing else may.
    EXPECT_LT(without_totals(large), without_totals(small) + 100);
  }
}

TEST(RoundTrip, InconsistentTracesAreNotWritten) {
  TraceData trace = testing::merge_all(halo(2, false, 3));
  trace.groups[0].signatures[0] = 9999;
  auto bytes = encode(trace);
  ASSERT_FALSE(bytes.ok());
  EXPECT_NE(bytes.error().message.find("rule 32"), std::string::npos) << bytes.error().message;
}

TEST(WriteFile, IsWholeOrNotThere) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("refrain_write_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / "a.rfn";
  ASSERT_TRUE(write_file_atomically(path, "first").ok());
  ASSERT_TRUE(write_file_atomically(path, "second").ok());
  EXPECT_EQ(*read_file(path), "second");
  const auto entries = [&] {
    return std::distance(std::filesystem::directory_iterator(folder),
                         std::filesystem::directory_iterator());
  };
  EXPECT_EQ(entries(), 1);
  EXPECT_FALSE(write_file_atomically(folder / "none" / "a.rfn", "x").ok());
  EXPECT_FALSE(write_file_atomically(folder, "x").ok());
  EXPECT_EQ(entries(), 1);
  auto error = read_file(folder / "missing.rfn");
  ASSERT_FALSE(error.ok());
  EXPECT_NE(error.error().to_string().find("missing.rfn: cannot read"), std::string::npos);
  EXPECT_FALSE(read_file(folder).ok());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace refrain::format
