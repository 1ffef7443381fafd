// The section `ranks`: what comes back is what was written, however the ranks were merged.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "format/codes/quantise.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/merge/merge.h"
#include "format/places.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

TEST(CountCode, IsExactBelow16AndNearAbove) {
  uint8_t before = 0;
  for (uint64_t n = 0; n < 100'000; ++n) {
    const uint8_t code = count_code(n);
    ASSERT_GE(code, before) << n;
    before = code;
    const uint64_t back = count_of(code);
    ASSERT_EQ(count_code(back), code) << n;
    if (n < 16) {
      ASSERT_EQ(back, n);
    } else {
      ASSERT_LE(std::max(back, n) - std::min(back, n), n / 16) << n;
    }
  }
  EXPECT_EQ(count_of(count_code(UINT64_MAX)), kMaxCount);
}

TEST(Places, ReadAsWritten) {
  for (const RankPlace& place :
       {RankPlace{2, {{0, 2}}}, RankPlace{128, {{0, 1}, {64, 1}}},
        RankPlace{8, {{1, 2}, {5, 1}, {7, 1}}}, RankPlace{1, {{1000, 1}}}}) {
    EXPECT_EQ(problem_of(place), "");
    base::ByteWriter out;
    put(out, place);
    base::ByteReader in(out.view());
    EXPECT_EQ(read_place(in), place);
    EXPECT_TRUE(in.ok() && in.at_end());
  }
  EXPECT_EQ(cpu_count({8, {{1, 2}, {5, 1}, {7, 1}}}), 4U);
}

TEST(Places, AProblemIsNamed) {
  for (const RankPlace& place :
       {RankPlace{}, RankPlace{4, {}}, RankPlace{0, {{0, 1}}}, RankPlace{4, {{0, 0}}},
        RankPlace{4, {{2, 1}, {1, 1}}}, RankPlace{4, {{0, 1}, {1, 1}}}})
    EXPECT_NE(problem_of(place), "");
}

struct Fact {
  RankPlace place;
  std::vector<OwnWork> work;
  uint64_t small_ns = 0, switches = 0;
};

RankRecord record_of(uint64_t rank, uint64_t ranks, const Fact& fact) {
  RankRecord r = testing::SyntheticRank(rank, ranks).finish();
  r.totals.in_mpi_ns = 100;
  r.totals.outside_ns = 200;
  r.totals.own_ns = fact.small_ns;
  for (const OwnWork& w : fact.work)
    for (const OwnPiece& piece : w.pieces) r.totals.own_ns += piece.ns;
  r.totals.switches = fact.switches;
  r.place = fact.place;
  r.own_work = fact.work;
  r.host = std::string("n").append(std::to_string(rank / 4));
  return r;
}

std::vector<Fact> random_facts(std::mt19937_64& random, uint64_t ranks) {
  std::vector<Fact> facts(ranks);
  const bool has_places = random() % 4 != 0, is_regular = random() % 2 == 0;
  for (uint64_t rank = 0; rank < ranks; ++rank) {
    Fact& f = facts[rank];
    const uint64_t cpu = is_regular ? rank % 4 : random() % 8;
    if (has_places && (is_regular || random() % 8 != 0)) f.place = {8, {{cpu, 1 + cpu % 2}}};
    f.small_ns = random() % 1000;
    f.switches = random() % 16;
    for (uint32_t thread = 0; thread < 3; ++thread) {
      if (random() % 2 == 0) continue;
      OwnWork w{rank, thread, {}};
      for (uint64_t call = random() % 3; call < 9; call += 1 + random() % 5)
        w.pieces.push_back({call, random() % 5'000'000'000});
      f.work.push_back(w);
    }
  }
  return facts;
}

void expect_facts(const TraceData& trace, const std::vector<Fact>& facts) {
  bool has_places = false;
  std::vector<OwnWork> work;
  for (size_t rank = 0; rank < facts.size(); ++rank) {
    const Fact& f = facts[rank];
    uint64_t own_ns = f.small_ns;
    for (const OwnWork& w : f.work) {
      work.push_back(w);
      for (const OwnPiece& piece : w.pieces) own_ns += piece.ns;
    }
    EXPECT_EQ(trace.totals[rank].own_ns, own_ns);
    EXPECT_EQ(trace.totals[rank].switches, f.switches);
    EXPECT_EQ(trace.totals[rank].outside_ns, 200U) << "own work is no part of it";
    has_places = has_places || f.place.cores > 0;
  }
  EXPECT_EQ(trace.own_work, work);
  ASSERT_EQ(trace.place_of_rank.size(), has_places ? facts.size() : 0);
  for (size_t rank = 0; rank < facts.size() && has_places; ++rank) {
    const int64_t place = trace.place_of_rank.at(rank);
    if (facts[rank].place.cores == 0) {
      EXPECT_EQ(place, -1);
    } else {
      ASSERT_GE(place, 0);
      EXPECT_EQ(trace.places[static_cast<size_t>(place)], facts[rank].place);
    }
  }
}

TEST(Ranks, AnyRanksThroughAnyTree) {
  std::mt19937_64 random(15);
  for (int i = 0; i < 60; ++i) {
    const uint64_t ranks = 1 + random() % 20;
    const std::vector<Fact> facts = random_facts(random, ranks);
    std::vector<RankRecord> records;
    for (uint64_t r = 0; r < ranks; ++r) records.push_back(record_of(r, ranks, facts[r]));
    const TraceData merged = testing::merge_all(records, random());
    expect_facts(merged, facts);
    const auto bytes = encode(merged);
    ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
    const auto back = decode(*bytes, "t.rfn");
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_TRUE(check(*bytes).empty());
    expect_facts(*back, facts);
    EXPECT_EQ(*encode(*back), *bytes);
  }
}

size_t section_bytes(const TraceData& trace) {
  const auto bytes = encode(trace);
  EXPECT_TRUE(bytes.ok());
  const auto sizes = section_sizes(*bytes, "t.rfn");
  EXPECT_TRUE(sizes.ok());
  for (const SectionSize& s : *sizes)
    if (s.type == SectionType::kRanks) return static_cast<size_t>(s.stored_bytes);
  return 0;
}

TEST(Ranks, AreAFewBytes) {
  const auto merged = [](uint64_t ranks, uint64_t own_ns) {
    std::vector<RankRecord> records;
    for (uint64_t r = 0; r < ranks; ++r) {
      Fact fact;
      fact.small_ns = own_ns;
      if (own_ns > 0) fact.place = {64, {{0, 64}}};
      records.push_back(record_of(r, ranks, fact));
    }
    return testing::merge_all(records);
  };
  EXPECT_EQ(section_bytes(merged(4, 0)), 0U) << "nothing is known: no section";
  EXPECT_EQ(section_bytes(merged(4, 5)), 7U);
  EXPECT_EQ(section_bytes(merged(100, 5)), 7U);
}

// 64 cores a host and a rank bound to each: the list of places is a loop.
TEST(Ranks, BoundToCoresOfManyHosts) {
  constexpr uint64_t kRanks = 100'000, kCores = 64;
  TraceData trace;
  trace.meta.ranks = kRanks;
  trace.meta.hosts = {"n1"};
  trace.meta.host_of_rank.append_run(0, 0, kRanks);
  trace.meta.complete = false;
  trace.losses = {{"rank_missing", 0, -1, "all"}};
  trace.totals.resize(kRanks);
  for (uint64_t core = 0; core < kCores; ++core) trace.places.push_back({kCores, {{core, 1}}});
  for (uint64_t rank = 0; rank < kRanks; ++rank)
    trace.place_of_rank.append(static_cast<int64_t>(rank % kCores));
  EXPECT_LT(section_bytes(trace), 1000U);
  const auto back = decode(*encode(trace), "t.rfn");
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_EQ(back->place_of_rank, trace.place_of_rank);
  EXPECT_EQ(back->places, trace.places);
}

TEST(Ranks, WhatContradictsItselfIsRefused) {
  std::vector<RankRecord> records;
  for (uint64_t r = 0; r < 3; ++r) {
    Fact fact;
    fact.place = {2, {{0, 2}}};
    fact.work = {{r, 0, {{1, 5}, {4, 9}}}};
    fact.small_ns = fact.switches = 1;
    records.push_back(record_of(r, 3, fact));
  }
  const TraceData good = testing::merge_all(records);
  ASSERT_TRUE(encode(good).ok());
  const auto refused = [&](auto change) {
    TraceData bad = good;
    change(bad);
    return !encode(bad).ok();
  };
  EXPECT_TRUE(refused([](TraceData& t) { t.place_of_rank.append(0); }));
  EXPECT_TRUE(refused([](TraceData& t) { t.places.clear(); }));
  EXPECT_TRUE(refused([](TraceData& t) { t.places[0].cpus.clear(); }));
  EXPECT_TRUE(refused([](TraceData& t) { t.own_work[1].rank = 0; }));
  EXPECT_TRUE(refused([](TraceData& t) { t.own_work[2].rank = 3; }));
  EXPECT_TRUE(refused([](TraceData& t) { t.own_work[0].pieces[1].call = 1; }));
}

}  // namespace
}  // namespace refrain::format
