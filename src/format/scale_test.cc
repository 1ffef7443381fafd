// A file takes as many bytes at 4096 ranks as at 64, but for the totals of each rank, and says of
// every rank what that rank did.
#include <gtest/gtest.h>

#include <zstd.h>

#include <cstdlib>
#include <numeric>
#include <random>

#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/encode/section_writers.h"
#include "format/testing/patterns.h"
#include "grammar/builder.h"

namespace refrain::format {
namespace {

using testing::Pattern;
using Dims = std::vector<int64_t>;

constexpr uint64_t kIterations = 12;

struct Measured {
  size_t bytes = 0;  // without totals
  TraceData trace;
};

Measured measure(const Pattern& pattern, const Dims& dims, uint64_t iterations = kIterations) {
  const uint64_t ranks = testing::rank_count(dims);
  auto trace = finish(testing::merge_tree(
      0, ranks, ranks, [&](uint64_t r) { return pattern.program(r, dims, iterations); }));
  EXPECT_TRUE(trace.ok());
  Measured m;
  const auto bytes = encode(*trace);
  EXPECT_TRUE(bytes.ok()) << bytes.error().to_string();
  if (!bytes.ok()) return m;
  double totals = 0;
  const bool shown = std::getenv("REFRAIN_TEST_SIZES") != nullptr;
  const auto sizes = section_sizes(*bytes, "t.rfn");
  for (const SectionSize& s : *sizes) {
    if (s.type == SectionType::kTotals) totals += s.stored_bytes;
    if (shown)
      std::printf("  %-12s raw %6llu stored %8.1f\n", std::string(to_string(s.type)).c_str(),
                  static_cast<unsigned long long>(s.raw_bytes), s.stored_bytes);
  }
  // Time in MPI differs by a third from rank to rank here: that takes more than a byte.
  EXPECT_LE(totals, 96 + 2 * static_cast<double>(ranks));
  if (const char* folder = std::getenv("REFRAIN_TEST_FILES"); folder != nullptr)
    (void)write_file_atomically(std::string(folder) + "/" + std::to_string(ranks) + ".rfn", *bytes)
        .ok();
  m.bytes = bytes->size() - static_cast<size_t>(totals);
  auto decoded = decode(*bytes, "t.rfn");
  EXPECT_TRUE(decoded.ok()) << decoded.error().to_string();
  if (decoded.ok()) m.trace = std::move(*decoded);
  if (shown)
    std::printf("%-34s %5llu ranks: %6zu bytes, %3zu groups, %4zu signatures, %3zu grammars\n",
                pattern.name.c_str(), static_cast<unsigned long long>(ranks), m.bytes,
                m.trace.groups.size(), m.trace.signatures.size(), m.trace.grammars.size());
  return m;
}

// Instrumented, a test takes ten times as long: then the largest worlds are left to other builds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kInstrumented = true;
#elif defined(__has_feature)
constexpr bool kInstrumented = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kInstrumented = false;
#endif
constexpr int64_t kLargest = kInstrumented ? 512 : 4096;

// Every rank of a small world, some hundred of a large one.
void expect_exact(const Measured& m, const Pattern& pattern, const Dims& dims,
                  uint64_t iterations = kIterations) {
  const uint64_t ranks = testing::rank_count(dims);
  const uint64_t step = ranks <= 512 ? 1 : ranks / 97;
  for (uint64_t r = 0; r < ranks; r += step) {
    ASSERT_EQ(testing::difference(m.trace, pattern.program(r, dims, iterations)), "")
        << pattern.name << ", rank " << r << " of " << ranks;
  }
  const uint64_t last = ranks - 1;
  ASSERT_EQ(testing::difference(m.trace, pattern.program(last, dims, iterations)), "");
}

class Flat : public ::testing::TestWithParam<const char*> {};

TEST_P(Flat, NotOneByteMoreAtMoreRanks) {
  const Pattern& pattern = testing::pattern(GetParam());
  const std::vector<Dims> of_one[] = {
      {{64}, {512}, {4096}},
      {{8, 8}, {16, 32}, {64, 64}, {4, 1024}, {61, 67}},
      {{4, 4, 4}, {8, 8, 8}, {16, 16, 16}, {4, 8, 128}, {13, 9, 31}},
  };
  size_t expected = 0;
  for (Dims dims : of_one[pattern.dimensions - 1]) {
    if (pattern.name == "transpose") dims[1] = dims[0];
    // Its roots alternate from row to row, which is another list where the last row is odd.
    if (pattern.name == "rows and columns" && (dims[0] < 8 || dims[0] % 2 != 0)) dims = {62, 66};
    if (pattern.name == "pairwise exchange" && dims[0] > 512) continue;  // 4096 calls squared
    if (static_cast<int64_t>(testing::rank_count(dims)) > kLargest) continue;
    const uint64_t iterations = pattern.name == "pairwise exchange" ? 2 : kIterations;
    const Measured m = measure(pattern, dims, iterations);
    if (expected == 0) expected = m.bytes;
    EXPECT_EQ(m.bytes, expected) << pattern.name << ": " << ::testing::PrintToString(dims);
    expect_exact(m, pattern, dims, iterations);
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, Flat,
                         ::testing::Values("halo 2D", "halo 2D periodic",
                                           "halo 2D without calls at borders", "halo 3D",
                                           "halo 3D periodic", "halo 3D without calls at borders",
                                           "sweep 2D", "sweep 2D without calls at borders",
                                           "sweep 3D", "transpose", "ring", "pairwise exchange",
                                           "all-to-all-v", "rows and columns"),
                         [](const auto& of) {
                           std::string name;
                           for (const char* c = of.param; *c != 0; ++c)
                             if (std::isalnum(static_cast<unsigned char>(*c)) != 0) name += *c;
                           return name;
                         });

size_t zstd_bytes(const std::string& raw) {
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  return ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 19);
}

// One rank that goes through `terminals` calls in the order that `next` says.
size_t file_bytes(uint64_t calls, const std::function<uint64_t(uint64_t)>& next, bool* exact) {
  testing::SyntheticRank r(0, 1);
  for (uint64_t i = 0; i < calls; ++i)
    r.call(testing::Sig(7, r.site(9)).integer(static_cast<int64_t>(next(i))).object(r.world()));
  const RankRecord record = r.finish();
  auto trace = finish(std::move(*leaf(record, 1)));
  const auto bytes = encode(*trace);
  EXPECT_TRUE(bytes.ok());
  const auto back = decode(*bytes, "t.rfn");
  EXPECT_TRUE(back.ok());
  *exact = back.ok() && testing::difference(*back, record).empty();
  return bytes->size();
}

TEST(Irregular, ACallThatIsNewTakesLessThanEightBytes) {
  std::mt19937_64 random(1);
  constexpr uint64_t kCalls = kInstrumented ? 20'000 : 100'000;
  bool exact = false;
  const size_t counted = file_bytes(
      kCalls, [](uint64_t i) { return i; }, &exact);
  EXPECT_TRUE(exact);
  EXPECT_LT(counted, 4 * kCalls);
  // More of them than a reader unfolds from nothing.
  const size_t many = file_bytes(
      4 * kCalls, [](uint64_t i) { return i; }, &exact);
  EXPECT_TRUE(exact);
  EXPECT_LT(many, 5 * 4 * kCalls);
  const size_t anything = file_bytes(
      kCalls, [&](uint64_t) { return random() % 1'000'000; }, &exact);
  EXPECT_TRUE(exact);
  EXPECT_LT(anything, 8 * kCalls);
}

TEST(Irregular, AGrammarNeverTakesMoreThanTheListOfItsTerminals) {
  for (const uint64_t kinds : {3u, 40u, 700u, 70'000u}) {
    for (const uint64_t calls : {500u, 5000u, 100'000u}) {
      std::mt19937_64 random(kinds + calls);
      TraceData trace;
      grammar::Builder builder;
      base::ByteWriter varints, words;
      for (uint64_t i = 0; i < calls; ++i) {
        const auto t = static_cast<uint32_t>(random() % kinds);
        builder.append(t);
        varints.put_varint(t);
        words.put_u16(static_cast<uint16_t>(t));
        if (kinds > 65536) words.put_u16(static_cast<uint16_t>(t >> 16));
      }
      trace.grammars.push_back(builder.finish());
      Encoding encoding(trace);
      base::ByteWriter grammar;
      write_grammars(encoding, grammar);
      const size_t stored = zstd_bytes(std::string(grammar.view())) + encoding.numbers.size();
      const size_t list =
          std::min(zstd_bytes(std::string(varints.view())), zstd_bytes(std::string(words.view())));
      EXPECT_LE(stored, list + 16) << kinds << " kinds, " << calls << " calls";
    }
  }
}

TEST(FlatInPhases, RecursiveDoublingGrowsWithTheLogarithm) {
  const Pattern& pattern = testing::pattern("recursive doubling");
  size_t before = measure(pattern, {256}).bytes;
  for (int64_t ranks = 512; ranks <= kLargest; ranks *= 2) {
    const Measured m = measure(pattern, {ranks});
    // One more phase: its partner and its durations.
    EXPECT_LE(m.bytes, before + 48);
    before = m.bytes;
    expect_exact(m, pattern, {ranks});
  }
}

TEST(FlatInLoops, RotatingRoot) {
  const Pattern& pattern = testing::pattern("rotating root");
  // Once around: as many signatures as ranks.
  constexpr int64_t kMany = kInstrumented ? 256 : 1024;
  const Measured small = measure(pattern, {64}, 0), large = measure(pattern, {kMany}, 0);
  EXPECT_EQ(small.bytes, large.bytes);
  EXPECT_EQ(large.trace.signatures.size(), kMany + 4u);
  expect_exact(small, pattern, {64}, 0);
  expect_exact(large, pattern, {kMany}, 0);
  // Part of the way, and several times around.
  const Measured part = measure(pattern, {kLargest}, 50);
  EXPECT_EQ(part.bytes, measure(pattern, {64}, 50).bytes);
  expect_exact(part, pattern, {kLargest}, 50);
  EXPECT_LE(measure(pattern, {64}, 640).bytes, small.bytes + 24);
}

}  // namespace
}  // namespace refrain::format
