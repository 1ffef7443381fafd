// The section `posix`: what comes back is what was written, however the ranks were merged.
#include "format/posix.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/encode/section_writers.h"
#include "format/testing/sections.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

using Uses = std::vector<PosixUse>;

TEST(PosixNames, AreAllThere) {
  for (size_t f = 0; f < kPosixFunctions; ++f) {
    EXPECT_FALSE(posix_name(static_cast<uint8_t>(f)).empty()) << f;
    for (size_t g = 0; g < f; ++g) EXPECT_NE(kPosixNames[g], kPosixNames[f]);
  }
  EXPECT_EQ(posix_name(static_cast<uint8_t>(PosixFunction::kFflush)), "fflush");
  EXPECT_EQ(posix_name(static_cast<uint8_t>(PosixFunction::kWrite)), "write");
  EXPECT_EQ(posix_name(static_cast<uint8_t>(PosixFunction::kCopyFileRange)), "copy_file_range");
  EXPECT_EQ(posix_name(static_cast<uint8_t>(PosixFunction::kVfscanf)), "vfscanf");
}

TEST(PosixTimes, AreWithinTheirError) {
  uint16_t before = 0;
  for (uint64_t ns = 0; ns < 1'000'000; ns += 1 + ns / 100) {
    const uint16_t code = posix_time_code(ns);
    ASSERT_GE(code, before);
    before = code;
    const uint64_t back = posix_time_of(code);
    ASSERT_EQ(posix_time_code(back), code);
    ASSERT_LE(std::max(back, ns) - std::min(back, ns), ns < 64 ? 0 : ns / 64) << ns;
  }
}

TEST(PosixCounters, OfADeadProcessAreMadeSound) {
  PosixCounter counters[kPosixFunctions] = {};
  counters[3] = {2, 5, 10, 100, 71, 300, {}};  // more errors than calls, the longest beyond all
  counters[4] = {0, 0, 9, 9, 9, 9, {}};        // a call that did not come to its end
  counters[5] = {1, 0, 0, 40, 0, 40, {}};
  const Uses uses = posix_uses(counters, [](uint64_t ticks) { return 2 * ticks; });
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0], (PosixUse{3, 2, 2, 10, 200, 140, 200}));
  EXPECT_EQ(uses[1], (PosixUse{5, 1, 0, 0, 80, 0, 80}));
  for (const PosixUse& use : uses) EXPECT_EQ(problem_of(use), "");
}

TEST(PosixUses, ReadAsWritten) {
  const Uses uses = {
      {0, 1, 1, 0, 5, 5, 5}, {5, 1000, 0, 1 << 20, 900, 1, 800}, {200, 1, 0, 0, 0, 0, 0}};
  base::ByteWriter out;
  put(out, uses);
  base::ByteReader in(out.view());
  EXPECT_EQ(read_posix_uses(in), uses);
  EXPECT_TRUE(in.ok() && in.at_end());
  for (size_t n = 0; n < out.size(); ++n) {
    base::ByteReader cut(out.view().substr(0, n));
    EXPECT_TRUE(read_posix_uses(cut).empty());
    EXPECT_FALSE(cut.ok()) << n;
  }
  for (const Uses& wrong :
       {Uses{{1, 0, 0, 0, 0, 0, 0}}, Uses{{1, 1, 2, 0, 0, 0, 0}}, Uses{{1, 1, 0, 0, 1, 2, 2}},
        Uses{{1, 1, 0, 0, 2, 2, 1}}, Uses{{1, 1, 0, UINT64_MAX, 2, 1, 1}},
        Uses{{2, 1, 0, 0, 0, 0, 0}, {2, 1, 0, 0, 0, 0, 0}}}) {
    base::ByteWriter bytes;
    put(bytes, wrong);
    base::ByteReader reader(bytes.view());
    EXPECT_TRUE(read_posix_uses(reader).empty());
    EXPECT_FALSE(reader.ok());
  }
}

RankRecord record_of(uint64_t rank, uint64_t ranks, const Uses& uses) {
  RankRecord r = testing::SyntheticRank(rank, ranks).finish();
  r.totals.in_mpi_ns = 100;
  r.totals.outside_ns = 200;
  r.posix = uses;
  return r;
}

// As a file has them.
Uses rounded(Uses uses) {
  for (PosixUse& use : uses)
    for (uint64_t* const ns : {&use.time_ns, &use.least_ns, &use.greatest_ns})
      *ns = posix_time_of(posix_time_code(*ns));
  return uses;
}

Uses random_uses(std::mt19937_64& random) {
  Uses uses;
  for (unsigned f = static_cast<unsigned>(random() % 4); f < 256; f += 1 + random() % 90) {
    PosixUse use;
    use.function = static_cast<uint8_t>(f);
    use.calls = 1 + random() % 1000;
    use.errors = random() % 4 == 0 ? random() % (use.calls + 1) : 0;
    use.bytes = random() >> random() % 64 >> 2;
    use.time_ns = random() >> random() % 64 >> 2;
    use.greatest_ns = random() % (use.time_ns + 1);
    use.least_ns = random() % (use.greatest_ns + 1);
    uses.push_back(use);
  }
  return uses;
}

TEST(Posix, AnyRanksThroughAnyTree) {
  std::mt19937_64 random(69);
  for (int i = 0; i < 60; ++i) {
    const uint64_t ranks = 1 + random() % 20;
    const bool is_regular = random() % 3 == 0;
    std::vector<Uses> uses(ranks);
    for (uint64_t r = 0; r < ranks; ++r)
      uses[r] = is_regular && r > 0 ? uses[0] : random() % 4 == 0 ? Uses() : random_uses(random);
    std::vector<RankRecord> records;
    for (uint64_t r = 0; r < ranks; ++r) records.push_back(record_of(r, ranks, uses[r]));
    const TraceData merged = testing::merge_all(records, random());
    for (uint64_t r = 0; r < ranks; ++r) EXPECT_EQ(posix_of_rank(merged, r), uses[r]);
    const auto bytes = encode(merged);
    ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
    const auto back = decode(*bytes, "t.rfn");
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_TRUE(check(*bytes).empty());
    for (uint64_t r = 0; r < ranks; ++r) EXPECT_EQ(posix_of_rank(*back, r), rounded(uses[r]));
    EXPECT_EQ(*encode(*back), *bytes);
  }
}

uint64_t section_bytes(const TraceData& trace) {
  const auto bytes = encode(trace);
  EXPECT_TRUE(bytes.ok());
  const auto sizes = section_sizes(*bytes, "t.rfn");
  EXPECT_TRUE(sizes.ok());
  for (const SectionSize& s : *sizes)
    if (s.type == SectionType::kPosix) return static_cast<uint64_t>(s.stored_bytes);
  return 0;
}

// What docs/format.md shows.
TEST(Posix, ExampleIsWhatTheEncoderWrites) {
  std::ifstream in(REFRAIN_DOCS_DIR "/format.md");
  std::stringstream document;
  document << in.rdbuf();
  const TraceData trace =
      testing::merge_all({record_of(0, 2, {{5, 10, 0, 4096, 40'960, 1024, 8192}}),
                          record_of(1, 2, {{5, 10, 0, 4096, 43'008, 1024, 8192}})});
  std::string found;
  constexpr char kDigits[] = "0123456789abcdef";
  for (const auto& [type, raw] : testing::sections_of(trace)) {
    if (type != static_cast<uint32_t>(SectionType::kPosix)) continue;
    for (const char c : raw) {
      found += found.empty() ? "" : " ";
      found += kDigits[static_cast<uint8_t>(c) >> 4];
      found += kDigits[static_cast<uint8_t>(c) & 15];
    }
  }
  EXPECT_NE(document.str().find("```\n" + found + "\n```"), std::string::npos) << found;
}

// Ranks that call the same functions as often, and need nearly as long.
TEST(Posix, ThreeBytesForEachFunctionOfARank) {
  const auto bytes_of = [](uint64_t ranks, bool has_calls) {
    std::mt19937_64 random(1);
    TraceData trace;
    trace.meta.ranks = ranks;
    trace.meta.hosts = {"n1"};
    trace.meta.host_of_rank.append_run(0, 0, ranks);
    trace.meta.complete = false;
    trace.losses = {{"rank_missing", 0, -1, "all"}};
    trace.totals.resize(ranks);
    std::vector<PosixOfRank> all;
    for (uint64_t r = 0; r < ranks && has_calls; ++r) {
      const uint64_t ns = 100'000 + random() % 50'000;
      all.push_back({r,
                     {{4, 10, 0, 4096, ns, 5000 + random() % 1000, 20'000 + random() % 5000},
                      {5, 10, 0, 4096, ns, 5000 + random() % 1000, 20'000 + random() % 5000}}});
    }
    trace.posix = posix_columns(all);
    return section_bytes(trace);
  };
  EXPECT_EQ(bytes_of(4, false), 0U) << "no calls: no section";
  const uint64_t of_4 = bytes_of(4, true), of_104 = bytes_of(104, true);
  EXPECT_LE(of_4, 140U);
  EXPECT_LE(of_104 - of_4, 100U * 2 * 3);
  // Compressed, what is random of a time is left: from 8 KiB on.
  EXPECT_LE(bytes_of(2004, true), 2000U * 2 * 2 + 200);
}

// Whatever is wrong in a section is an error, and no crash.
TEST(Posix, DamageIsRefused) {
  TraceData trace = testing::merge_all(
      {record_of(0, 2, {{4, 2, 0, 9, 50, 20, 30}}), record_of(1, 2, {{4, 2, 1, 9, 50, 20, 30}})});
  ASSERT_TRUE(encode(trace).ok());
  const auto fails = [&](const auto& change) {
    TraceData copy = trace;
    change(copy.posix);
    return !encode(copy).ok();
  };
  EXPECT_TRUE(fails([](auto& p) { p[0].calls = {}; }));
  EXPECT_TRUE(fails([](auto& p) { p[0].times.pop_back(); }));
  EXPECT_TRUE(fails([](auto& p) { p[0].times[1].least_ns = 60; }));
  EXPECT_TRUE(fails([](auto& p) { p.push_back(p[0]); }));
  EXPECT_TRUE(fails([](auto& p) { p[0].ranks.append(2); }));
  EXPECT_TRUE(fails([](auto& p) {
    p[0].bytes = {};
    p[0].bytes.append_run(1, INT64_MAX, 2);
  }));
  EXPECT_TRUE(fails([](auto& p) {
    p[0].ranks = {};
    p[0].ranks.append_run(1, -1, 2);
  }));
}

// A byte of the section that is another one gives an error, or another sound trace.
TEST(Posix, AnyByteMayBeAnother) {
  std::mt19937_64 random(7);
  const TraceData trace = testing::merge_all({record_of(0, 3, random_uses(random)),
                                              record_of(1, 3, {{4, 2, 1, 9, 50, 20, 30}}),
                                              record_of(2, 3, random_uses(random))});
  const testing::Sections sections = testing::sections_of(trace);
  size_t refused = 0, bytes = 0;
  for (size_t s = 0; s < sections.size(); ++s) {
    if (sections[s].first != static_cast<uint32_t>(SectionType::kPosix)) continue;
    for (size_t at = 0; at < sections[s].second.size(); ++at) {
      for (const int by : {1, 2, 64, 128, 255}) {
        testing::Sections changed = sections;
        char& byte = changed[s].second[at];
        byte = static_cast<char>(static_cast<uint8_t>(byte) + by);
        const std::string file = testing::wrap(changed, kStateComplete);
        const auto back = decode(file, "t.rfn");
        refused += back.ok() ? 0 : 1;
        ++bytes;
        if (back.ok()) {
          EXPECT_TRUE(encode(*back).ok());
        }
      }
      testing::Sections cut = sections;
      cut[s].second.resize(at);
      EXPECT_EQ(decode(testing::wrap(cut, kStateComplete), "t.rfn").ok(), at == 0) << at;
    }
  }
  EXPECT_GT(bytes, 100U);
  EXPECT_GT(refused, bytes / 4);
}

}  // namespace
}  // namespace refrain::format
