#include "reader/verify/verify.h"

#include <gtest/gtest.h>

#include "reader/test_trace.h"

namespace refrain::reader {
namespace {

std::vector<std::string> findings_of(const TraceBuilder& builder) {
  return verify(builder.open(), 10);
}

TEST(Verify, ASoundTraceHasNoFindings) {
  TraceBuilder builder(2);
  const uint32_t comm = builder.comm(1, {1, 0});
  const uint32_t start =
      builder.signature(ShapeWriter("MPI_Ibarrier").none().object(comm).new_request(0));
  const uint32_t wait = builder.signature(ShapeWriter("MPI_Wait").none().request(start).none());
  builder.group({0, 1}, {start, wait, start, wait});
  EXPECT_TRUE(findings_of(builder).empty());
}

TEST(Verify, ARequestIsMadeBeforeItIsUsed) {
  TraceBuilder builder(1);
  const uint32_t world = builder.world();
  const uint32_t start =
      builder.signature(ShapeWriter("MPI_Ibarrier").none().object(world).new_request(0));
  const uint32_t wait = builder.signature(ShapeWriter("MPI_Wait").none().request(start).none());
  builder.group({0}, {wait, start});
  const std::vector<std::string> findings = findings_of(builder);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].find("MPI_Wait comes before"), std::string::npos) << findings[0];
}

TEST(Verify, ARequestComesFromACallThatMakesOne) {
  TraceBuilder builder(1);
  const uint32_t world = builder.world();
  const uint32_t barrier = builder.signature(ShapeWriter("MPI_Barrier").none().object(world));
  const uint32_t wait = builder.signature(ShapeWriter("MPI_Wait").none().request(barrier).none());
  builder.group({0}, {barrier, wait});
  const std::vector<std::string> findings = findings_of(builder);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].find("did not make"), std::string::npos) << findings[0];
}

TEST(Verify, OnlyMembersUseACommunicator) {
  TraceBuilder builder(3);
  const uint32_t comm = builder.comm(1, {0, 2});
  const uint32_t barrier = builder.signature(ShapeWriter("MPI_Barrier").none().object(comm));
  builder.group({0, 1, 2}, {barrier});
  const std::vector<std::string> findings = findings_of(builder);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].find("rank 1 uses comm#1"), std::string::npos) << findings[0];
}

TEST(Verify, ACallHasTheParametersOfItsFunction) {
  TraceBuilder builder(1);
  const uint32_t world = builder.world();
  const uint32_t barrier =
      builder.signature(ShapeWriter("MPI_Barrier").none().object(world).integer(1));
  builder.group({0}, {barrier});
  const std::vector<std::string> findings = findings_of(builder);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].find("MPI_Barrier has 1 parameters, not 2"), std::string::npos)
      << findings[0];
}

TEST(Verify, StopsAtTheLimit) {
  TraceBuilder builder(1);
  const uint32_t world = builder.world();
  std::vector<uint32_t> calls;
  calls.reserve(5);
  for (int i = 0; i < 5; ++i)
    calls.push_back(builder.signature(ShapeWriter("MPI_Barrier").none().object(world).integer(i)));
  builder.group({0}, calls);
  EXPECT_EQ(verify(builder.open(), 3).size(), 3u);
}

}  // namespace
}  // namespace refrain::reader
