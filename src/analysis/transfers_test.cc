#include "events/buffers/transfers.h"

#include <gtest/gtest.h>

#include <string_view>

#include "analysis/matrix.h"
#include "reader/test_trace.h"

namespace refrain::analysis {
namespace {

using reader::me_plus;
using reader::ShapeWriter;
using reader::TraceBuilder;

// Ranks 0 to 3 with a few definitions; opened once all signatures are there.
class Transfers : public testing::Test {
 protected:
  uint32_t add(ShapeWriter& shape) {
    calls_.push_back(builder_.signature(shape));
    return calls_.back();
  }

  std::vector<events::Transfer> of(uint32_t signature, Rank rank) {
    if (builder_.data().groups.empty()) builder_.group({0, 1, 2, 3}, calls_);
    const Trace trace = builder_.open();
    RankReader reader(trace, rank);
    return events::TransferReader(reader).transfers(signature);
  }

  uint64_t bytes_of(uint32_t signature, Rank rank) {
    const std::vector<events::Transfer> all = of(signature, rank);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? 0 : all[0].bytes;
  }

  TraceBuilder builder_{4};
  uint32_t world_ = builder_.world();
  uint32_t int_ = builder_.predefined_type("MPI_INT", 4);
  uint32_t double_ = builder_.predefined_type("MPI_DOUBLE", 8);
  std::vector<uint32_t> calls_;
};

TEST_F(Transfers, TranslatesASubCommunicator) {
  const uint32_t reversed = builder_.comm(1, {3, 2, 1, 0});
  ShapeWriter send("MPI_Send");
  send.none().none().integer(10).object(int_).integer(0).integer(5).object(reversed);
  const uint32_t id = add(send);
  const std::vector<events::Transfer> sent = of(id, 1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].source, 1);
  EXPECT_EQ(sent[0].dest, 3);
  EXPECT_EQ(sent[0].bytes, 40U);
  EXPECT_EQ(sent[0].kind, events::TransferKind::kP2p);
}

TEST_F(Transfers, TranslatesAnInterCommunicator) {
  builder_ = TraceBuilder(8);  // the remote side is in the world, too, but left nothing
  builder_.data().meta.complete = false;
  int_ = builder_.predefined_type("MPI_INT", 4);
  const uint32_t inter = builder_.comm(1, {0, 1, 2, 3}, {7, 6});
  ShapeWriter send("MPI_Isend");
  send.none().none().integer(1).object(int_).integer(1).integer(5).object(inter).new_request(0);
  const uint32_t id = add(send);
  const std::vector<events::Transfer> sent = of(id, 2);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].dest, 6);
}

TEST_F(Transfers, ProcNullReceivesAndFailedCallsMoveNothing) {
  ShapeWriter null("MPI_Send");
  null.none().none().integer(10).object(int_).constant("MPI_PROC_NULL").integer(5).object(world_);
  ShapeWriter receive("MPI_Recv");
  receive.none().none().integer(10).object(int_).integer(0).integer(5).object(world_).none();
  ShapeWriter failed("MPI_Send");
  failed.none().none().integer(10).object(int_).integer(0).integer(5).object(world_);
  failed.tag(format::FieldTag::kResult).array(2);
  failed.repeat(1).integer(6).repeat(1).constant("MPI_ERR_RANK");
  const uint32_t a = add(null), b = add(receive), c = add(failed);
  EXPECT_TRUE(of(a, 1).empty());
  EXPECT_TRUE(of(b, 1).empty());
  EXPECT_TRUE(of(c, 1).empty());
}

TEST_F(Transfers, PersistentSendsMoveAtTheirStart) {
  ShapeWriter init("MPI_Send_init");
  init.none().none().integer(3).object(double_).integer(me_plus(1)).integer(5).object(world_);
  init.new_request(0);
  const uint32_t request = add(init);
  ShapeWriter receive("MPI_Recv_init");
  receive.none().none().integer(3).object(double_).integer(0).integer(5).object(world_);
  receive.new_request(0);
  const uint32_t other = add(receive);
  ShapeWriter start("MPI_Start");
  start.none().request(request);
  const uint32_t one = add(start);
  ShapeWriter all("MPI_Startall");
  all.none().integer(3).array(3).repeat(2).request(request).repeat(1).request(other);
  const uint32_t three = add(all);
  EXPECT_TRUE(of(request, 1).empty());
  ASSERT_EQ(of(one, 1).size(), 1U);
  EXPECT_EQ(of(one, 1)[0].dest, 2);
  EXPECT_EQ(of(one, 1)[0].bytes, 24U);
  ASSERT_EQ(of(three, 1).size(), 1U);
  EXPECT_EQ(of(three, 1)[0].repeat, 2U);
}

TEST_F(Transfers, PartitionedSendsMultiplyByTheirPartitions) {
  ShapeWriter init("MPI_Psend_init");
  init.none().none().integer(4).integer(3).object(double_).integer(0).integer(5).object(world_);
  init.none().new_request(0);
  const uint32_t request = add(init);
  ShapeWriter start("MPI_Start");
  start.none().request(request);
  EXPECT_EQ(bytes_of(add(start), 1), 4U * 3 * 8);
}

TEST_F(Transfers, OnlyTheRootOfABroadcastSends) {
  ShapeWriter bcast("MPI_Bcast");
  bcast.none().none().integer(5).object(int_).integer(2).object(world_);
  const uint32_t id = add(bcast);
  EXPECT_EQ(bytes_of(id, 2), 20U);
  EXPECT_TRUE(of(id, 1).empty());
  const Matrix pairs = matrix(builder_.open(), MatrixKind::kAll);
  EXPECT_TRUE(pairs.entries.empty());
  EXPECT_EQ(pairs.collective_calls, 4U);
}

TEST_F(Transfers, AlltoallCountsEveryPartner) {
  ShapeWriter all("MPI_Alltoall");
  all.none().none().integer(2).object(int_).none().integer(2).object(int_).object(world_);
  ShapeWriter in_place("MPI_Alltoall");
  in_place.none().constant("MPI_IN_PLACE").integer(0).none().none().integer(3).object(int_);
  in_place.object(world_);
  const uint32_t a = add(all), b = add(in_place);
  EXPECT_EQ(bytes_of(a, 0), 2U * 4 * 4);
  EXPECT_EQ(bytes_of(b, 0), 3U * 4 * 4);
}

TEST_F(Transfers, AlltoallwAddsCountsTimesTypes) {
  ShapeWriter all("MPI_Alltoallw");
  all.none().none();
  all.array(4).repeat(1).integer(1).repeat(1).integer(2).repeat(2).integer(3);  // sendcounts
  all.none();                                                                   // sdispls
  all.array(4).repeat(2).object(int_).repeat(2).object(double_);                // sendtypes
  all.none().none().none().none().object(world_);
  EXPECT_EQ(bytes_of(add(all), 0), 1U * 4 + 2 * 4 + 2 * 3 * 8);
}

TEST_F(Transfers, NeighboursFollowFromTheCallThatMadeTheTopology) {
  const uint32_t grid = builder_.comm(1, {0, 1, 2, 3});
  ShapeWriter neighbours("MPI_Neighbor_alltoall");
  neighbours.none().none().integer(2).object(int_).none().integer(2).object(int_).object(grid);
  const uint32_t exchange = add(neighbours);
  ASSERT_EQ(of(exchange, 0).size(), 1U);
  EXPECT_FALSE(of(exchange, 0)[0].is_sized);  // nobody made the topology
  builder_.data().groups.clear();
  builder_.data().grammars.clear();
  ShapeWriter create("MPI_Cart_create");
  create.none().object(world_).integer(2).array(2).repeat(2).integer(2);
  create.array(2).repeat(2).integer(1).integer(0).object(grid);
  add(create);
  EXPECT_EQ(bytes_of(exchange, 0), 4U * 2 * 4);
}

TEST_F(Transfers, NeighboursOfAGraphAndOfItsCopyAreItsEdges) {
  const uint32_t graph = builder_.comm(1, {0, 1, 2, 3});
  const uint32_t copy = builder_.comm(2, {0, 1, 2, 3});
  // A star: everyone is a neighbour of 0.
  ShapeWriter create("MPI_Graph_create");
  create.none().object(world_).integer(4).array(4);
  create.repeat(1).integer(3).repeat(1).integer(4).repeat(1).integer(5).repeat(1).integer(6);
  create.array(6).repeat(1).integer(1).repeat(1).integer(2).repeat(1).integer(3);
  create.repeat(3).integer(0).integer(0).object(graph);
  ShapeWriter dup("MPI_Comm_dup");
  dup.none().object(graph).object(copy);
  ShapeWriter neighbours("MPI_Ineighbor_alltoall");
  neighbours.none().none().integer(2).object(int_).none().integer(2).object(int_).object(copy);
  neighbours.new_request(0);
  const uint32_t exchange = add(neighbours);
  add(dup), add(create);
  EXPECT_EQ(bytes_of(exchange, 0), 3U * 2 * 4);
  EXPECT_EQ(bytes_of(exchange, 2), 1U * 2 * 4);
}

// Edges of a graph that rank 3 names all, and the others none.
class GraphOfAll : public Transfers {
 protected:
  uint32_t make(std::vector<int64_t> degrees) {
    ShapeWriter create("MPI_Dist_graph_create");
    create.none().object(world_).integer(static_cast<int64_t>(degrees.size()));
    create.array(degrees.size());
    for (size_t i = 0; i < degrees.size(); ++i) create.repeat(1).integer(static_cast<int64_t>(i));
    create.array(degrees.size());
    for (const int64_t degree : degrees) create.repeat(1).integer(degree);
    create.none().none().none().integer(0).object(graph_);
    return builder_.signature(create);
  }
  uint32_t exchange() {
    ShapeWriter neighbours("MPI_Neighbor_alltoall");
    neighbours.none().none().integer(2).object(int_).none().integer(2).object(int_).object(graph_);
    return builder_.signature(neighbours);
  }
  uint32_t graph_ = builder_.comm(1, {0, 1, 2, 3});
};

TEST_F(GraphOfAll, IsReadFromTheCallsOfAllRanks) {
  const uint32_t none = make({}), all = make({3, 0, 1, 1}), used = exchange();
  builder_.group({0, 1, 2}, {none, used});
  builder_.group({3}, {all, used});
  EXPECT_EQ(bytes_of(used, 0), 3U * 2 * 4);
  EXPECT_TRUE(of(used, 1).empty());
  EXPECT_EQ(bytes_of(used, 2), 1U * 2 * 4);
}

TEST_F(GraphOfAll, IsNotKnownWhereItsNameIsUsedAgainOrARankIsMissing) {
  const uint32_t none = make({}), all = make({3, 0, 1, 1}), other = make({1}), used = exchange();
  builder_.group({0, 1, 2}, {none, used});
  builder_.group({3}, {all, used, other, used});
  ASSERT_EQ(of(used, 0).size(), 1U);
  EXPECT_FALSE(of(used, 0)[0].is_sized);
  builder_.data().groups.clear();
  builder_.data().grammars.clear();
  builder_.data().meta.complete = false;
  builder_.group({0, 1, 2}, {none, used});
  ASSERT_EQ(of(used, 0).size(), 1U);
  EXPECT_FALSE(of(used, 0)[0].is_sized);
}

TEST_F(Transfers, GetsFlowFromTheTarget) {
  base::ByteWriter id;
  id.put_zigzag(0);
  const uint32_t win = builder_.define(format::DefinitionKind::kWin, id.take(), {world_});
  ShapeWriter get("MPI_Get"), put("MPI_Put");
  for (ShapeWriter* shape : {&get, &put})
    shape->none()
        .none()
        .integer(2)
        .object(int_)
        .integer(3)
        .integer(0)
        .integer(2)
        .object(int_)
        .object(win);
  const uint32_t a = add(get), b = add(put);
  ASSERT_EQ(of(a, 1).size(), 1U);
  EXPECT_EQ(of(a, 1)[0].source, 3);
  EXPECT_EQ(of(a, 1)[0].dest, 1);
  ASSERT_EQ(of(b, 1).size(), 1U);
  EXPECT_EQ(of(b, 1)[0].source, 1);
  EXPECT_EQ(of(b, 1)[0].dest, 3);
  const Matrix rma = matrix(builder_.open(), MatrixKind::kRma);
  EXPECT_EQ(rma.messages, 8U);
  EXPECT_EQ(rma.other_kind_messages, 0U);
  const Matrix p2p = matrix(builder_.open(), MatrixKind::kP2p);
  EXPECT_TRUE(p2p.entries.empty());
  EXPECT_EQ(p2p.other_kind_messages, rma.messages + rma.other_world_messages);
}

}  // namespace
}  // namespace refrain::analysis
