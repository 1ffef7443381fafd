// Programs whose waits are known by construction, one pattern at a time, to the nanosecond.

#include "analysis/waits/testing/test_program.h"

namespace refrain::analysis::waits {
namespace {

using List = std::vector<uint64_t>;

TEST(Waits, LateSender) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 500, 510);
  p.call(1, p.receive(0, 7, p.world), 100, 520);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateSender), (List{0, 400}));
  EXPECT_EQ(w.ns_of(Pattern::kAll), 400U);
  EXPECT_EQ(w.counts.messages, 1U);
  ASSERT_EQ(w.severities.size(), 1U);
  EXPECT_EQ(w.severities[0].path, p.site);
}

TEST(Waits, NoWaitWhereTheMessageIsThere) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 100, 110);
  p.call(1, p.receive(0, 7, p.world), 500, 520);
  EXPECT_EQ(p.analyse().ns_of(Pattern::kAll), 0U);
}

TEST(Waits, LateReceiverOnlyWhereTheSendBlocks) {
  TestProgram p(3);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 100, 620);
  p.call(0, p.message("MPI_Send", 2, 7, p.world), 700, 710);  // returned before: buffered
  p.call(1, p.receive(0, 7, p.world), 600, 630);
  p.call(2, p.receive(0, 7, p.world), 900, 920);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateReceiver), (List{500, 0, 0}));
  EXPECT_EQ(w.ns_of(Pattern::kAll), 500U);
}

// Times that are a little off let it return before its receive is posted, which cannot be.
TEST(Waits, SynchronousSendLastsUntilItsReceive) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Ssend", 1, 7, p.world), 100, 590);
  const uint32_t request =
      p.call(0, p.message("MPI_Issend", 1, 8, p.world).new_request(0), 700, 710);
  p.call(0, p.wait(request), 720, 890);
  p.call(1, p.receive(0, 7, p.world), 600, 630);
  p.call(1, p.receive(0, 8, p.world), 900, 920);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateReceiver), (List{500 + 180, 0}));
  EXPECT_EQ(w.counts.repaired_messages, 2U);
  EXPECT_EQ(w.counts.repaired_ns_most, 10U);
}

// Rank 0 sends 1, then 2; rank 1 takes 2 first.
TEST(Waits, LateSenderInWrongOrder) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Send", 1, 1, p.world), 300, 310);
  p.call(0, p.message("MPI_Send", 1, 2, p.world), 500, 510);
  p.call(1, p.receive(0, 2, p.world), 100, 520);
  p.call(1, p.receive(0, 1, p.world), 530, 540);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateSenderWrongOrder), (List{0, 400}));
  EXPECT_EQ(w.ns_of(Pattern::kLateSender), 400U);  // the pattern that contains it
}

// Rank 0 sends at 100 and blocks; the receiver first takes what rank 2 sent at 200.
TEST(Waits, LateReceiverInWrongOrder) {
  TestProgram p(3);
  p.call(0, p.message("MPI_Ssend", 1, 1, p.world), 100, 410);
  p.call(2, p.message("MPI_Send", 1, 1, p.world), 200, 210);
  p.call(1, p.receive(2, 1, p.world), 300, 310);
  p.call(1, p.receive(0, 1, p.world), 400, 420);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateReceiverWrongOrder), (List{300, 0, 0}));
  EXPECT_EQ(w.ns_of(Pattern::kLateReceiver), 300U);
}

TEST(Waits, NonblockingWaitsWhereItIsCompleted) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 500, 510);
  const uint32_t request =
      p.call(1, p.message("MPI_Irecv", 0, 7, p.world).new_request(0), 100, 110);
  p.call(1, p.wait(request), 200, 520);
  const WaitStates w = p.analyse();
  ASSERT_EQ(w.severities.size(), 1U);
  EXPECT_EQ(w.severities[0].ns, 300U);
  EXPECT_EQ(w.severities[0].call, mpi::find_call("MPI_Wait")->id);
}

// Two messages at 300 and 500: it waits for the second one.
TEST(Waits, WaitallWaitsForTheLast) {
  TestProgram p(3);
  p.call(1, p.message("MPI_Send", 0, 1, p.world), 500, 510);
  p.call(2, p.message("MPI_Send", 0, 2, p.world), 300, 310);
  const uint32_t a = p.call(0, p.message("MPI_Irecv", 1, 1, p.world).new_request(0), 100, 110);
  const uint32_t b = p.call(0, p.message("MPI_Irecv", 2, 2, p.world).new_request(0), 120, 130);
  ShapeWriter all("MPI_Waitall");
  all.object(p.site).integer(2).array(2).repeat(1).request(a).repeat(1).request(b).none();
  p.call(0, all, 200, 520);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateSender), (List{300, 0, 0}));
  EXPECT_EQ(w.counts.waits, 1U);
}

TEST(Waits, TestsInVainWaitAsLongAsTheyTake) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 500, 510);
  const uint32_t request =
      p.call(1, p.message("MPI_Irecv", 0, 7, p.world).new_request(0), 100, 110);
  ShapeWriter vain("MPI_Test"), good("MPI_Test");
  vain.object(p.site).request(request).integer(0).none();
  good.object(p.site).request(request).integer(1).none();
  p.call(1, vain, 200, 230);
  p.call(1, vain, 300, 340);
  p.call(1, good, 480, 520);
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLateSender), (List{0, 30 + 40 + 20}));
}

// The same of a send that cannot end without its receive.
TEST(Waits, TestsOfASynchronousSendWaitForItsReceive) {
  TestProgram p(2);
  const uint32_t request =
      p.call(0, p.message("MPI_Issend", 1, 7, p.world).new_request(0), 100, 110);
  ShapeWriter vain("MPI_Test"), good("MPI_Test");
  vain.object(p.site).request(request).integer(0).none();
  good.object(p.site).request(request).integer(1).none();
  p.call(0, vain, 200, 230);
  p.call(0, vain, 510, 550);  // the receive is there, and what it needs on its way
  p.call(0, good, 580, 600);
  p.call(1, p.receive(0, 7, p.world), 500, 540);
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLateReceiver), (List{30, 0}));
}

// Until a message that they would find was sent; the call that receives it takes no time.
TEST(Waits, ProbesInVainWaitAsLongAsTheyTake) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Send", 1, 8, p.world), 150, 160);  // another tag
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 500, 510);
  ShapeWriter vain("MPI_Iprobe"), good("MPI_Iprobe");
  vain.object(p.site).constant("MPI_ANY_SOURCE").integer(7).object(p.world).integer(0).none();
  good.object(p.site).constant("MPI_ANY_SOURCE").integer(7).object(p.world).integer(1);
  p.call(1, vain, 200, 230);
  p.call(1, vain, 460, 490);
  p.call(1, vain, 510, 520);  // on its way
  p.call(1, good.tag(format::FieldTag::kStatus).integer(0).integer(7), 530, 540);
  p.call(1, p.receive(0, 7, p.world), 550, 560);
  p.call(1, p.receive(0, 8, p.world), 570, 580);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateSender), (List{0, 30 + 30}));
  EXPECT_EQ(w.counts.unassigned_ns, 0U);
}

TEST(Waits, PersistentRequestsBeginAtTheirStart) {
  TestProgram p(2);
  const uint32_t to = p.call(0, p.message("MPI_Send_init", 1, 7, p.world).new_request(0), 10, 20);
  const uint32_t from = p.call(1, p.message("MPI_Recv_init", 0, 7, p.world).new_request(0), 10, 20);
  for (const uint64_t t : {0U, 1000U}) {
    p.call(0, p.simple("MPI_Start", {}).request(to), t + 400, t + 410);
    p.call(0, p.wait(to), t + 420, t + 430);
    p.call(1, p.simple("MPI_Start", {}).request(from), t + 100, t + 110);
    p.call(1, p.wait(from), t + 150, t + 440);
  }
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLateSender), (List{0, 500}));
}

TEST(Waits, PartitionedMessagesAreThereWithTheirLastPart) {
  TestProgram p(2);
  const auto init = [&](const char* name, int64_t peer) {
    ShapeWriter s(name);
    s.object(p.site).none().integer(2).integer(1).object(p.type).integer(peer).integer(7);
    return std::move(s.object(p.world).none().new_request(0));
  };
  const uint32_t to = p.call(0, init("MPI_Psend_init", 1), 10, 20);
  const uint32_t from = p.call(1, init("MPI_Precv_init", 0), 10, 20);
  p.call(0, p.simple("MPI_Start", {}).request(to), 100, 110);
  for (const uint64_t t : {200U, 600U}) {
    ShapeWriter ready("MPI_Pready");
    ready.object(p.site).integer(t == 200 ? 0 : 1).request(to);
    p.call(0, ready, t, t + 10);
  }
  p.call(0, p.wait(to), 700, 710);
  p.call(1, p.simple("MPI_Start", {}).request(from), 100, 110);
  p.call(1, p.wait(from), 150, 620);
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLateSender), (List{0, 450}));
}

TEST(Waits, ProbesWaitForTheNextMessage) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 500, 510);
  ShapeWriter probe("MPI_Probe");
  probe.object(p.site).constant("MPI_ANY_SOURCE").constant("MPI_ANY_TAG").object(p.world);
  p.call(1, probe.tag(format::FieldTag::kStatus).integer(0).integer(7), 100, 520);
  p.call(1, p.receive(0, 7, p.world), 530, 540);
  const WaitStates w = p.analyse();
  ASSERT_EQ(w.severities.size(), 1U);
  EXPECT_EQ(w.severities[0].ns, 400U);
  EXPECT_EQ(w.severities[0].call, mpi::find_call("MPI_Probe")->id);
  EXPECT_EQ(w.counts.unmatched_sends, 0U);
}

// Two wildcard receives that complete in the other order: the first took rank 1's message.
TEST(Waits, WildcardReceivesMatchInTheOrderOfTheirPosts) {
  TestProgram p(3);
  const auto any = [&](uint32_t n) {
    ShapeWriter s("MPI_Irecv");
    s.object(p.site).none().integer(1).object(p.type).constant("MPI_ANY_SOURCE").integer(5);
    return std::move(s.object(p.world).new_request(n));
  };
  const auto wait = [&](uint32_t request, int64_t source) {
    ShapeWriter s("MPI_Wait");
    s.object(p.site).request(request).tag(format::FieldTag::kStatus).integer(source).integer(5);
    return s;
  };
  p.call(1, p.message("MPI_Send", 0, 5, p.world), 300, 310);
  p.call(1, p.message("MPI_Send", 0, 5, p.world), 700, 710);
  const uint32_t a = p.call(0, any(0), 10, 20), b = p.call(0, any(1), 30, 40);
  p.call(0, wait(b, 1), 100, 720);  // the second message: waits until 700
  p.call(0, wait(a, 1), 730, 740);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateSenderWrongOrder), (List{600, 0, 0}));
}

TEST(Waits, Collectives) {
  TestProgram p(3);
  const uint64_t begin[] = {100, 400, 250};
  for (int r = 0; r < 3; ++r) {
    p.call(r, p.barrier(p.world), begin[r], 410 + 10 * static_cast<uint64_t>(r));
    p.call(r, p.allreduce(p.world), 1000 + begin[r], 1410 + 10 * static_cast<uint64_t>(r));
    p.call(r, p.bcast(1, p.world), 2000 + begin[r], 2450);
    p.call(r, p.reduce(0, p.world), 3000 + begin[r], 3450);
    ShapeWriter scan("MPI_Scan");
    scan.object(p.site).none().none().integer(1).object(p.type).none().object(p.world);
    p.call(r, scan, 4000 + begin[r], 4450);
  }
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kWaitAtBarrier), (List{300, 0, 150}));
  EXPECT_EQ(by_rank(w, Pattern::kBarrierCompletion), (List{0, 10, 20}));
  EXPECT_EQ(by_rank(w, Pattern::kWaitAtNxN), (List{300, 0, 150}));
  EXPECT_EQ(by_rank(w, Pattern::kNxNCompletion), (List{0, 10, 20}));
  EXPECT_EQ(by_rank(w, Pattern::kLateBroadcast), (List{300, 0, 150}));
  EXPECT_EQ(by_rank(w, Pattern::kEarlyReduce), (List{300, 0, 0}));
  EXPECT_EQ(by_rank(w, Pattern::kEarlyScan), (List{0, 0, 150}));
  EXPECT_EQ(w.counts.incomplete_collectives, 0U);
}

TEST(Waits, NonblockingCollectives) {
  TestProgram p(2);
  for (int r = 0; r < 2; ++r) {
    const uint64_t t = r == 0 ? 100 : 500;
    ShapeWriter barrier("MPI_Ibarrier");
    barrier.object(p.site).object(p.world).new_request(0);
    const uint32_t request = p.call(r, barrier, t, t + 10);
    p.call(r, p.wait(request), t + 50, 560);
  }
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kWaitAtBarrier), (List{350, 0}));
}

// Two persistent barriers that the ranks start in different orders, one of them twice.
TEST(Waits, PersistentCollectives) {
  TestProgram p(2);
  uint32_t request[2][2];
  for (int r = 0; r < 2; ++r)
    for (uint32_t i = 0; i < 2; ++i)
      request[r][i] = p.call(r, p.simple("MPI_Barrier_init", {p.world}).none().new_request(i),
                             10 + 10 * i, 15 + 10 * i);
  const auto run = [&](int r, int which, uint64_t start, uint64_t wait, uint64_t end) {
    p.call(r, p.simple("MPI_Start", {}).request(request[r][which]), start, start + 5);
    if (end > 0) p.call(r, p.wait(request[r][which]), wait, end);
  };
  run(0, 0, 100, 0, 0);
  run(0, 1, 200, 0, 0);
  p.call(0, p.wait(request[0][0]), 300, 460);  // until rank 1 starts the first at 450
  p.call(0, p.wait(request[0][1]), 470, 480);
  run(0, 1, 500, 600, 800);  // until 790
  run(1, 1, 400, 0, 0);
  run(1, 0, 450, 0, 0);
  p.call(1, p.wait(request[1][0]), 460, 470);
  p.call(1, p.wait(request[1][1]), 475, 480);
  run(1, 1, 790, 800, 810);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kWaitAtBarrier), (List{150 + 190, 0}));
  EXPECT_EQ(w.counts.incomplete_collectives, 0U);
}

TEST(Waits, InterCommunicators) {
  TestProgram p(4);
  const uint32_t left = p.builder().comm(1, {0, 1}, {2, 3});
  const uint32_t right = p.builder().comm(1, {2, 3}, {0, 1});
  const auto bcast = [&](const char* root, uint32_t comm) {
    ShapeWriter s("MPI_Bcast");
    s.object(p.site).none().integer(1).object(p.type).constant(root).object(comm);
    return s;
  };
  p.call(0, bcast("MPI_ROOT", left), 500, 510);
  p.call(1, bcast("MPI_PROC_NULL", left), 100, 110);
  p.call(2, p.bcast(0, right), 200, 520);
  p.call(3, p.bcast(0, right), 600, 610);
  const uint64_t begin[] = {1100, 1200, 1300, 1400};
  for (int r = 0; r < 4; ++r) p.call(r, p.barrier(r < 2 ? left : right), begin[r], 1450);
  p.call(0, p.message("MPI_Send", 1, 3, left), 1900, 1910);
  p.call(3, p.receive(0, 3, right), 1500, 1920);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateBroadcast), (List{0, 0, 300, 0}));
  EXPECT_EQ(by_rank(w, Pattern::kWaitAtBarrier), (List{300, 200, 100, 0}));
  EXPECT_EQ(by_rank(w, Pattern::kLateSender), (List{0, 0, 0, 400}));
}

TEST(Waits, InitAndFinalize) {
  TestProgram p(2);
  for (int r = 0; r < 2; ++r) {
    const auto t = static_cast<uint64_t>(r) * 70;
    ShapeWriter init("MPI_Init");
    p.call(r, init.object(p.site).none().none(), 100 + t, 200);
    p.call(r, p.simple("MPI_Finalize", {}), 1000 - t, 1100);
  }
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kInitImbalance), (List{70, 0}));
  EXPECT_EQ(by_rank(w, Pattern::kFinalizeImbalance), (List{0, 70}));
  EXPECT_EQ(w.efficiency.runtime_ns, 800U);
  EXPECT_EQ(w.efficiency.useful_mean_ns, 765);
  EXPECT_EQ(w.efficiency.useful_max_ns, 800);
  EXPECT_DOUBLE_EQ(w.efficiency.parallel, 765.0 / 800);
  EXPECT_DOUBLE_EQ(w.efficiency.parallel,
                   w.efficiency.load_balance * w.efficiency.serialisation * w.efficiency.transfer);
}

}  // namespace
}  // namespace refrain::analysis::waits
