// What members do with the calls of their leads.

#include "analysis/clusters/lead_endpoints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analysis/clusters/cluster.h"
#include "events/payload.h"
#include "reader/test_trace.h"
#include "reader/verify/verify.h"
#include "refrain/calls.h"

namespace refrain::analysis::clusters {
namespace {

// The trace with `k` clusters and their leads' endpoints, written and read again.
base::Result<Trace> clustered(reader::TraceBuilder& b, uint64_t k) {
  for (format::RankTotals& t : b.data().totals) t.in_mpi_ns = t.outside_ns = 1000;
  const Trace trace = b.open();
  const auto found = find(trace, {.k = k, .has_lead_endpoints = true});
  if (!found.ok()) return found.error();
  const auto bytes = encode(trace, *found);
  if (!bytes.ok()) return bytes.error();
  return Trace::from_bytes(*bytes, "c.rfn");
}

// With the lead's color all members would be in its communicator.
TEST(LeadEndpoints, SplitCommunicatorsAsRecorded) {
  constexpr int64_t kRanks = 12, kColumns = 4;
  reader::TraceBuilder b(kRanks);
  const uint32_t world = b.world(), site = b.site("/app", "ab", 16);
  std::vector<int64_t> all, of_rank;
  for (int64_t row = 0; row < kRanks / kColumns; ++row) {
    std::vector<int64_t> members;
    for (int64_t c = 0; c < kColumns; ++c) members.push_back(row * kColumns + c);
    const uint32_t comm = b.comm(3, members);
    of_rank.insert(of_rank.end(), kColumns, comm);
    all.insert(all.end(), members.begin(), members.end());
  }
  using Kind = format::RankExpr::Kind;
  reader::ShapeWriter s("MPI_Comm_split");
  s.object(site).object(world).integer({Kind::kDigit, kColumns, kRanks / kColumns, 0, 5});
  s.integer({Kind::kDigit, 1, kColumns, 0, 10}).object(reader::table(b.table_of(of_rank)));
  b.group(all, {b.signature(s)});
  const auto opened = clustered(b, 1);
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const Trace& back = *opened;
  EXPECT_TRUE(back.clustering()->is_replayable) << back.clustering()->why_not;
  std::map<int64_t, std::vector<std::pair<int64_t, Rank>>> ranks_of_color;
  for (Rank r = 0; r < kRanks; ++r) {
    RankReader reader(back, r);
    const Status read = reader.for_each_call(0, [&](const Call& call) {
      const auto number = [&](const char* name) {
        return events::argument(*call.signature, name).number;
      };
      ranks_of_color[number("color")].emplace_back(number("key"), r);
      if (r == back.lead_of(r)) {
        EXPECT_EQ(number("color"), 5 * (r / kColumns));
        EXPECT_EQ(number("key"), 10 * (r % kColumns));
      }
      return true;
    });
    EXPECT_TRUE(read.ok());
  }
  ASSERT_EQ(ranks_of_color.size(), size_t{kRanks / kColumns});
  for (auto& [color, ranks] : ranks_of_color) {
    ASSERT_EQ(ranks.size(), size_t{kColumns});
    std::sort(ranks.begin(), ranks.end());
    for (size_t i = 0; i < ranks.size(); ++i)
      EXPECT_EQ(ranks[i].second, ranks[0].second / kColumns * kColumns + static_cast<Rank>(i));
  }
}

// Ranks 2 and 3 have calls on a communicator of ranks 0 and 1, as their lead does other things.
TEST(LeadEndpoints, MixedRanksHaveCallsOfTheirLead) {
  reader::TraceBuilder b(4);
  const uint32_t world = b.world(), site = b.site("/app", "ab", 16);
  const int64_t low = b.comm(3, {0, 1});
  using Kind = format::RankExpr::Kind;
  const auto barrier = [&](int64_t comm) {
    reader::ShapeWriter s("MPI_Barrier");
    s.object(site).object({Kind::kConst, comm, 0, 0});
    return b.signature(s);
  };
  b.group({0, 1}, {barrier(low)});
  b.group({2, 3}, {barrier(world)});
  for (format::RankTotals& t : b.data().totals) t.in_mpi_ns = t.outside_ns = 1000;
  const Trace trace = b.open();
  const auto found = find(trace, {.k = 1, .has_lead_endpoints = true, .mixes_structures = true});
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  const auto bytes = encode(trace, *found);
  ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
  const auto opened = Trace::from_bytes(*bytes, "c.rfn");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_FALSE(opened->clustering()->is_replayable);
  EXPECT_EQ(reader::verify(*opened, 10), std::vector<std::string>());
}

// The remote leader is a rank of another communicator than the local one.
TEST(LeadEndpoints, LeadersOfIntercommunicatorsStay) {
  const std::vector<int64_t> remote_leaders = {2, 2, 0, 0};
  reader::TraceBuilder b(4);
  const uint32_t world = b.world(), site = b.site("/app", "ab", 16);
  const int64_t low = b.comm(3, {0, 1}), high = b.comm(3, {2, 3});
  using Kind = format::RankExpr::Kind;
  reader::ShapeWriter s("MPI_Intercomm_create");
  s.object(site).object(reader::table(b.table_of({low, low, high, high})));
  s.integer({Kind::kConst, 0, 0, 0}).object(world);
  s.integer(reader::table(b.table_of(remote_leaders)))
      .integer({Kind::kConst, 7, 0, 0})
      .object(world);
  b.group({0, 1, 2, 3}, {b.signature(s)});
  const auto opened = clustered(b, 4);
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  for (Rank r = 0; r < 4; ++r) {
    if (opened->lead_of(r) != r) continue;
    RankReader reader(*opened, r);
    const Status read = reader.for_each_call(0, [&](const Call& call) {
      EXPECT_EQ(events::argument(*call.signature, "remote_leader").number,
                remote_leaders[static_cast<size_t>(r)]);
      EXPECT_EQ(events::argument(*call.signature, "local_leader").number, 0);
      return true;
    });
    EXPECT_TRUE(read.ok());
  }
}

// Each rank sends to the next one, or to the first: no rank sends more than another one does.
TEST(LeadEndpoints, OtherArraysOfCountsCannotBeReplayed) {
  constexpr int64_t kRanks = 4;
  for (const bool is_ring : {false, true}) {
    reader::TraceBuilder b(kRanks);
    const uint32_t world = b.world(), site = b.site("/app", "ab", 16);
    const uint32_t type = b.predefined_type("MPI_INT", 4);
    for (int64_t rank = 0; rank < kRanks; ++rank) {
      reader::ShapeWriter s("MPI_Alltoallv");
      const auto array = [&s](int64_t one) {
        s.array(kRanks);
        for (int64_t i = 0; i < kRanks; ++i) s.repeat(1).integer(i == one ? 5 : 0);
      };
      s.object(site).heap(0, 0);
      array(is_ring ? (rank + 1) % kRanks : 0);
      array(-1);
      s.object(type).heap(1, 0);
      array(is_ring ? (rank + kRanks - 1) % kRanks : 0);
      array(-1);
      s.object(type).object(world);
      b.group({rank}, {b.signature(s)});
    }
    const auto opened = clustered(b, 1);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    EXPECT_EQ(opened->clustering()->is_replayable, !is_ring) << opened->clustering()->why_not;
  }
}

}  // namespace
}  // namespace refrain::analysis::clusters
