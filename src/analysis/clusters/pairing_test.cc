// Messages of traces with lead endpoints, which are paired anew for a replay.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analysis/clusters/matching.h"
#include "analysis/clusters/test_mesh.h"
#include "analysis/clusters/written_clusters.h"
#include "events/pairing/pair_anew.h"
#include "events/payload.h"
#include "refrain/calls.h"

namespace refrain::analysis::clusters {
namespace {

// Call by call: the n-th message of a channel has two ends, and the second has room for it.
void expect_paired(const Trace& trace) {
  std::map<std::vector<int64_t>, std::pair<std::vector<int64_t>, std::vector<int64_t>>> channels;
  for (Rank r = 0; r < trace.rank_count(); ++r) {
    RankReader reader(trace, r);
    const Status read = reader.for_each_call(0, [&](const Call& call) {
      const Signature& s = *call.signature;
      const bool sends = s.name == "MPI_Send";
      if (!sends && s.name != "MPI_Recv" && s.name != "MPI_Irecv") return true;
      const Value& peer = events::argument(s, sends ? "dest" : "source");
      if (!peer.is_integer()) return true;
      const int64_t tag = events::argument(s, "tag").number;
      auto& channel = channels[{sends ? r : peer.number, sends ? peer.number : r, tag}];
      (sends ? channel.first : channel.second).push_back(events::argument(s, "count").number);
      return true;
    });
    EXPECT_TRUE(read.ok());
  }
  for (const auto& [key, ends] : channels) {
    ASSERT_EQ(ends.first.size(), ends.second.size()) << key[0] << " " << key[1] << " " << key[2];
    for (size_t i = 0; i < ends.first.size(); ++i) EXPECT_GE(ends.second[i], ends.first[i]);
  }
}

TEST(PairedAnew, ReceivesGetRoomForWhatLeadsSend) {
  const Trace trace = TestMesh{.more_below = 10}.build().open();
  const FoundClusters f = found(trace, {.has_lead_endpoints = true});
  const Trace back = written(trace, f);
  EXPECT_TRUE(back.clustering()->is_replayable) << back.clustering()->why_not;
  EXPECT_LT(matching(trace, back)->share(Compared::kCount), 1);
  events::PairedAnew counts;
  const auto paired = events::paired_trace(back, counts);
  ASSERT_TRUE(paired.ok()) << paired.error().to_string();
  EXPECT_GT(counts.widened, 0u);
  EXPECT_EQ(counts.paired + counts.left_out, 0u);
  expect_paired(*paired);
  // Exact endpoints keep sizes, too.
  const Trace exact = written(trace, found(trace, {}));
  EXPECT_TRUE(exact.clustering()->is_replayable);
  EXPECT_EQ(matching(trace, exact)->share(Compared::kCount), 1);
}

// Ranks whose partner is as far away as for nobody else.
Trace mirrored(uint64_t ranks, uint64_t alone) {
  reader::TraceBuilder b(ranks);
  const uint32_t world = b.world(), type = b.predefined_type("MPI_DOUBLE", 8);
  const uint32_t send = b.site("/app", "ab", 16), receive = b.site("/app", "ab", 32);
  for (uint64_t r = 0; r < ranks; ++r) {
    const auto peer = static_cast<int64_t>(ranks - 1 - r);
    const auto count = static_cast<int64_t>(8 + std::min(r, ranks - 1 - r));
    std::vector<uint32_t> calls;
    reader::ShapeWriter s("MPI_Send"), t("MPI_Recv");
    s.object(send).heap(1, 0).integer(count).object(type).integer(peer).integer(4).object(world);
    t.object(receive).heap(1, 0).integer(count).object(type).integer(peer).integer(4);
    t.object(world).constant("MPI_STATUS_IGNORE");
    const uint32_t sends = b.signature(s), receives = b.signature(t);
    for (int i = 0; i < 3 && r >= alone; ++i) calls.insert(calls.end(), {sends, receives});
    b.data().totals[r].in_mpi_ns = b.data().totals[r].outside_ns = 1000;
    b.group({static_cast<int64_t>(r)}, calls);
  }
  return b.open();
}

TEST(PairedAnew, EveryMessageHasTwoEnds) {
  for (const uint64_t ranks : {2, 6, 16, 30}) {
    const Trace trace = mirrored(ranks, 0);
    expect_paired(trace);
    const FoundClusters f = found(trace, {.k = 1, .has_lead_endpoints = true});
    const Trace back = written(trace, f);
    EXPECT_TRUE(back.clustering()->is_replayable) << back.clustering()->why_not;
    events::PairedAnew counts;
    const auto paired = events::paired_trace(back, counts);
    ASSERT_TRUE(paired.ok()) << paired.error().to_string();
    expect_paired(*paired);
    EXPECT_EQ(counts.left_out, 0u);
    if (ranks > 2) {
      EXPECT_GT(counts.paired, 0u);
    }
    EXPECT_EQ(paired->call_count(), trace.call_count());
    // What is paired already stays as it is.
    const auto again = events::pair_anew(*paired);
    EXPECT_FALSE(again.is_changed());
  }
}

// Phase k with the rank that differs in bit k, all at one call site: by MPI_Sendrecv, or by
// MPI_Irecv, MPI_Send and MPI_Wait.
Trace doubling(uint64_t ranks, bool at_once) {
  reader::TraceBuilder b(ranks);
  const uint32_t world = b.world(), type = b.predefined_type("MPI_DOUBLE", 8);
  const uint32_t site = b.site("/app", "ab", 16);
  for (uint64_t r = 0; r < ranks; ++r) {
    std::vector<uint32_t> phases, calls;
    const auto add = [&](reader::ShapeWriter& s) { phases.push_back(b.signature(s)); };
    for (uint64_t bit = 1; bit < ranks; bit *= 2) {
      const auto peer = static_cast<int64_t>(r ^ bit);
      if (at_once) {
        reader::ShapeWriter s("MPI_Sendrecv");
        s.object(site).heap(1, 0).integer(1).object(type).integer(peer).integer(4);
        s.heap(2, 0).integer(1).object(type).integer(peer).integer(4).object(world);
        add(s.constant("MPI_STATUS_IGNORE"));
        continue;
      }
      reader::ShapeWriter receive("MPI_Irecv"), send("MPI_Send"), wait("MPI_Wait");
      receive.object(site).heap(2, 0).integer(1).object(type).integer(peer).integer(4);
      add(receive.object(world).new_request(0));
      const uint32_t request = phases.back();
      send.object(site).heap(1, 0).integer(1).object(type).integer(peer).integer(4);
      add(send.object(world));
      add(wait.object(site).request(request).constant("MPI_STATUS_IGNORE"));
    }
    for (int i = 0; i < 3; ++i) calls.insert(calls.end(), phases.begin(), phases.end());
    b.data().totals[r].in_mpi_ns = b.data().totals[r].outside_ns = 1000;
    b.group({static_cast<int64_t>(r)}, calls);
  }
  return b.open();
}

// In phase k each send has its receive in phase k of the other rank.
void expect_phases_meet(bool at_once, events::Pairing how) {
  constexpr uint64_t kRanks = 16, kPhases = 4;
  const Trace trace = doubling(kRanks, at_once);
  const Trace back = written(trace, found(trace, {.k = 3, .has_lead_endpoints = true}));
  events::PairedAnew counts;
  const auto paired = events::paired_trace(back, counts, how);
  ASSERT_TRUE(paired.ok()) << paired.error().to_string();
  EXPECT_GT(counts.paired, 0u);
  expect_paired(*paired);
  std::vector<std::set<std::pair<int64_t, int64_t>>> sends(kPhases), receives(kPhases);
  for (Rank r = 0; r < static_cast<Rank>(kRanks); ++r) {
    RankReader reader(*paired, r);
    uint64_t sent = 0, received = 0;
    const Status read = reader.for_each_call(0, [&](const Call& call) {
      const Value* const to = call.signature->find("dest");
      const Value* const from = call.signature->find("source");
      if (to != nullptr) {
        if (to->is_integer()) sends[sent % kPhases].emplace(r, to->number);
        ++sent;
      }
      if (from != nullptr) {
        if (from->is_integer()) receives[received % kPhases].emplace(from->number, r);
        ++received;
      }
      return true;
    });
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(sent, 3 * kPhases);
    EXPECT_EQ(received, 3 * kPhases);
  }
  EXPECT_EQ(sends, receives);
  for (const auto& phase : sends) EXPECT_FALSE(phase.empty());
}

TEST(PairedAnew, ByPlacePhasesMeetThemselves) {
  expect_phases_meet(true, events::Pairing::kByPlace);
}

TEST(PairedAnew, ByOrderPhasesMeetThemselves) {
  expect_phases_meet(true, events::Pairing::kByOrder);
  expect_phases_meet(false, events::Pairing::kByOrder);
}

TEST(PairedAnew, AnEndWithoutPartnerGoesToNobody) {
  const Trace trace = mirrored(6, 1);  // rank 0 makes no calls: rank 5 has no partner
  events::PairedAnew counts;
  const auto paired = events::paired_trace(trace, counts);
  ASSERT_TRUE(paired.ok()) << paired.error().to_string();
  EXPECT_EQ(counts.left_out, 6u);
  EXPECT_EQ(counts.paired, 0u);
  expect_paired(*paired);
  RankReader reader(*paired, 5);
  const Status read = reader.for_each_call(0, [&](const Call& call) {
    const bool sends = call.signature->name == "MPI_Send";
    EXPECT_EQ(events::argument(*call.signature, sends ? "dest" : "source").name(), "MPI_PROC_NULL");
    return true;
  });
  EXPECT_TRUE(read.ok());
}

}  // namespace
}  // namespace refrain::analysis::clusters
