#include "refrain/calls.h"

#include <gtest/gtest.h>

#include "reader/test_trace.h"

namespace refrain::reader {
namespace {

using format::FieldTag;

// Four ranks in a ring: each sends to its right neighbour and receives from the left one, three
// times, and waits for both; the receive's status says what the receive asked for.
struct Ring {
  TraceBuilder builder{4};
  uint32_t send = 0, receive = 0, wait = 0;

  Ring() {
    const uint32_t world = builder.world();
    const uint32_t type = builder.predefined_type("MPI_INT", 4);
    const uint32_t here = builder.site("/bin/ring", "", 0x40);
    receive = builder.signature(ShapeWriter("MPI_Irecv")
                                    .object(here)
                                    .heap(-1, 0)
                                    .integer(10)
                                    .object(type)
                                    .integer(me_plus_mod_size(-1))
                                    .integer(7)
                                    .object(world)
                                    .new_request(0));
    send = builder.signature(ShapeWriter("MPI_Isend")
                                 .none()
                                 .heap(3, 128)
                                 .integer(10)
                                 .object(type)
                                 .integer(me_plus_mod_size(1))
                                 .integer(7)
                                 .object(world)
                                 .new_request(0));
    wait = builder.signature(ShapeWriter("MPI_Waitall")
                                 .none()
                                 .integer(2)
                                 .array(2)
                                 .repeat(1)
                                 .request(receive)
                                 .repeat(1)
                                 .request(send)
                                 .array(2)
                                 .repeat(1)
                                 .tag(FieldTag::kStatusAsPosted)
                                 .repeat(1)
                                 .none());
    builder.group({0, 1, 2, 3}, {receive, send, wait, receive, send, wait, receive, send, wait});
  }
};

TEST(Calls, ParametersAreThoseOfTheRank) {
  const Ring ring;
  const Trace trace = ring.builder.open();
  for (Rank rank = 0; rank < 4; ++rank) {
    RankReader reader(trace, rank);
    const Signature& send = reader.signature(ring.send);
    EXPECT_EQ(send.name, "MPI_Isend");
    EXPECT_EQ(send.find("dest")->number, (rank + 1) % 4);
    EXPECT_EQ(send.find("tag")->number, 7);
    EXPECT_EQ(trace.object_name(send.find("comm")->id), "MPI_COMM_WORLD");
    EXPECT_EQ(send.find("buf")->kind, ValueKind::kBuffer);
    EXPECT_EQ(send.find("buf")->offset, 128);
    EXPECT_EQ(send.find("request")->id, ring.send);
    EXPECT_EQ(send.find("no_such_parameter"), nullptr);
    EXPECT_EQ(reader.signature(ring.receive).find("source")->number, (rank + 3) % 4);
  }
}

TEST(Calls, AStatusAsPostedGetsSourceAndTagOfItsReceive) {
  const Ring ring;
  const Trace trace = ring.builder.open();
  RankReader reader(trace, 2);
  const Value& statuses = *reader.signature(ring.wait).find("array_of_statuses");
  ASSERT_EQ(statuses.size(), 2u);
  EXPECT_EQ(statuses.at(0).source(), Value::integer(1));
  EXPECT_EQ(statuses.at(0).tag(), Value::integer(7));
  EXPECT_TRUE(statuses.at(1).is_null());
}

TEST(Calls, AreWalkedInOrder) {
  const Ring ring;
  const Trace trace = ring.builder.open();
  RankReader reader(trace, 1);
  std::vector<SignatureId> seen;
  const Status status = reader.for_each_call(0, [&](const Call& call) {
    EXPECT_EQ(call.seq, seen.size());
    EXPECT_EQ(call.rank, 1);
    seen.push_back(call.signature->id);
    return seen.size() < 8;
  });
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(seen, (std::vector<SignatureId>{0, 1, 2, 0, 1, 2, 0, 1}));
}

TEST(Calls, ACursorSeeks) {
  const Ring ring;
  const Trace trace = ring.builder.open();
  RankReader reader(trace, 0);
  Result<Cursor> cursor = reader.cursor(0);
  ASSERT_TRUE(cursor.ok());
  for (const uint64_t seq : {5u, 0u, 8u, 4u}) {
    cursor->seek(seq);
    const Call* call = cursor->next();
    ASSERT_NE(call, nullptr);
    EXPECT_EQ(call->seq, seq);
    EXPECT_EQ(call->signature->id, seq % 3);
  }
  cursor->seek(9);
  EXPECT_EQ(cursor->next(), nullptr);
  cursor->seek(UINT64_MAX);
  EXPECT_EQ(cursor->next(), nullptr);
}

TEST(Calls, AThreadThatIsNotThereIsAUsageError) {
  const Ring ring;
  const Trace trace = ring.builder.open();
  RankReader reader(trace, 0);
  const Result<Cursor> cursor = reader.cursor(3);
  ASSERT_FALSE(cursor.ok());
  EXPECT_EQ(cursor.error().code, ErrorCode::kUsage);
}

TEST(Calls, ASignatureOutOfRangeHasNoName) {
  const Ring ring;
  const Trace trace = ring.builder.open();
  RankReader reader(trace, 0);
  EXPECT_TRUE(reader.signature(99).name.empty());
  EXPECT_TRUE(reader.signature_once(99).name.empty());
  const Signature once = reader.signature_once(ring.send);
  const Signature& kept = reader.signature(ring.send);
  EXPECT_EQ(once.id, kept.id);
  EXPECT_EQ(once.name, kept.name);
  EXPECT_EQ(*once.find("dest"), *kept.find("dest"));
  EXPECT_EQ(once.site, kept.site);
}

// In a communicator of the odd ranks in reverse order, `me` is the rank there; a wait for a request
// made in it counts in the same communicator, without naming it.
TEST(Calls, ExpressionsCountInTheCallsCommunicator) {
  TraceBuilder builder(6);
  const uint32_t comm = builder.comm(2, {5, 3, 1});
  const uint32_t type = builder.predefined_type("MPI_INT", 4);
  const uint32_t receive = builder.signature(ShapeWriter("MPI_Irecv")
                                                 .none()
                                                 .heap(-1, 0)
                                                 .integer(1)
                                                 .object(type)
                                                 .constant("MPI_ANY_SOURCE")
                                                 .integer(0)
                                                 .object(comm)
                                                 .new_request(0));
  const uint32_t wait = builder.signature(ShapeWriter("MPI_Wait")
                                              .none()
                                              .request(receive)
                                              .tag(FieldTag::kStatus)
                                              .integer(me_plus_mod_size(1))
                                              .integer(0));
  builder.group({1, 3, 5}, {receive, wait});
  builder.group({0, 2, 4}, {});
  const Trace trace = builder.open();
  for (const auto& [rank, source] : std::vector<std::pair<Rank, int>>{{5, 1}, {3, 2}, {1, 0}}) {
    RankReader reader(trace, rank);
    EXPECT_EQ(reader.signature(wait).find("status")->source(), Value::integer(source)) << rank;
    EXPECT_EQ(reader.signature(wait).context, comm);
  }
}

TEST(Calls, TablesGoByPositionInTheGroup) {
  TraceBuilder builder(4);
  const uint32_t world = builder.world();
  const int64_t values = builder.table_of({100, 7, 55});
  const uint32_t barrier = builder.signature(ShapeWriter("MPI_Barrier").none().object(world));
  const uint32_t abort =
      builder.signature(ShapeWriter("MPI_Abort").none().object(world).integer(table(values)));
  builder.group({0, 1, 3}, {barrier, abort});
  builder.group({2}, {barrier});
  const Trace trace = builder.open();
  RankReader last(trace, 3);
  EXPECT_EQ(last.signature(abort).find("errorcode")->number, 55);
  RankReader first(trace, 0);
  EXPECT_EQ(first.signature(abort).find("errorcode")->number, 100);
}

TEST(Calls, AMatchedMessageStandsBesideTheIgnoredStatus) {
  TraceBuilder builder(2);
  const uint32_t world = builder.world();
  const uint32_t type = builder.predefined_type("MPI_INT", 4);
  const uint32_t receive = builder.signature(ShapeWriter("MPI_Recv")
                                                 .none()
                                                 .heap(-1, 0)
                                                 .integer(1)
                                                 .object(type)
                                                 .constant("MPI_ANY_SOURCE")
                                                 .constant("MPI_ANY_TAG")
                                                 .object(world)
                                                 .tag(FieldTag::kMatched)
                                                 .integer(1)
                                                 .integer(9));
  builder.group({0}, {receive});
  builder.group({1}, {});
  const Trace trace = builder.open();
  RankReader reader(trace, 0);
  const Signature& signature = reader.signature(receive);
  EXPECT_EQ(signature.find("status")->name(), "MPI_STATUS_IGNORE");
  EXPECT_EQ(signature.matched.source(), Value::integer(1));
  EXPECT_EQ(signature.matched.tag(), Value::integer(9));
}

TEST(Calls, AnErrorHasItsCodeAndClass) {
  TraceBuilder builder(1);
  const uint32_t world = builder.world();
  const uint32_t barrier = builder.signature(ShapeWriter("MPI_Barrier")
                                                 .none()
                                                 .object(world)
                                                 .tag(FieldTag::kResult)
                                                 .array(2)
                                                 .repeat(1)
                                                 .integer(5)
                                                 .repeat(1)
                                                 .constant("MPI_ERR_COMM"));
  builder.group({0}, {barrier});
  const Trace trace = builder.open();
  RankReader reader(trace, 0);
  const Signature& signature = reader.signature(barrier);
  EXPECT_TRUE(signature.failed());
  EXPECT_EQ(signature.result, Value::integer(5));
  EXPECT_EQ(signature.error_class.name(), "MPI_ERR_COMM");
  EXPECT_EQ(signature.args.size(), 1u);
}

TEST(Calls, WhatThisVersionHasNoNameForIsNumbered) {
  TraceBuilder builder(1);
  ShapeWriter shape("MPI_Barrier");
  for (int i = 0; i < 70; ++i) shape.integer(i);
  const uint32_t id = builder.signature(shape);
  format::StoredSignature changed = builder.data().signatures.get(id);
  std::string& bytes = changed.shape;
  base::ByteReader known(bytes);
  known.varint();
  base::ByteWriter future;
  future.put_varint(60000);
  bytes.replace(0, known.position(), future.take());
  builder.data().signatures.set(id, changed);
  builder.group({0}, {id});
  const Trace trace = builder.open();
  RankReader reader(trace, 0);
  const Signature& call = reader.signature(id);
  EXPECT_EQ(call.name, "call#60000");
  ASSERT_EQ(call.args.size(), 69u) << "the first field is the call site";
  EXPECT_EQ(call.args.front().name, "arg0");
  EXPECT_EQ(call.args.back().name, "arg68");
}

TEST(Calls, TheCommunicatorOfARequestIsFoundThroughLongChains) {
  constexpr uint32_t kCount = 50'000;  // no time for looking at each chain from its end
  TraceBuilder builder(4);
  const uint32_t pair = builder.comm(3, {2, 3});
  std::vector<uint32_t> calls = {builder.signature(ShapeWriter("MPI_Irecv")
                                                       .none()
                                                       .none()
                                                       .integer(1)
                                                       .none()
                                                       .integer(me_plus(1))
                                                       .integer(7)
                                                       .object(pair)
                                                       .new_request(0))};
  for (uint32_t i = 1; i < kCount; ++i)
    calls.push_back(builder.signature(ShapeWriter("MPI_Wait")
                                          .none()
                                          .request(i - 1)
                                          .tag(FieldTag::kStatus)
                                          .integer(me_plus(1))
                                          .integer(7)));
  builder.group({2, 3}, {calls.front(), calls.back()});
  builder.group({0, 1}, {});
  const Trace trace = builder.open();
  RankReader reader(trace, 3);
  for (uint32_t i = kCount; --i > 0;) {
    const Signature& call = reader.signature(i);
    ASSERT_EQ(call.context, pair) << i;
    ASSERT_EQ(call.find("status")->source(), Value::integer(2)) << i;
  }
}

}  // namespace
}  // namespace refrain::reader
