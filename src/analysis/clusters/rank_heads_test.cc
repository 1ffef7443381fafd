// Heads of ranks whose behaviour is known by construction.

#include "analysis/clusters/rank_heads.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <random>
#include <set>

#include "analysis/clusters/signature_event.h"
#include "analysis/clusters/structure.h"
#include "analysis/clusters/test_mesh.h"
#include "analysis/clusters/type_bits.h"
#include "grammar/builder.h"
#include "reader/test_trace.h"

namespace refrain::analysis::clusters {
namespace {

using reader::ShapeWriter;
using similarity::mean_of;
using similarity::RankFeature;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

grammar::Grammar grammar_of(const std::vector<uint32_t>& calls) {
  grammar::Builder b;
  for (const uint32_t c : calls) b.append(c);
  return b.finish();
}

TEST(SequenceHash, IsThatOfTheExpandedSequence) {
  std::mt19937_64 random(4);
  const std::vector<uint64_t> classes = {7, 8, 7, 9, 8};
  std::map<std::vector<uint64_t>, uint64_t> by_class, by_both;
  std::set<uint64_t> seen_class, seen_both;
  for (int round = 0; round < 400; ++round) {
    std::vector<uint32_t> calls;
    for (uint64_t part = 0; part < 1 + random() % 3; ++part) {
      std::vector<uint32_t> body;
      for (uint64_t i = 0; i < 1 + random() % 3; ++i)
        body.push_back(static_cast<uint32_t>(random() % classes.size()));
      for (uint64_t i = 0; i < 1 + random() % 20; ++i)
        calls.insert(calls.end(), body.begin(), body.end());
    }
    std::vector<uint64_t> expanded, both;
    std::map<uint32_t, uint64_t> number;
    for (const uint32_t c : calls) {
      expanded.push_back(classes[c]);
      both.push_back(classes[c]);
      both.push_back(number.try_emplace(c, number.size()).first->second);
    }
    const grammar::Grammar g = grammar_of(calls);
    const uint64_t h = sequence_hash(g, classes, false), e = sequence_hash(g, classes, true);
    EXPECT_EQ(by_class.try_emplace(expanded, h).first->second, h);
    EXPECT_EQ(by_both.try_emplace(both, e).first->second, e);
    seen_class.insert(h);
    seen_both.insert(e);
  }
  EXPECT_EQ(seen_class.size(), by_class.size());
  EXPECT_EQ(seen_both.size(), by_both.size());
  EXPECT_GT(by_both.size(), by_class.size());
}

TEST(RelativeRank, IsTheShorterWayAround) {
  EXPECT_EQ(relative_rank(0, 7, 8), 1);
  EXPECT_EQ(relative_rank(7, 0, 8), -1);
  EXPECT_EQ(relative_rank(4, 0, 8), 4);
  EXPECT_EQ(relative_rank(0, 4, 8), 4);
  EXPECT_EQ(relative_rank(2, 0, 5), 2);
  EXPECT_EQ(relative_rank(3, 0, 5), -2);
  EXPECT_EQ(relative_rank(0, 0, 1), 0);
  EXPECT_EQ(relative_rank(INT64_MIN, INT64_MAX, 3), relative_rank(INT64_MIN % 3, INT64_MAX % 3, 3));
}

TEST(TypeBits, AreThoseOfThePaper) {
  EXPECT_EQ(type_bit(TypeKind::kDatatype, "MPI_CHAR", 0), 0);
  EXPECT_EQ(type_bit(TypeKind::kOperation, "MPI_MAX", 0), 32);
  EXPECT_EQ(type_bit(TypeKind::kCommunicator, "MPI_COMM_SELF", 0), 55);
  std::set<uint8_t> bits;
  for (const char* name : {"MPI_CHAR", "MPI_INT", "MPI_DOUBLE", "MPI_DOUBLE_PRECISION"})
    bits.insert(type_bit(TypeKind::kDatatype, name, 0));
  for (int64_t id = 0; id < 20; ++id) bits.insert(type_bit(TypeKind::kDatatype, "", id));
  for (int64_t id = 0; id < 20; ++id) bits.insert(type_bit(TypeKind::kCommunicator, "", id));
  EXPECT_EQ(bits.size(), 44u);
}

TEST(RankHeads, AMeshHasNineStructures) {
  for (const bool skips : {false, true}) {
    const auto heads = rank_heads(TestMesh{.skips_borders = skips}.build().open());
    ASSERT_TRUE(heads.ok());
    EXPECT_EQ(count_structures(heads->heads), 9u);
    for (uint32_t r = 0; r < 30; ++r) EXPECT_EQ(heads->heads[r].rank, r);
    // Ranks 7 and 22 are inside.
    const auto& inside = heads->heads[7].signature;
    const auto& corner = heads->heads[0].signature;
    EXPECT_EQ(heads->heads[7].structure, heads->heads[22].structure);
    EXPECT_EQ(inside.call_path == corner.call_path, !skips);
    EXPECT_EQ(inside.means[mean_of(RankFeature::kSource)], 0);
    // To the right and below, 1 and 6.
    EXPECT_EQ(corner.means[mean_of(RankFeature::kSource)], 4);
    EXPECT_EQ(corner.means[mean_of(RankFeature::kDestination)], 4);
    EXPECT_EQ(inside.means[mean_of(RankFeature::kCount)], 64);
    EXPECT_EQ(inside.means[mean_of(RankFeature::kTag)], 2);
    EXPECT_EQ(inside.means[mean_of(RankFeature::kCommunication)], 1000);
    EXPECT_EQ(heads->calls[7], 81u);
    EXPECT_EQ(inside.loop, 10u);
    EXPECT_EQ(inside.types[0], uint64_t{1} << 12 | uint64_t{1} << 54);
  }
}

TEST(RankHeads, TimesOfCallsDoWhereThereAreNoTotals) {
  auto mesh = TestMesh{.has_times = true}.build();
  mesh.data().totals.clear();
  const auto heads = rank_heads(mesh.open());
  ASSERT_TRUE(heads.ok());
  const auto& third = heads->heads[3].signature;
  EXPECT_EQ(third.means[mean_of(RankFeature::kCommunication)], 1003);
  EXPECT_EQ(third.means[mean_of(RankFeature::kComputation)], 985);  // 80 gaps of 997 ns, 81 calls
}

TEST(RankHeads, LoopsOfOtherLengthAreOtherStructures) {
  reader::TraceBuilder b(3);
  const uint32_t world = b.world(), site = b.site("/app", "ab", 16);
  ShapeWriter all("MPI_Barrier");
  const uint32_t barrier = b.signature(all.object(site).object(world));
  b.group({0, 2}, std::vector<uint32_t>(20, barrier));
  b.group({1}, std::vector<uint32_t>(21, barrier));
  const auto heads = rank_heads(b.open());
  ASSERT_TRUE(heads.ok());
  EXPECT_EQ(count_structures(heads->heads), 2u);
  EXPECT_EQ(heads->heads[0].structure, heads->heads[2].structure);
  EXPECT_EQ(heads->heads[0].signature.call_path, heads->heads[1].signature.call_path);
}

// Rank 0 gets something from anybody of tag `tag` + rank; others send to rank 0.
TEST(RankHeads, WildcardsStandForWhatTheyTook) {
  reader::TraceBuilder b(4);
  const uint32_t world = b.world(), type = b.predefined_type("MPI_INT", 4);
  const uint32_t site = b.site("/app", "ab", 16);
  const auto receive = [&](int64_t from) {
    ShapeWriter s("MPI_Recv");
    s.object(site).heap(0, 0).integer(10).object(type).constant("MPI_ANY_SOURCE");
    s.constant("MPI_ANY_TAG")
        .object(world)
        .tag(format::FieldTag::kStatus)
        .integer(from)
        .integer(100 + from);
    return b.signature(s);
  };
  ShapeWriter posted("MPI_Irecv");
  posted.object(site).heap(0, 0).integer(10).object(type).constant("MPI_ANY_SOURCE").integer(5);
  const uint32_t irecv = b.signature(posted.object(world).new_request(0));
  ShapeWriter waits("MPI_Wait");
  waits.object(site).request(irecv).tag(format::FieldTag::kStatus).integer(3).integer(5);
  const uint32_t wait = b.signature(waits);
  ShapeWriter sends("MPI_Send");
  sends.object(site).heap(0, 0).integer(10).object(type).integer(0).integer(5).object(world);
  const uint32_t send = b.signature(sends);
  b.group({0}, {receive(1), receive(2), irecv, wait});
  b.group({1, 2, 3}, {send});
  const auto heads = rank_heads(b.open());
  ASSERT_TRUE(heads.ok());
  const auto mean = [&](size_t rank, RankFeature f) {
    return heads->heads[rank].signature.means[mean_of(f)];
  };
  // 1, 2 (the other way around is as far), -1.
  EXPECT_EQ(mean(0, RankFeature::kSource), 1);
  EXPECT_EQ(mean(0, RankFeature::kTag), (101 + 102 + 5 + 1) / 3);
  EXPECT_EQ(mean(0, RankFeature::kCount), 10);
  EXPECT_EQ(mean(1, RankFeature::kDestination), -1);
  EXPECT_EQ(mean(2, RankFeature::kDestination), 2);
  EXPECT_EQ(mean(3, RankFeature::kDestination), 1);
  EXPECT_EQ(heads->heads[1].structure, heads->heads[3].structure);
  EXPECT_NE(heads->heads[1].structure, heads->heads[0].structure);
}

TEST(RankHeads, WhichCallsAreEqualTellsStructuresApartButNotSequences) {
  reader::TraceBuilder b(2);
  const uint32_t world = b.world();
  const uint32_t site = b.site("/app", "ab", 16);
  const auto bcast = [&](int64_t count) {
    ShapeWriter s("MPI_Bcast");
    return b.signature(s.object(site).heap(0, 0).integer(count).none().integer(0).object(world));
  };
  const uint32_t one = bcast(1), two = bcast(2);
  b.group({0}, {one, one, one, one});
  b.group({1}, {one, two, one, two});
  const auto heads = rank_heads(b.open());
  ASSERT_TRUE(heads.ok());
  EXPECT_NE(heads->heads[0].structure, heads->heads[1].structure);
  EXPECT_EQ(heads->sequence[0], heads->sequence[1]);
}

TEST(RankHeads, OfThousandsOfRanksTakeNoTime) {
  const Trace trace = TestMesh{.columns = 64, .rows = 64}.build().open();
  const double begin = cpu_seconds();
  const auto heads = rank_heads(trace);
  ASSERT_TRUE(heads.ok());
  const double seconds = cpu_seconds() - begin;
  EXPECT_EQ(count_structures(heads->heads), 9u);
  RecordProperty("cpu_seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 10);  // 0.2 of a release build; the rest is for sanitizers
}

}  // namespace
}  // namespace refrain::analysis::clusters
