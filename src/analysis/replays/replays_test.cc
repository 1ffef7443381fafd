#include "analysis/replays/replays.h"

#include <gtest/gtest.h>

#include <vector>

#include "reader/test_trace.h"

namespace refrain::analysis {
namespace {

using reader::ShapeWriter;
using reader::TraceBuilder;

// A rank that is no root in MPI_Gather, with some number of elements and some datatype to receive.
Trace gather(int64_t elements, bool has_type) {
  TraceBuilder builder(2);
  const uint32_t world = builder.world(), type = builder.predefined_type("MPI_BYTE", 1);
  ShapeWriter shape("MPI_Gather");
  shape.none().heap(-1, 0).integer(elements).object(type).constant("MPI_BOTTOM").integer(0);
  if (has_type)
    shape.object(type);
  else
    shape.none();
  builder.group({0, 1}, {builder.signature(shape.integer(1).object(world))});
  return builder.open();
}

TEST(Replays, ADatatypeThatTheCallIgnoresMayBeAny) {
  const auto same = compare_replay(gather(1, false), gather(1, true));
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(same->first);
  EXPECT_EQ(same->allowed_of(Allowed::kUnseen), 2u);
}

TEST(Replays, ANumberMayNotDiffer) {
  const auto other = compare_replay(gather(1, true), gather(2, true));
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(other->first);
  EXPECT_EQ(other->first->parameter, "sendcount");
}

// A rank that asks how much shared memory a rank has.
Trace shared(int64_t of, int64_t bytes) {
  TraceBuilder builder(1);
  ShapeWriter shape("MPI_Win_shared_query");
  shape.none().constant("MPI_WIN_NULL").integer(of).integer(bytes).integer(4).none();
  builder.group({0}, {builder.signature(shape)});
  return builder.open();
}

TEST(Replays, AnMpiMayRoundSharedMemoryUp) {
  const auto same = compare_replay(shared(0, 4096), shared(0, 16));
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(same->first);
  EXPECT_EQ(same->allowed_of(Allowed::kAnswers), 1u);
  EXPECT_TRUE(compare_replay(shared(0, 16), shared(1, 16))->first);
}

// A rank without neighbours that asks for them, with a null pointer or an array.
Trace no_neighbours(int count, bool has_array) {
  TraceBuilder builder(1);
  ShapeWriter shape("MPI_Dist_graph_neighbors");
  shape.none().object(builder.world()).integer(count);
  if (has_array)
    for (shape.array(static_cast<uint64_t>(count)); count > 0; --count) shape.repeat(1).integer(0);
  else
    shape.none();
  shape.constant("MPI_UNWEIGHTED").integer(0).none().constant("MPI_UNWEIGHTED");
  builder.group({0}, {builder.signature(shape)});
  return builder.open();
}

TEST(Replays, ANullPointerIsAnArrayOfNothing) {
  const auto same = compare_replay(no_neighbours(0, false), no_neighbours(0, true));
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(same->first);
  EXPECT_EQ(same->allowed_of(Allowed::kBuffers), 1u);
  EXPECT_TRUE(compare_replay(no_neighbours(1, false), no_neighbours(1, true))->first);
}

// A rank whose threads 1 to 3 ask for communicators' sizes as often as said.
Trace threads(const std::vector<size_t>& calls) {
  TraceBuilder builder(1);
  const uint32_t world = builder.world();
  ShapeWriter barrier("MPI_Barrier"), size("MPI_Comm_size");
  const uint32_t first = builder.signature(barrier.none().object(world));
  const uint32_t ask = builder.signature(size.none().object(world).integer(1));
  builder.group({0}, {first});
  for (size_t t = 0; t < calls.size(); ++t)
    builder.thread(t + 1, std::vector<uint32_t>(calls[t], ask));
  return builder.open();
}

TEST(Replays, ThreadsMayHaveOtherNumbers) {
  const auto itself = compare_replay(threads({1, 2, 3}), threads({1, 2, 3}));
  ASSERT_TRUE(itself.ok());
  EXPECT_FALSE(itself->first);
  EXPECT_EQ(itself->allowed_of(Allowed::kNumbers), 0u);
  const auto turned = compare_replay(threads({1, 2, 3}), threads({3, 1, 2}));
  ASSERT_TRUE(turned.ok());
  EXPECT_FALSE(turned->first);
  EXPECT_EQ(turned->allowed_of(Allowed::kNumbers), 3u);
  EXPECT_EQ(turned->calls, 7u);
  const auto other = compare_replay(threads({1, 2, 3}), threads({3, 2, 2}));
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(other->first);
  EXPECT_EQ(other->first->thread, 1u);
  EXPECT_TRUE(compare_replay(threads({1, 1}), threads({3, 1}))->first);
  EXPECT_TRUE(compare_replay(threads({1, 2}), threads({2, 1, 1}))->first);
  EXPECT_TRUE(compare_replay(threads({1, 2, 1}), threads({2, 1}))->first);
}

enum class First : uint8_t { kNothing, kOfNobody, kOfWorld };

// Questions for the size of a communicator: the first one of one that no call has made, or of
// MPI_COMM_WORLD; then one of MPI_COMM_WORLD, and a barrier likewise.
Trace sizes(First first, bool has_barrier_of_nobody = false) {
  TraceBuilder builder(2);
  const uint32_t world = builder.world();
  const auto size = [&](bool of_world) {
    ShapeWriter shape("MPI_Comm_size");
    shape.none();
    return builder.signature((of_world ? shape.object(world) : shape.none()).integer(2));
  };
  std::vector<uint32_t> calls;
  if (first != First::kNothing) calls.push_back(size(first == First::kOfWorld));
  calls.push_back(size(true));
  ShapeWriter barrier("MPI_Barrier");
  barrier.none();
  if (has_barrier_of_nobody)
    barrier.none();
  else
    barrier.object(world);
  calls.push_back(builder.signature(barrier));
  builder.group({0, 1}, calls);
  return builder.open();
}

TEST(Replays, QuestionsForMpisOwnCommunicatorAreLeftOut) {
  const auto same = compare_replay(sizes(First::kOfNobody), sizes(First::kNothing));
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(same->first);
  EXPECT_EQ(same->allowed_of(Allowed::kLeftOut), 2u);
  const auto itself = compare_replay(sizes(First::kOfNobody), sizes(First::kOfNobody));
  ASSERT_TRUE(itself.ok());
  EXPECT_FALSE(itself->first);
  EXPECT_EQ(itself->allowed_of(Allowed::kLeftOut), 0u);
}

// A recorder of the replay may not have seen how the communicator was made.
TEST(Replays, CallsOfUnseenCommunicatorsAreMadeAgain) {
  const auto same = compare_replay(sizes(First::kOfWorld), sizes(First::kOfNobody, true));
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(same->first);
  EXPECT_EQ(same->allowed_of(Allowed::kLeftOut), 0u);
}

// Calls of MPI_Send: those to rank 7, of a job of two, failed.
Trace sends(const std::vector<int64_t>& to) {
  TraceBuilder builder(2);
  const uint32_t world = builder.world(), type = builder.predefined_type("MPI_BYTE", 1);
  std::vector<uint32_t> calls;
  for (const int64_t rank : to) {
    ShapeWriter shape("MPI_Send");
    shape.none().heap(-1, 0).integer(4).object(type).integer(rank).integer(5).object(world);
    if (rank == 7)
      shape.tag(format::FieldTag::kResult)
          .array(2)
          .repeat(1)
          .integer(6)
          .repeat(1)
          .constant("MPI_ERR_RANK");
    calls.push_back(builder.signature(shape));
  }
  builder.group({0, 1}, calls);
  return builder.open();
}

TEST(Replays, WhatFailedMayBeLeftOut) {
  const auto same = compare_replay(sends({1, 7, 0, 7}), sends({1, 0}));
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(same->first);
  EXPECT_EQ(same->allowed_of(Allowed::kLeftOut), 4u);
  EXPECT_EQ(same->calls, 4u);
  // A call that failed and does not any more is a difference, and so is one that fails anew.
  for (const auto& calls : {sends({1, 0, 0}), sends({1, 7, 7, 0})}) {
    const auto other = compare_replay(sends({1, 7, 0}), calls);
    ASSERT_TRUE(other.ok());
    EXPECT_TRUE(other->first);
  }
}

// Two receives are completed together, with this error or none, and the second one is asked for
// again.
Trace waits_again(const char* error, bool is_pending) {
  TraceBuilder builder(2);
  const uint32_t world = builder.world(), type = builder.predefined_type("MPI_BYTE", 1);
  std::vector<uint32_t> calls;
  for (const int64_t tag : {2, 3}) {
    ShapeWriter shape("MPI_Irecv");
    shape.none()
        .heap(-1, 0)
        .integer(4)
        .object(type)
        .integer(0)
        .integer(tag)
        .object(world)
        .new_request(0);
    calls.push_back(builder.signature(shape));
  }
  const uint32_t first = calls[0], second = calls[1];
  ShapeWriter all("MPI_Waitall");
  all.none().integer(2).array(2).repeat(1).request(first).repeat(1).request(second).none();
  if (error != nullptr)
    all.tag(format::FieldTag::kResult).array(2).repeat(1).integer(18).repeat(1).constant(error);
  calls.push_back(builder.signature(all));
  ShapeWriter wait("MPI_Wait");
  wait.none();
  if (is_pending)
    wait.request(second);
  else
    wait.constant("MPI_REQUEST_NULL");
  calls.push_back(builder.signature(wait.none()));
  builder.group({0, 1}, calls);
  return builder.open();
}

TEST(Replays, ARequestBesideOneThatFailedMayBeComplete) {
  const auto same = compare_replay(waits_again("MPI_ERR_IN_STATUS", true),
                                   waits_again("MPI_ERR_IN_STATUS", false));
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(same->first);
  EXPECT_EQ(same->allowed_of(Allowed::kAnswers), 2u);
  // Other errors say that none was looked at.
  for (const char* const error : {static_cast<const char*>(nullptr), "MPI_ERR_REQUEST"}) {
    const auto other = compare_replay(waits_again(error, true), waits_again(error, false));
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(other->first);
    EXPECT_EQ(other->first->parameter, "request");
  }
}

// The two parts of a datatype, which are alike, are given out with these numbers and freed; then a
// vector of this many bytes is made with the last number.
Trace contents(const std::vector<int64_t>& numbers, int64_t bytes) {
  TraceBuilder builder(2);
  const auto type = [&](int64_t number, int64_t size, const char* combiner) {
    format::DatatypeDefinition made;
    made.id = number;
    made.size_bytes = made.extent_bytes = size;
    made.combiner = mpi::constant_id(combiner);
    return builder.define(format::DefinitionKind::kDatatype, format::write_datatype(made));
  };
  const uint32_t whole = type(9, 16, "MPI_COMBINER_STRUCT");
  std::vector<uint32_t> parts, calls;
  ShapeWriter get("MPI_Type_get_contents");
  get.none().object(whole).integer(0).integer(0).integer(2).none().none().array(2);
  for (const int64_t number : numbers) {
    parts.push_back(type(number, 8, "MPI_COMBINER_CONTIGUOUS"));
    get.repeat(1).object(parts.back());
  }
  calls.push_back(builder.signature(get));
  for (const uint32_t part : parts) {
    ShapeWriter free("MPI_Type_free");
    calls.push_back(builder.signature(free.none().object(part)));
  }
  ShapeWriter make("MPI_Type_vector");
  make.none().integer(2).integer(1).integer(2).object(whole);
  make.object(type(numbers.back(), bytes, "MPI_COMBINER_VECTOR"));
  calls.push_back(builder.signature(make));
  builder.group({0, 1}, calls);
  return builder.open();
}

TEST(Replays, PartsOfADatatypeHaveOneHandleOrTwo) {
  for (const auto& [one, other] :
       {std::pair<std::vector<int64_t>, std::vector<int64_t>>{{1, 1}, {3, 4}}, {{3, 4}, {1, 1}}}) {
    const auto same = compare_replay(contents(one, 32), contents(other, 32));
    ASSERT_TRUE(same.ok());
    EXPECT_FALSE(same->first) << same->first->parameter;
    EXPECT_EQ(same->calls, 8u);
    EXPECT_EQ(same->allowed_of(Allowed::kNumbers), 6u);
    const auto unlike = compare_replay(contents(one, 32), contents(other, 40));
    ASSERT_TRUE(unlike.ok());
    ASSERT_TRUE(unlike->first);
    EXPECT_EQ(unlike->first->parameter, "newtype");
  }
}

}  // namespace
}  // namespace refrain::analysis
