#include "replay/prefix/prefix.h"

#include <gtest/gtest.h>

#include "reader/test_trace.h"

namespace refrain::replay {
namespace {

using reader::ShapeWriter;

// Two ranks of a job that died.
class Job {
 public:
  Job() : builder_(2), world_(builder_.world()), type_(builder_.predefined_type("MPI_BYTE", 1)) {}

  uint32_t plain(const char* name) {
    ShapeWriter s(name);
    if (std::string_view(name) == "MPI_Init")
      s.none().none().none();
    else if (std::string_view(name) == "MPI_Barrier")
      s.none().object(world_);
    else
      s.none();
    return builder_.signature(s);
  }
  uint32_t message(const char* name, Rank peer, int64_t tag) {
    ShapeWriter s(name);
    s.none().none().integer(1).object(type_).integer(peer).integer(tag).object(world_);
    if (std::string_view(name) == "MPI_Recv") s.none();
    if (name[4] == 'I') s.new_request(0);
    return builder_.signature(s);
  }
  uint32_t exchange(Rank peer, int64_t send_tag, int64_t receive_tag) {
    ShapeWriter s("MPI_Sendrecv");
    s.none().none().integer(1).object(type_).integer(peer).integer(send_tag);
    s.none().integer(1).object(type_).integer(peer).integer(receive_tag).object(world_).none();
    return builder_.signature(s);
  }
  uint32_t begin_barrier() {
    ShapeWriter s("MPI_Ibarrier");
    s.none().object(world_).new_request(0);
    return builder_.signature(s);
  }
  uint32_t wait(uint32_t request) {
    ShapeWriter s("MPI_Wait");
    s.none().request(request).none();
    return builder_.signature(s);
  }
  Trace open(const std::vector<uint32_t>& zero, const std::vector<uint32_t>& one) {
    builder_.group({0}, zero);
    builder_.group({1}, one);
    return builder_.open();
  }

 private:
  reader::TraceBuilder builder_;
  uint32_t world_, type_;
};

using Calls = std::vector<uint64_t>;

TEST(Prefix, OfATraceThatEndsIsAllOfIt) {
  Job job;
  const uint32_t init = job.plain("MPI_Init"), end = job.plain("MPI_Finalize");
  const Trace trace = job.open({init, job.message("MPI_Send", 1, 7), end},
                               {init, job.message("MPI_Recv", 0, 7), end});
  EXPECT_FALSE(ends_early(trace));
  EXPECT_EQ(consistent_prefix(trace).calls, (Calls{3, 3}));
  EXPECT_TRUE(consistent_prefix(trace).in_transit.empty());
}

TEST(Prefix, AReceiveHasItsSendInIt) {
  Job job;
  const uint32_t init = job.plain("MPI_Init");
  const uint32_t send = job.message("MPI_Send", 1, 7), receive = job.message("MPI_Recv", 0, 7);
  // The calls that rank 0 made last are lost.
  const Trace trace =
      job.open({init, send}, {init, receive, receive, job.message("MPI_Send", 0, 1)});
  EXPECT_TRUE(ends_early(trace));
  EXPECT_EQ(consistent_prefix(trace).calls, (Calls{2, 2}));
}

TEST(Prefix, WhatIsSentAndNotReceivedIsListed) {
  Job job;
  const uint32_t init = job.plain("MPI_Init");
  const Trace trace =
      job.open({init, job.message("MPI_Send", 1, 7), job.message("MPI_Isend", 1, 8)},
               {init, job.message("MPI_Recv", 0, 7)});
  const Prefix prefix = consistent_prefix(trace);
  EXPECT_EQ(prefix.calls, (Calls{3, 2}));
  ASSERT_EQ(prefix.in_transit.size(), 1u);
  EXPECT_EQ(prefix.in_transit[0].to, 1);
  EXPECT_EQ(prefix.in_transit[0].source, 0);
  EXPECT_EQ(prefix.in_transit[0].tag, 8);
}

TEST(Prefix, ACollectiveHasAllItsRanksInIt) {
  Job job;
  const uint32_t init = job.plain("MPI_Init"), barrier = job.plain("MPI_Barrier");
  const Trace trace = job.open({init, barrier, barrier, barrier}, {init, barrier});
  EXPECT_EQ(consistent_prefix(trace).calls, (Calls{2, 2}));
}

TEST(Prefix, EndsBeforeANonblockingCollectiveThatNotAllBegin) {
  Job job;
  const uint32_t init = job.plain("MPI_Init"), begin = job.begin_barrier();
  const uint32_t send = job.message("MPI_Send", 1, 7);
  const Trace trace = job.open({init, send, begin, send}, {init, job.message("MPI_Recv", 0, 7)});
  const Prefix prefix = consistent_prefix(trace);
  EXPECT_EQ(prefix.calls, (Calls{2, 2}));
  EXPECT_TRUE(prefix.in_transit.empty());
}

TEST(Prefix, ANonblockingReceiveHoldsTheCallThatCompletesIt) {
  Job job;
  const uint32_t init = job.plain("MPI_Init"), begin = job.message("MPI_Irecv", 0, 7);
  const Trace trace =
      job.open({init}, {init, begin, job.message("MPI_Send", 0, 3), job.wait(begin)});
  EXPECT_EQ(consistent_prefix(trace).calls, (Calls{1, 3}));
}

// Whoever cancels such a receive may do so before its message comes, and leave that to nobody.
TEST(Prefix, AReceiveThatNobodyCompletedIsArrivingIfItsMessageIsSent) {
  Job job;
  const uint32_t init = job.plain("MPI_Init");
  const uint32_t comes = job.message("MPI_Irecv", 0, 7), never = job.message("MPI_Irecv", 0, 9);
  const Trace trace = job.open({init, job.message("MPI_Send", 1, 7), job.message("MPI_Send", 1, 8)},
                               {init, comes, never});
  const Prefix prefix = consistent_prefix(trace);
  EXPECT_EQ(prefix.calls, (Calls{3, 3}));
  ASSERT_EQ(prefix.arriving.size(), 2u);
  EXPECT_TRUE(prefix.arriving[0].empty());
  EXPECT_EQ(prefix.arriving[1], std::set<SignatureId>{SignatureId(comes)});
  ASSERT_EQ(prefix.in_transit.size(), 1u);
  EXPECT_EQ(prefix.in_transit[0].tag, 8);
}

TEST(Prefix, ACallThatSendsAndCannotEndSendsNothing) {
  Job job;
  const uint32_t init = job.plain("MPI_Init");
  const Trace trace =
      job.open({init, job.exchange(1, 7, 8)}, {init, job.message("MPI_Recv", 0, 7)});
  const Prefix prefix = consistent_prefix(trace);
  EXPECT_EQ(prefix.calls, (Calls{1, 1}));
  EXPECT_TRUE(prefix.in_transit.empty());
}

}  // namespace
}  // namespace refrain::replay
