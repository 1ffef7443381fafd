#include "refrain/definitions.h"

#include <gtest/gtest.h>

#include "base/runs.h"
#include "reader/test_trace.h"

namespace refrain::reader {
namespace {

TEST(Definitions, TheWorldHasEveryRank) {
  TraceBuilder builder(5);
  const uint32_t id = builder.world();
  builder.group({0, 1, 2, 3, 4}, {});
  const Trace trace = builder.open();
  const Communicator comm = *trace.communicator(id, 3);
  EXPECT_EQ(comm.name, "MPI_COMM_WORLD");
  EXPECT_EQ(comm.size(), 5u);
  EXPECT_EQ(comm.me, 3);
  EXPECT_EQ(comm.member(4), 4);
  EXPECT_EQ(comm.member(5), -1);
  EXPECT_EQ(comm.member(-1), -1);
  EXPECT_EQ(trace.world(2).size(), 5u);
}

TEST(Definitions, SelfIsWhoeverAsks) {
  TraceBuilder builder(5);
  format::CommDefinition self;
  self.constant = mpi::constant_id("MPI_COMM_SELF");
  const uint32_t id = builder.define(format::DefinitionKind::kComm, format::write_comm(self));
  builder.group({0, 1, 2, 3, 4}, {});
  const Trace trace = builder.open();
  const Communicator comm = *trace.communicator(id, 3);
  EXPECT_EQ(comm.size(), 1u);
  EXPECT_EQ(comm.me, 0);
  EXPECT_EQ(comm.member(0), 3);
  EXPECT_EQ(comm.member(1), -1);
}

TEST(Definitions, PeersOfAnIntercommunicatorAreInTheRemoteGroup) {
  TraceBuilder builder(5);
  const uint32_t id = builder.comm(4, {3, 1}, {0, 2, 4});
  builder.group({0, 1, 2, 3, 4}, {});
  const Trace trace = builder.open();
  const Communicator comm = *trace.communicator(id, 1);
  EXPECT_TRUE(comm.is_inter);
  EXPECT_EQ(comm.me, 1);
  EXPECT_EQ(comm.size(), 2u);
  EXPECT_EQ(comm.remote_size(), 3u);
  EXPECT_EQ(comm.peer(2), 4);
  EXPECT_EQ(comm.member(0), 3);
  EXPECT_EQ(trace.object_name(id), "comm#4");
  EXPECT_EQ(trace.communicator(id, 2)->me, -1);
}

TEST(Definitions, AWindowBelongsToItsCommunicator) {
  TraceBuilder builder(1);
  const uint32_t comm = builder.world();
  base::ByteWriter payload;
  payload.put_zigzag(6);
  const uint32_t win = builder.define(format::DefinitionKind::kWin, payload.take(), {comm});
  builder.group({0}, {});
  const Trace trace = builder.open();
  EXPECT_EQ(trace.communicator_of(win), comm);
  EXPECT_EQ(trace.communicator_of(comm), comm);
  EXPECT_EQ(trace.communicator_of(99), kNoDefinition);
  EXPECT_EQ(trace.object_name(win), "win#6");
}

TEST(Definitions, ADerivedTypeSaysHowItWasMade) {
  TraceBuilder builder(1);
  const uint32_t base_type = builder.predefined_type("MPI_DOUBLE", 8);
  format::DatatypeDefinition vector;
  vector.id = 2;
  vector.size_bytes = 48;
  vector.extent_bytes = 176;
  vector.combiner = mpi::constant_id("MPI_COMBINER_VECTOR");
  for (const int64_t v : {3, 2, 10}) vector.integers.append(v);
  const uint32_t id = builder.define(format::DefinitionKind::kDatatype,
                                     format::write_datatype(vector), {base_type});
  builder.group({0}, {});
  const Trace trace = builder.open();
  const Datatype type = *trace.datatype(id);
  EXPECT_EQ(trace.object_name(id), "datatype#2");
  EXPECT_EQ(type.size_bytes, 48);
  EXPECT_EQ(type.extent_bytes, 176);
  EXPECT_EQ(type.integers.at(2), 10);
  EXPECT_EQ(type.types, std::vector<DefinitionId>{base_type});
  EXPECT_EQ(trace.datatype(base_type)->name, "MPI_DOUBLE");
  EXPECT_FALSE(trace.communicator(id, 0).has_value());
}

TEST(Definitions, ASiteHasAModule) {
  TraceBuilder builder(1);
  const uint32_t id = builder.site("/opt/solver", "00ff", 0x1234);
  builder.group({0}, {});
  const Trace trace = builder.open();
  const Site site = *trace.site(id);
  EXPECT_EQ(site.module, "/opt/solver");
  EXPECT_EQ(site.build_id, "00ff");
  EXPECT_EQ(site.offset, 0x1234);
  EXPECT_FALSE(trace.site(id - 1).has_value()) << "that is the module";
}

TEST(Definitions, ASiteInSomethingThatIsNoModuleIsRefused) {
  TraceBuilder builder(1);
  const uint32_t world = builder.world();
  base::ByteWriter payload;
  payload.put_zigzag(1);
  builder.define(format::DefinitionKind::kSite, payload.take(), {world});
  builder.group({0}, {});
  const Result<Trace> trace = builder.try_open();
  ASSERT_FALSE(trace.ok());
  EXPECT_NE(trace.error().to_string().find("definition 1"), std::string::npos)
      << trace.error().to_string();
}

}  // namespace
}  // namespace refrain::reader
