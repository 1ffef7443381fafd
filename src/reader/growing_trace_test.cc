#include "reader/growing_trace.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "reader/test_trace.h"
#include "refrain/calls.h"

namespace refrain::reader {
namespace {

format::Definition comm(int64_t id, const std::vector<int64_t>& members) {
  format::CommDefinition comm;
  comm.id = id;
  comm.has_members = true;
  for (const int64_t m : members) comm.local.append(m);
  return {format::DefinitionKind::kComm, format::write_comm(comm), {}};
}

TEST(GrowingTrace, ShowsWhatIsAdded) {
  GrowingTrace growing(6, "growing");
  const Trace trace = growing.trace();
  EXPECT_EQ(trace.rank_count(), 6);
  EXPECT_TRUE(trace.locations(0).empty());
  EXPECT_EQ(trace.world(3).size(), 6u);
  ASSERT_TRUE(growing.add(comm(1, {5, 3})));
  const std::optional<Communicator> first = trace.communicator(DefinitionId(0), 3);
  ASSERT_TRUE(first);
  // What was given out stays, however many come.
  for (int64_t i = 2; i < 2000; ++i) ASSERT_TRUE(growing.add(comm(i, {0, i % 6})));
  EXPECT_EQ(trace.definition_count(), 1999u);
  EXPECT_EQ(first->member(0), 5);
  EXPECT_EQ(first->me, 1);
  EXPECT_EQ(trace.communicator(DefinitionId(1998), 0)->id, 1999);
}

TEST(GrowingTrace, SignaturesHaveTheValuesOfTheirRank) {
  GrowingTrace growing(6, "growing");
  ASSERT_TRUE(growing.add(comm(1, {5, 3})));
  RankReader reader(growing.trace(), 3);
  EXPECT_TRUE(reader.signature(0).name.empty());
  for (const int64_t tag : {7, 8}) {
    const format::StoredSignature made = ShapeWriter("MPI_Recv")
                                             .none()
                                             .none()
                                             .integer(1)
                                             .none()
                                             .integer(0)
                                             .integer(tag)
                                             .object(0u)
                                             .none()
                                             .take();
    std::vector<int64_t> values;
    for (const RankExpr& e : made.slots) values.push_back(e.a);
    growing.add_signature(made.shape, values);
  }
  EXPECT_EQ(growing.trace().signature_count(), 2u);
  EXPECT_EQ(reader.signature(0).name, "MPI_Recv");
  EXPECT_EQ(reader.signature(0).find("tag")->number, 7);
  EXPECT_EQ(reader.signature(1).find("tag")->number, 8);
  EXPECT_EQ(reader.signature(1).context, DefinitionId(0));
}

TEST(GrowingTrace, LeavesOutWhatMakesNoSense) {
  GrowingTrace growing(2, "growing");
  EXPECT_FALSE(growing.add({format::DefinitionKind::kComm, "", {}}));
  EXPECT_FALSE(growing.add({format::DefinitionKind::kPath, "", {0}}));
  EXPECT_EQ(growing.trace().definition_count(), 0u);
  EXPECT_TRUE(growing.add(comm(4, {1, 0})));
  EXPECT_EQ(growing.trace().definition_count(), 1u);
}

}  // namespace
}  // namespace refrain::reader
