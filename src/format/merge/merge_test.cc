// Merging is exact: what is evaluated for a rank is what that rank recorded, whatever the tree.
#include "format/merge/merge.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "format/content.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

using testing::Sig;
using testing::SyntheticRank;

std::vector<RankRecord> make(uint64_t n, const std::function<RankRecord(uint64_t)>& rank) {
  std::vector<RankRecord> out;
  for (uint64_t r = 0; r < n; ++r) out.push_back(rank(r));
  return out;
}

void expect_exact(const TraceData& trace, const std::vector<RankRecord>& ranks) {
  for (const RankRecord& r : ranks)
    ASSERT_EQ(testing::difference(trace, r), "") << "rank " << r.rank;
  const auto findings = check_content(trace);
  ASSERT_TRUE(findings.empty()) << findings[0].to_string();
}

int count_kind(const TraceData& t, RankExpr::Kind kind) {
  int n = 0;
  for (const auto& s : t.signatures) {
    for (const RankExpr& e : s.slots) n += e.kind == kind;
  }
  return n;
}

TEST(Merge, HaloWithEdgesHasNineGroupsAtEverySize) {
  size_t signatures = 0;
  for (const uint64_t edge : {8u, 32u, 64u}) {
    const auto ranks =
        make(edge * edge, [&](uint64_t r) { return testing::halo_2d(r, edge, edge, false, 12); });
    const TraceData trace = testing::merge_all(ranks);
    EXPECT_EQ(trace.groups.size(), 9u);
    EXPECT_EQ(trace.grammars.size(), 1u);
    if (signatures == 0) signatures = trace.signatures.size();
    EXPECT_EQ(trace.signatures.size(), signatures) << edge;
    expect_exact(trace, ranks);
  }
}

TEST(Merge, PeriodicHaloIsOneGroupWithCartesianShifts) {
  const auto ranks = make(64, [](uint64_t r) { return testing::halo_2d(r, 8, 8, true, 12); });
  const TraceData trace = testing::merge_all(ranks);
  EXPECT_EQ(trace.groups.size(), 1u);
  // The rows wrap around as (me + c) mod size, the columns do not.
  EXPECT_GT(count_kind(trace, RankExpr::Kind::kCart), 0);
  EXPECT_GT(count_kind(trace, RankExpr::Kind::kMod), 0);
  EXPECT_EQ(trace.tables.size(), 0u);
  EXPECT_EQ(count_kind(trace, RankExpr::Kind::kDigit), 2);  // the coordinates
  expect_exact(trace, ranks);
}

TEST(Merge, PeriodicHaloInThreeDimensions) {
  for (const uint64_t edge : {2u, 3u, 4u, 8u}) {
    const auto ranks =
        make(edge * edge * edge, [&](uint64_t r) { return testing::halo_3d(r, edge, 5); });
    const TraceData trace = testing::merge_all(ranks);
    EXPECT_EQ(trace.groups.size(), 1u);
    EXPECT_LE(trace.tables.size(), 3u);  // the coordinates
    expect_exact(trace, ranks);
  }
}

RankRecord talk(uint64_t rank, uint64_t size, const std::function<void(SyntheticRank&)>& calls) {
  SyntheticRank r(rank, size);
  calls(r);
  return r.finish();
}

TEST(Merge, RingIsModuloAndOneSignature) {
  const auto ranks = make(17, [](uint64_t me) {
    return talk(me, 17, [&](SyntheticRank& r) {
      r.call(Sig(7, r.site(1)).integer(static_cast<int64_t>((me + 1) % 17)).object(r.world()));
    });
  });
  const TraceData trace = testing::merge_all(ranks);
  ASSERT_EQ(trace.signatures.size(), 1u);
  const RankExpr ring{RankExpr::Kind::kMod, 1, 0, 0};
  EXPECT_EQ(trace.signatures[0].slots[1], ring);
  expect_exact(trace, ranks);
}

TEST(Merge, XorPartners) {
  const auto ranks = make(32, [](uint64_t me) {
    return talk(me, 32, [&](SyntheticRank& r) {
      for (uint64_t bit = 1; bit < 32; bit *= 2)
        r.call(Sig(7, r.site(1)).integer(static_cast<int64_t>(me ^ bit)).object(r.world()));
    });
  });
  const TraceData trace = testing::merge_all(ranks);
  EXPECT_EQ(trace.signatures.size(), 5u);
  EXPECT_EQ(trace.tables.size(), 0u);
  expect_exact(trace, ranks);
}

TEST(Merge, RotatingRootIsOneSignatureForEachRoot) {
  const auto ranks = make(12, [](uint64_t me) {
    return talk(me, 12, [&](SyntheticRank& r) {
      for (int64_t root = 0; root < 12; ++root)
        r.call(Sig(7, r.site(1)).integer(root).object(r.world()));
    });
  });
  const TraceData trace = testing::merge_all(ranks);
  EXPECT_EQ(trace.groups.size(), 1u);
  EXPECT_EQ(trace.signatures.size(), 12u);
  EXPECT_EQ(count_kind(trace, RankExpr::Kind::kTable), 0);
  expect_exact(trace, ranks);
}

// Rows and columns of an 8 x 4 grid: the communicator is a table, ranks in it are expressions.
TEST(Merge, RowAndColumnCommunicators) {
  const auto ranks = make(32, [](uint64_t rank) {
    return talk(rank, 32, [&](SyntheticRank& r) {
      const auto me = static_cast<int64_t>(rank);
      const int64_t row = me / 8, column = me % 8;
      base::RunList in_row, in_column;
      in_row.append_run(row * 8, 1, 8);
      in_column.append_run(column, 8, 4);
      const uint32_t rows = r.comm(1, in_row), columns = r.comm(2, in_column);
      r.call(Sig(7, r.site(1)).object(rows).integer((column + 1) % 8));
      r.call(Sig(7, r.site(2)).object(columns).integer((row + 3) % 4));
      r.call(Sig(8, r.site(3)).object(columns).integer(row));
    });
  });
  const TraceData trace = testing::merge_all(ranks);
  EXPECT_EQ(trace.groups.size(), 1u);
  EXPECT_EQ(trace.signatures.size(), 3u);
  EXPECT_EQ(trace.tables.size(), 2u);
  EXPECT_EQ(count_kind(trace, RankExpr::Kind::kMod), 2);
  expect_exact(trace, ranks);
}

TEST(Merge, RequestsTakeThePlaceOfTheirCreator) {
  // MPI_Wait has no communicator: the status counts in that of the receive.
  const auto ranks = make(12, [](uint64_t rank) {
    return talk(rank, 12, [&](SyntheticRank& r) {
      const auto me = static_cast<int64_t>(rank);
      base::RunList backwards;
      backwards.append_run(11, -1, 12);
      const int64_t mine = 11 - me, from = (mine + 5) % 12;
      const uint32_t q =
          r.call(Sig(7, r.site(1)).integer(from).object(r.comm(3, backwards)).new_request(0));
      r.call(Sig(8, r.site(2)).request(q).status(from, 0));
    });
  });
  const TraceData trace = testing::merge_all(ranks);
  EXPECT_EQ(trace.signatures.size(), 2u);
  EXPECT_EQ(count_kind(trace, RankExpr::Kind::kMod), 2);
  expect_exact(trace, ranks);
}

TEST(Merge, CornerSharesTheInsidesExpression) {
  // Rank 0 alone could say "1", "me + 1" or "me xor 1"; the others say me + 1.
  const auto ranks = make(6, [](uint64_t me) {
    return talk(me, 6, [&](SyntheticRank& r) {
      if (me < 5) r.call(Sig(7, r.site(1)).integer(static_cast<int64_t>(me + 1)).object(r.world()));
      if (me == 0) r.call(Sig(9, r.site(2)).object(r.world()));
    });
  });
  const TraceData trace = testing::merge_all(ranks);
  EXPECT_EQ(trace.groups.size(), 3u);
  EXPECT_EQ(trace.signatures.size(), 2u);
  expect_exact(trace, ranks);
}

// Random programs: few forms of calls, values from many laws, some ranks deviate.
RankRecord random_rank(uint64_t rank, uint64_t size, uint64_t seed) {
  std::mt19937_64 shared(seed);  // the same decisions on all ranks
  std::mt19937_64 own(seed * 1000 + rank);
  SyntheticRank r(rank, size);
  const auto me = static_cast<int64_t>(rank), n = static_cast<int64_t>(size);
  const uint64_t width = 1 + shared() % 5;
  base::RunList members;
  for (uint64_t m = rank % width; m < size; m += width) members.append(static_cast<int64_t>(m));
  const uint32_t sub = r.comm(5, members);
  const bool deviates = shared() % 2 == 0 && own() % 4 == 0;
  std::vector<uint32_t> requests;
  const auto value = [&](uint64_t law) -> int64_t {
    switch (law % 9) {
      case 0: return 42;
      case 1: return me + 3;
      case 2: return (me + 2) % n;
      case 3: return (me + n - 1) % n;
      case 4: return me ^ 5;
      case 5: return 3 * me - 7;
      case 6:
        return (members.find(me) + 1) % std::max<int64_t>(1, static_cast<int64_t>(members.size()));
      case 7: return static_cast<int64_t>(own());  // anything at all, huge ones included
      default: return me % 3;
    }
  };
  const uint64_t calls = 3 + shared() % 12;
  for (uint64_t c = 0; c < calls; ++c) {
    Sig sig(static_cast<uint32_t>(shared() % 4 + 1), r.site(static_cast<int64_t>(shared() % 6)));
    const uint64_t form = shared() % 4;
    const uint64_t a = shared(), b = shared();
    if (form == 0) sig.object(r.world()).integer(value(a)).integer(value(b));
    if (form == 1) sig.object(sub).integer(value(a)).status(value(b), value(a + b));
    if (form == 2) sig.object(sub).ints({value(a), value(b)}).new_request(0);
    if (form == 3) {
      if (requests.empty()) continue;
      sig.request(requests[a % requests.size()]).integer(value(b));
    }
    if (deviates && shared() % 3 == 0) sig.none();
    const uint32_t t = r.call(sig);
    if (form == 2) requests.push_back(t);
  }
  return r.finish();
}

TEST(Merge, AnyRanksInAnyTreeAreExact) {
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    const uint64_t size = 1 + seed % 23;
    const auto ranks = make(size, [&](uint64_t r) { return random_rank(r, size, seed); });
    for (const uint64_t tree : {uint64_t{0}, seed, seed + 1000}) {
      const TraceData trace = testing::merge_all(ranks, tree);
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", tree " << tree);
      expect_exact(trace, ranks);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Merge, MemoryDoesNotGrowWithRegularRanks) {
  const auto bytes_at = [](uint64_t edge) {
    std::vector<RankRecord> ranks = make(edge * edge, [&](uint64_t r) {
      RankRecord record = testing::halo_2d(r, edge, edge, false, 4);
      record.host = "node";
      return record;
    });
    auto all = leaf(ranks[0], ranks.size());
    for (size_t r = 1; r < ranks.size(); ++r)
      all = merge(std::move(*all), std::move(*leaf(ranks[r], ranks.size())));
    all->totals.clear();  // these are one for each rank
    return serialise(*all).size();
  };
  const size_t small = bytes_at(8), large = bytes_at(32);
  EXPECT_LT(large, small * 2) << "sixteen times the ranks";
}

TEST(Merge, HostsAndLossesStayCompact) {
  const auto ranks = make(64, [](uint64_t me) {
    return talk(me, 64, [&](SyntheticRank& r) { r.call(Sig(1, r.site(1))); });
  });
  std::vector<RankRecord> records = ranks;
  for (RankRecord& r : records) {
    r.host = std::string("host").append(std::to_string(r.rank / 16));
    r.losses.push_back(LossRecord{"spool_full", 3, static_cast<int64_t>(r.rank), "no space"});
  }
  const TraceData trace = testing::merge_all(records, 5);
  EXPECT_EQ(trace.meta.hosts.size(), 4u);
  EXPECT_EQ(trace.meta.host_of_rank.at(33), 2);
  ASSERT_EQ(trace.losses.size(), 1u);
  EXPECT_EQ(trace.losses[0].calls, 192u);
  EXPECT_EQ(trace.losses[0].rank, -1);
}

TEST(Merge, KeepsWhatRecordingCostEachRank) {
  auto records = make(37, [](uint64_t me) {
    return talk(me, 37, [&](SyntheticRank& r) { r.call(Sig(1, r.site(1))); });
  });
  for (RankRecord& r : records) {
    r.knows_cost = r.rank != 5;
    r.cost = {1000 + r.rank * 31 % 37, 5'000'000 - r.rank * 31 % 37 * 100'000};
  }
  for (const uint64_t tree : {uint64_t{0}, uint64_t{3}, uint64_t{9}}) {
    const TraceData trace = testing::merge_all(records, tree);
    const auto bytes = encode(trace);
    ASSERT_TRUE(bytes.ok());
    const auto back = decode(*bytes, "t.rfn");
    ASSERT_TRUE(back.ok());
    const RecorderCost& cost = back->cost;
    EXPECT_EQ(cost.ranks, 36u);
    EXPECT_EQ(cost.memory_bytes.least, 1000u);
    EXPECT_EQ(cost.memory_bytes.least_rank, 0u);
    EXPECT_EQ(cost.memory_bytes.greatest, 1036u);
    EXPECT_EQ(cost.memory_bytes.greatest_rank, 31u);
    EXPECT_EQ(cost.time_ns.greatest_rank, 0u);
    EXPECT_EQ(cost.time_ns.least_rank, 31u);
    EXPECT_NEAR(cost.time_ns.sum / 36, 3'200'000, 40'000);
    for (const RankRecord& r : records) {
      const OwnCost& own = back->totals[r.rank].cost;
      EXPECT_EQ(own.memory_bytes == 0, !r.knows_cost);
      if (!r.knows_cost) continue;
      const auto memory = static_cast<double>(r.cost.memory_bytes);
      const auto time = static_cast<double>(r.cost.time_ns);
      EXPECT_NEAR(static_cast<double>(own.memory_bytes), memory, 0.03 * memory);
      EXPECT_NEAR(static_cast<double>(own.time_ns), time, 0.03 * time);
    }
  }
}

TEST(Merge, WhatRecordingCostMustBeConsistent) {
  auto trace = finish(std::move(*leaf(testing::halo_2d(0, 1, 1, false, 3), 1)));
  trace->cost.add(0, {4096, 1000});
  EXPECT_TRUE(encode(*trace).ok());
  trace->cost.memory_bytes.greatest_rank = 1;
  EXPECT_FALSE(encode(*trace).ok());
  trace->cost.memory_bytes.greatest_rank = 0;
  trace->cost.memory_bytes.sum = 8192;
  EXPECT_FALSE(encode(*trace).ok());
}

TEST(Merge, MissingRanksAreALoss) {
  auto a = leaf(testing::halo_2d(1, 2, 2, false, 3), 4);
  auto b = leaf(testing::halo_2d(3, 2, 2, false, 3), 4);
  auto trace = finish(std::move(*merge(std::move(*a), std::move(*b))));
  ASSERT_TRUE(trace.ok());
  EXPECT_FALSE(trace->meta.complete);
  EXPECT_EQ(trace->totals.size(), 4u);
  ASSERT_EQ(trace->losses.size(), 1u);
  EXPECT_EQ(trace->losses[0].reason, "rank_missing");
  EXPECT_EQ(trace->meta.host_of_rank.at(0), -1);
  const auto findings = check_content(*trace);
  EXPECT_TRUE(findings.empty()) << findings[0].to_string();
}

TEST(Merge, BrokenRecordsAreRefused) {
  RankRecord r = testing::halo_2d(0, 1, 1, true, 1);
  const ByteStrings good = std::exchange(r.signatures, {"\xff"});
  for (size_t i = 1; i < good.size(); ++i) r.signatures.push_back(good[i]);
  EXPECT_FALSE(leaf(r, 1).ok());
  r = testing::halo_2d(0, 1, 1, true, 1);
  r.durations.pop_back();
  EXPECT_FALSE(leaf(r, 1).ok());
  EXPECT_FALSE(leaf(testing::halo_2d(0, 1, 1, true, 1), 0).ok());
  auto a = leaf(testing::halo_2d(2, 2, 2, false, 1), 4);
  auto b = leaf(testing::halo_2d(1, 2, 2, false, 1), 4);
  EXPECT_FALSE(merge(std::move(*a), std::move(*b)).ok());
}

// Damaged messages between ranks: refused or harmless, never a crash.
TEST(Merge, DamagedPartialTracesAreTotal) {
  auto a = leaf(testing::halo_2d(0, 3, 3, true, 3), 9);
  auto b = leaf(testing::halo_2d(1, 3, 3, true, 3), 9);
  const std::string good = serialise(*merge(std::move(*a), std::move(*b)));
  for (size_t n = 0; n < good.size(); n += 3) EXPECT_FALSE(parse(good.substr(0, n)).ok());
  std::mt19937_64 random(7);
  size_t survived = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    for (int flips = 1 + i % 3; flips > 0; --flips)
      bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    auto p = parse(bad);
    if (!p.ok()) continue;
    ++survived;
    auto c = leaf(testing::halo_2d(8, 3, 3, true, 3), p->world_size);
    if (!c.ok()) continue;
    auto both = merge(std::move(*p), std::move(*c));
    if (both.ok()) (void)finish(std::move(*both)).ok();
  }
  EXPECT_GT(survived, 0u);  // else the later stages saw nothing
}

}  // namespace
}  // namespace refrain::format
