// What is left out, and calls that wait until a size is known.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/call_ids.h"
#include "tracer/filter/control.h"
#include "tracer/filter/held_calls.h"
#include "tracer/filter/size_filter.h"
#include "tracer/requests/requests.h"
#include "tracer/state/slow_path_reasons.h"
#include "tracer/variants/testing/test_rank.h"

namespace refrain::tracer {
namespace {

namespace fake = mpi_runtime::fake;
using testing::TestRank;

// The words of an option while it lives.
class Setting {
 public:
  Setting(const char* name, const char* words) : name_(name) { setenv(name, words, 1); }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* const name_;
};

// Control has no end: what a test has set is taken back.
void forget_filters() {
  for (auto& how : control().leave) how.store(0);
  for (auto& calls : control().left_out) calls.store(0);
  control().filters = false;
  control().comm_words = nullptr;
  control().sizes = nullptr;
  set_slow_path_reason(slow_path_reasons::kLeavesOut, false);
}

uint64_t loss_of(const char* reason, const char* detail) {
  std::vector<format::LossRecord> losses;
  add_left_out(losses, 0);
  for (const format::LossRecord& l : losses)
    if (l.reason == reason && l.detail == detail) return l.calls;
  return 0;
}

TEST(Control, LeavesOutWhatIsNamed) {
  TestRank rank;
  const Setting only("REFRAIN_WITHOUT", "MPI_Barrier");
  start_control(*rank);
  EXPECT_TRUE(control().filters);
  EXPECT_TRUE(has_slow_path_reason(slow_path_reasons::kLeavesOut));
  EXPECT_EQ(rank->options.filter, "--without MPI_Barrier");
  EXPECT_TRUE(leaves_out(mpi::kMPI_Barrier));
  EXPECT_TRUE(leaves_out(mpi::kMPI_Barrier, uint64_t{fake::kWorld}));
  EXPECT_FALSE(leaves_out(mpi::kMPI_Send));
  EXPECT_EQ(loss_of("left_out", "MPI_Barrier"), 2u);
  forget_filters();
}

TEST(Control, PausesAndResumes) {
  TestRank rank;
  start_control(*rank);
  EXPECT_FALSE(has_slow_path_reason(slow_path_reasons::kLeavesOut));
  apply_pcontrol(0);
  EXPECT_TRUE(leaves_out(mpi::kMPI_Send));
  EXPECT_FALSE(is_filtered_out(mpi::kMPI_Send)) << "a pause is no filter";
  EXPECT_FALSE(leaves_out(mpi::kMPI_Init)) << "what must be known is never left out";
  apply_pcontrol(7);
  EXPECT_TRUE(leaves_out(mpi::kMPI_Send)) << "other levels mean nothing";
  apply_pcontrol(1);
  EXPECT_FALSE(leaves_out(mpi::kMPI_Send));
  forget_filters();
}

TEST(Control, AsksForTheNameOfACommunicator) {
  TestRank rank(0, 2);
  fake::mpi().names[30] = "halo";
  const Setting comm("REFRAIN_COMM", "halo,self");
  start_control(*rank);
  EXPECT_FALSE(leaves_out(mpi::kMPI_Send, uint64_t{30}));
  EXPECT_FALSE(leaves_out(mpi::kMPI_Send, uint64_t{fake::kSelf}));
  EXPECT_TRUE(leaves_out(mpi::kMPI_Send, uint64_t{fake::kWorld}));
  EXPECT_TRUE(leaves_out(mpi::kMPI_Send, uint64_t{31}));
  forget_filters();
}

TEST(Control, RemembersObjectsWhoseCallsAreLeftOut) {
  TestRank rank;
  const Setting comm("REFRAIN_COMM", "halo");
  start_control(*rank);
  leave_object_out(format::DefinitionKind::kWin, 50);
  EXPECT_TRUE(leaves_out_by_object(mpi::kMPI_Put, format::DefinitionKind::kWin, 50));
  EXPECT_FALSE(leaves_out_by_object(mpi::kMPI_Put, format::DefinitionKind::kFile, 50));
  forget_object(format::DefinitionKind::kWin, 50);
  EXPECT_FALSE(leaves_out_by_object(mpi::kMPI_Put, format::DefinitionKind::kWin, 50));
  forget_filters();
}

// ---- calls that wait ----

HeldCall call_of(Process& p, const std::string& signature) {
  HeldCall call;
  call.signature = p.intern(p.left_out, signature);
  call.call = mpi::kMPI_Irecv;
  call.sum_ticks = call.min_ticks = call.max_ticks = 10;
  call.outermost = true;
  return call;
}

TEST(HeldCalls, WaitForTheSizeOfAMessageInOrder) {
  TestRank rank;
  Location& l = rank.location();
  HeldCalls held(100);
  RequestEntry first, second;
  held.will_receive(l, 8);
  held.push(l, call_of(*rank, "receive"), &first);
  held.push(l, call_of(*rank, "behind it"), nullptr);
  held.will_receive(l, 8);
  held.push(l, call_of(*rank, "another"), &second);
  EXPECT_EQ(l.grammar.length(), 0u);
  EXPECT_FALSE(held.flush(l));
  // The second message is there first: the calls keep their order all the same.
  held.decide(&second, Verdict::kKept);
  EXPECT_FALSE(held.flush(l));
  EXPECT_EQ(l.grammar.length(), 0u);
  held.decide(&first, Verdict::kDropped);
  EXPECT_TRUE(held.flush(l));
  EXPECT_EQ(l.grammar.length(), 2u);
  EXPECT_EQ(rank->signatures.at(0), "behind it");
  EXPECT_EQ(rank->signatures.at(1), "another");
  EXPECT_EQ(l.in_mpi_ticks, 20u);
  forget_filters();
}

TEST(HeldCalls, AtMostSoManyWait) {
  TestRank rank;
  Location& l = rank.location();
  HeldCalls held(3);
  RequestEntry receive;
  held.will_receive(l, 8);
  held.push(l, call_of(*rank, "receive"), &receive);
  for (int i = 0; i < 3; ++i) held.push(l, call_of(*rank, "call " + std::to_string(i)), nullptr);
  EXPECT_EQ(l.grammar.length(), 4u) << "the receive is kept, and counted";
  std::vector<format::LossRecord> losses;
  held.add_losses(losses, 0);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].reason, "size_unknown");
  EXPECT_EQ(losses[0].calls, 1u);
}

TEST(HeldCalls, WhatIsLeftAtTheEndIsKept) {
  TestRank rank;
  Location& l = rank.location();
  HeldCalls held(100);
  RequestEntry receive;
  held.will_receive(l, 8);
  held.push(l, call_of(*rank, "receive"), &receive);
  // A program that asks again and again whether it is there: one call, many times.
  for (int i = 0; i < 50; ++i) {
    held.wait_for(l, {&receive}, false);
    held.push(l, call_of(*rank, "test"), nullptr);
  }
  held.flush_all(*rank);
  EXPECT_EQ(l.grammar.length(), 51u);
  EXPECT_EQ(rank->signatures.size(), 2u);
  EXPECT_EQ(l.in_mpi_ticks, 510u);
}

}  // namespace
}  // namespace refrain::tracer
