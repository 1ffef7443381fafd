// One-sided communication, repaired and missing data, causes and the critical path; exact.

#include <map>

#include "analysis/waits/store/spill_log.h"
#include "analysis/waits/testing/test_program.h"

namespace refrain::analysis::waits {
namespace {

using List = std::vector<uint64_t>;

// A window over the world, made at once by all.
class Windows : public testing::Test {
 protected:
  static constexpr int kRanks = 3;
  void SetUp() override {
    base::ByteWriter id;
    id.put_zigzag(0);
    win_ = p.builder().define(format::DefinitionKind::kWin, id.take(), {p.world});
    base::ByteWriter all, some;
    all.put_zigzag(0);
    some.put_zigzag(1);
    all_ = p.builder().define(format::DefinitionKind::kGroup, all.take());
    some_ = p.builder().define(format::DefinitionKind::kGroup, some.take());
    for (int r = 0; r < kRanks; ++r) {
      ShapeWriter make("MPI_Win_create");
      make.object(p.site).none().integer(8).integer(1).none().object(p.world).object(win_);
      p.call(r, make, 10, 20);
      p.call(r, p.simple("MPI_Comm_group", {p.world, all_}), 30, 31);
    }
  }
  void group_of(Rank rank, int64_t member) {
    ShapeWriter made("MPI_Group_incl");
    made.object(p.site).object(all_).integer(1).array(1).repeat(1).integer(member).object(some_);
    p.call(rank, made, 40, 41);
  }
  ShapeWriter epoch(const char* name) const {
    ShapeWriter s(name);
    s.object(p.site).object(some_).none().object(win_);
    return s;
  }
  ShapeWriter lock(const char* type) const {
    ShapeWriter s("MPI_Win_lock");
    s.object(p.site).constant(type).integer(2).none().object(win_);
    return s;
  }
  ShapeWriter unlock() const {
    ShapeWriter s("MPI_Win_unlock");
    s.object(p.site).integer(2).object(win_);
    return s;
  }

  TestProgram p{kRanks};
  uint32_t win_ = 0, all_ = 0, some_ = 0;
};

TEST_F(Windows, Fences) {
  const uint64_t begin[] = {100, 400, 250};
  for (int r = 0; r < kRanks; ++r) {
    ShapeWriter fence("MPI_Win_fence");
    fence.object(p.site).none().object(win_);
    p.call(r, fence, begin[r], 450);
  }
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kWaitAtFence), (List{300, 0, 150}));
}

// Rank 0 opens its window for rank 1 at 300; rank 1 began at 100, and completes at 500.
TEST_F(Windows, PostStartCompleteWait) {
  group_of(0, 1);
  group_of(1, 0);
  p.call(0, epoch("MPI_Win_post"), 300, 310);
  p.call(0, p.simple("MPI_Win_wait", {win_}), 350, 520);
  p.call(1, epoch("MPI_Win_start"), 100, 305);
  p.call(1, p.simple("MPI_Win_complete", {win_}), 500, 510);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLatePost), (List{0, 200, 0}));
  EXPECT_EQ(by_rank(w, Pattern::kEarlyWait), (List{150, 0, 0}));
  EXPECT_EQ(w.counts.unknown_groups, 0U);
}

// A start that does not block: the wait is where the access epoch does.
TEST_F(Windows, LatePostIsWhereTheEpochBlocks) {
  group_of(0, 1);
  group_of(1, 0);
  p.call(0, epoch("MPI_Win_post"), 300, 310);
  p.call(1, epoch("MPI_Win_start"), 100, 105);
  p.call(1, p.simple("MPI_Win_complete", {win_}), 200, 320);
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLatePost), (List{0, 100, 0}));
}

TEST_F(Windows, Locks) {
  p.call(0, lock("MPI_LOCK_EXCLUSIVE"), 100, 110);
  p.call(0, unlock(), 390, 400);
  p.call(1, lock("MPI_LOCK_SHARED"), 150, 410);
  p.call(1, unlock(), 500, 510);
  p.call(2, lock("MPI_LOCK_SHARED"), 420, 430);  // two readers do not wait for each other
  p.call(2, unlock(), 505, 520);
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLockContention), (List{0, 250, 0}));
}

// The lock is given on before the call that gives it back has returned.
TEST_F(Windows, LocksAreFreeBeforeUnlockReturns) {
  p.call(0, lock("MPI_LOCK_EXCLUSIVE"), 100, 110);
  p.call(0, unlock(), 390, 420);
  p.call(1, lock("MPI_LOCK_EXCLUSIVE"), 150, 410);
  p.call(1, unlock(), 500, 510);
  p.call(2, lock("MPI_LOCK_EXCLUSIVE"), 380, 520);
  p.call(2, unlock(), 530, 540);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLockContention), (List{0, 240, 130}));
  EXPECT_EQ(w.delays.at(0).rank, 0);
}

// --- data that is not as it should be ---

// Waits as an observer is told them: their sums by rank, and whether each is within a recorded
// call.
class RecordedWaits final : public Observer {
 public:
  explicit RecordedWaits(const TestProgram& program) : program_(program) {}
  bool wants(const SeenMessage&) override { return false; }
  void ends(const SeenMessage&, const SeenCall&, const SeenCall&, const SeenCall&) override {}
  void wait(Rank rank, uint32_t, uint64_t begin_ns, uint64_t end_ns) override {
    sums[rank] += end_ns - begin_ns;
    bool is_within = false;
    for (const auto& [begin, end] : program_.times(rank))
      is_within = is_within || (begin <= begin_ns && begin_ns <= end_ns && end_ns <= end);
    EXPECT_TRUE(is_within) << rank << ": " << begin_ns << " to " << end_ns;
  }
  std::map<Rank, uint64_t> sums;

 private:
  const TestProgram& program_;
};

TEST(Repair, ObserversAreToldWaitsWithinRecordedCalls) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 500, 510);
  p.call(1, p.receive(0, 7, p.world), 100, 470);
  p.call(1, p.receive(0, 8, p.world), 480, 560);
  p.call(0, p.message("MPI_Send", 1, 8, p.world), 530, 540);
  RecordedWaits seen(p);
  Options options;
  options.observer = &seen;
  const WaitStates w = p.analyse(options);
  // Repaired, the first receive ends at 500, and the second one begins at 510.
  EXPECT_EQ(by_rank(w, Pattern::kLateSender), (List{0, 400 + 20}));
  EXPECT_EQ(seen.sums, (std::map<Rank, uint64_t>{{1, 370 + 20}}));
}

// The message arrives 30 before it was sent. The receive and what follows move until a call with
// time to give is met: the barrier takes 10 of the 30, the next one the rest.
TEST(Repair, MovesForwardUntilTheSlackIsUsedUp) {
  TestProgram p(2);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 500, 510);
  p.call(1, p.receive(0, 7, p.world), 100, 470);
  p.call(1, p.barrier(p.world), 600, 610);
  p.call(0, p.barrier(p.world), 600, 640);
  p.call(1, p.barrier(p.world), 700, 800);
  p.call(0, p.barrier(p.world), 700, 800);
  const WaitStates w = p.analyse();
  EXPECT_EQ(w.counts.repaired_messages, 1U);
  EXPECT_EQ(w.counts.repaired_ns_most, 30U);
  EXPECT_EQ(by_rank(w, Pattern::kLateSender), (List{0, 400}));
  // First barrier: rank 1 enters at 630; second: at 720.
  EXPECT_EQ(by_rank(w, Pattern::kWaitAtBarrier), (List{30 + 20, 0}));
}

TEST(Missing, MessagesAndCollectivesAreCounted) {
  TestProgram p(3);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 100, 110);
  p.call(0, p.receive(1, 8, p.world), 200, 300);
  p.call(0, p.message("MPI_Send", 1, 9, p.world), 700, 710);
  p.call(1, p.receive(0, 9, p.world), 500, 720);
  p.call(2, p.barrier(p.world), 100, 150);
  Options options;
  options.patience_ns = 1000;
  const WaitStates w = p.analyse(options);
  EXPECT_EQ(w.counts.unmatched_sends, 1U);
  EXPECT_EQ(w.counts.unmatched_receives, 1U);
  EXPECT_EQ(w.counts.incomplete_collectives, 1U);
  EXPECT_EQ(w.ns_of(Pattern::kLateSender), 200U);  // the rest of the answer is there
}

// A receive that was cancelled takes no message from those after it.
TEST(Missing, CancelledReceives) {
  TestProgram p(2);
  const uint32_t request = p.call(1, p.message("MPI_Irecv", 0, 7, p.world).new_request(0), 10, 20);
  p.call(1, p.simple("MPI_Cancel", {}).request(request), 30, 40);
  p.call(1, p.wait(request), 50, 60);
  p.call(1, p.receive(0, 7, p.world), 100, 310);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 300, 310);
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateSender), (List{0, 200}));
  EXPECT_EQ(w.counts.unmatched_sends + w.counts.unmatched_receives, 0U);
}

TEST(Missing, TimesThatGoBackwards) {
  TestProgram p(2);
  p.call(0, p.barrier(p.world), 100, 210);
  p.call(0, p.simple("MPI_Comm_rank", {p.world}).integer(0), 50, 60);
  p.call(0, p.simple("MPI_Comm_rank", {p.world}).integer(0), 300, 290);
  p.call(1, p.barrier(p.world), 200, 210);
  const WaitStates w = p.analyse();
  EXPECT_EQ(w.counts.backward_times, 1U);
  EXPECT_EQ(w.counts.negative_durations, 1U);
  EXPECT_EQ(w.ns_of(Pattern::kWaitAtBarrier), 100U);
}

TEST(Limits, AreCounted) {
  TestProgram p(2);
  for (int i = 0; i < 4; ++i) {
    const auto t = static_cast<uint64_t>(i) * 10;
    p.call(0, p.message("MPI_Send", 1, i, p.world), 100 + t, 105 + t);
    p.call(1, p.receive(0, i, p.world), 200 + t, 205 + t);
  }
  Options options;
  options.most_messages = 2;
  const WaitStates w = p.analyse(options);
  EXPECT_EQ(w.counts.open_messages_most, 2U);
  EXPECT_EQ(w.counts.dropped, 4U);  // both ends of two messages
}

// --- causes ---

// Rank 0 computes 400, rank 1 100, both between two barriers: 300 of waiting go back to rank 0.
TEST(Causes, AreWhatTheLateRankDidLonger) {
  TestProgram p(2);
  for (int r = 0; r < 2; ++r) p.call(r, p.barrier(p.world), 100, 110);
  p.call(0, p.barrier(p.world), 510, 520);
  p.call(1, p.barrier(p.world), 210, 520);
  const WaitStates w = p.analyse();
  ASSERT_EQ(w.delays.size(), 1U);
  EXPECT_EQ(w.delays[0].pattern, Pattern::kWaitAtBarrier);
  EXPECT_EQ(w.delays[0].rank, 0);
  EXPECT_EQ(w.delays[0].from_call, mpi::find_call("MPI_Barrier")->id);
  EXPECT_EQ(w.delays[0].to_path, p.site);
  EXPECT_DOUBLE_EQ(w.delays[0].short_term_ns, 300);
  EXPECT_DOUBLE_EQ(w.delays[0].long_term_ns, 0);
}

// Rank 0 is late for rank 1, which is late for rank 2 for no other reason: all of it goes back to
// rank 0, rank 2's wait as a long-term cost.
TEST(Causes, GoOnThroughWaits) {
  TestProgram p(3);
  p.call(0, p.message("MPI_Send", 1, 1, p.world), 500, 510);
  p.call(1, p.receive(0, 1, p.world), 0, 500);
  p.call(1, p.message("MPI_Send", 2, 2, p.world), 500, 510);
  p.call(2, p.receive(1, 2, p.world), 0, 520);
  ASSERT_EQ(p.times(0)[0].first, 500U);
  p.call(0, p.barrier(p.world), 600, 610);  // gives rank 0 a call before which it worked
  p.call(1, p.barrier(p.world), 600, 610);
  p.call(2, p.barrier(p.world), 600, 610);
  Options options;
  options.explain = Pattern::kLateSender;
  options.explain_count = 5;
  const WaitStates w = p.analyse(options);
  EXPECT_EQ(by_rank(w, Pattern::kLateSender), (List{0, 500, 500}));
  double short_term = 0, long_term = 0;
  for (const Delay& d : w.delays) {
    EXPECT_EQ(d.rank, 0);
    short_term += d.short_term_ns;
    long_term += d.long_term_ns;
  }
  EXPECT_DOUBLE_EQ(short_term, 500);
  EXPECT_DOUBLE_EQ(long_term, 500);
  ASSERT_EQ(w.explained.size(), 2U);
  EXPECT_EQ(w.explained[0].rank, 1);
  EXPECT_EQ(w.explained[0].partner, 0);
  EXPECT_EQ(w.explained[0].wait_ns, 500U);
  EXPECT_EQ(w.explained[1].partner_seq, 1U);
}

// Rank 1 asks for a message, and sleeps where there is none; both go on to a barrier, where rank 2
// waits for rank 1. All of that goes back to rank 0, which sends late, however rank 1 asks, and
// whatever it asks between finding the message and receiving it.
TEST(Causes, GoOnThroughPolls) {
  for (const bool probes : {true, false}) {
    TestProgram p(3);
    for (int r = 0; r < 3; ++r) p.call(r, p.barrier(p.world), 10, 20);
    if (probes) {
      p.call(0, p.message("MPI_Send", 1, 7, p.world), 1020, 1030);
      ShapeWriter good("MPI_Iprobe");
      for (uint64_t t = 30; t < 1000; t += 100) {
        ShapeWriter vain("MPI_Iprobe");
        vain.object(p.site).constant("MPI_ANY_SOURCE").integer(7).object(p.world).integer(0).none();
        p.call(1, vain, t, t + 10);
      }
      good.object(p.site).constant("MPI_ANY_SOURCE").integer(7).object(p.world).integer(1);
      p.call(1, good.tag(format::FieldTag::kStatus).integer(0).integer(7), 1030, 1040);
      p.call(1, p.simple("MPI_Get_count", {}), 1040, 1040);
      p.call(1, p.receive(0, 7, p.world), 1040, 1050);
    } else {  // the other way round: rank 0 receives late what rank 1 sends
      p.call(0, p.receive(1, 7, p.world), 1020, 1030);
      const uint32_t request =
          p.call(1, p.message("MPI_Issend", 0, 7, p.world).new_request(0), 20, 25);
      for (uint64_t t = 30; t < 1000; t += 100) {
        ShapeWriter vain("MPI_Test");
        vain.object(p.site).request(request).integer(0).none();
        p.call(1, vain, t, t + 10);
      }
      ShapeWriter good("MPI_Test");
      good.object(p.site).request(request).integer(1).none();
      p.call(1, good, 1035, 1045);
    }
    p.call(0, p.barrier(p.world), 1050, 1060);
    p.call(1, p.barrier(p.world), 1050, 1060);
    p.call(2, p.barrier(p.world), 50, 1060);
    const WaitStates w = p.analyse();
    double of_sender = 0, of_poller = 0;
    for (const Delay& d : w.delays)
      (d.rank == 0 ? of_sender : of_poller) += d.short_term_ns + d.long_term_ns;
    EXPECT_GT(of_sender, 1000) << probes;
    EXPECT_LT(of_poller, 50) << probes;
  }
}

// The path: rank 0 until its send, then rank 1, which everybody waits for at the end.
TEST(CriticalPath, ChangesRanksWhereTheyWait) {
  TestProgram p(2);
  for (int r = 0; r < 2; ++r) p.call(r, p.barrier(p.world), 0, 0);
  p.call(0, p.message("MPI_Send", 1, 1, p.world), 300, 310);
  p.call(1, p.receive(0, 1, p.world), 100, 320);
  p.call(1, p.barrier(p.world), 700, 720);
  p.call(0, p.barrier(p.world), 400, 710);
  const WaitStates w = p.analyse();
  EXPECT_EQ(w.critical_ns, 720U);
  List ranks(2);
  for (const CriticalPart& part : w.critical_path) ranks[static_cast<size_t>(part.rank)] += part.ns;
  EXPECT_EQ(ranks, (List{300, 420}));
  EXPECT_EQ(w.critical_path[0].ns, 380U);  // rank 1 between its receive and the barrier
  EXPECT_EQ(w.critical_path[0].from_call, mpi::find_call("MPI_Recv")->id);
}

// Work 300 and 100 ahead of a message, 0 and 380 after it: with an ideal network 300 + 380.
TEST(Efficiency, TellsSerialisationFromTransfer) {
  TestProgram p(2);
  for (int r = 0; r < 2; ++r) p.call(r, p.barrier(p.world), 0, 0);
  p.call(0, p.message("MPI_Send", 1, 1, p.world), 300, 310);
  p.call(1, p.receive(0, 1, p.world), 100, 320);
  p.call(1, p.barrier(p.world), 700, 720);
  p.call(0, p.barrier(p.world), 310, 720);
  const Efficiency e = p.analyse().efficiency;
  EXPECT_EQ(e.runtime_ns, 720U);
  EXPECT_EQ(e.ideal_ns, 680U);
  EXPECT_DOUBLE_EQ(e.useful_max_ns, 480);
  EXPECT_DOUBLE_EQ(e.load_balance, 390.0 / 480);
  EXPECT_DOUBLE_EQ(e.serialisation, 480.0 / 680);
  EXPECT_DOUBLE_EQ(e.transfer, 680.0 / 720);
  EXPECT_DOUBLE_EQ(e.parallel, 390.0 / 720);
}

TEST(SpillLog, KeepsWhatDoesNotFit) {
  SpillLog<uint64_t> log(0);  // four chunks
  const uint64_t count = 20 * SpillLog<uint64_t>::kItems + 5;
  for (uint64_t i = 0; i < count; ++i) EXPECT_EQ(log.append(i * 3), i);
  log.set(7, 42);
  for (uint64_t i = count; i-- > 0;) ASSERT_EQ(log.get(i), i == 7 ? 42 : i * 3);
  EXPECT_EQ(log.get(7), 42U);
  EXPECT_GT(log.file_bytes(), 0U);
  EXPECT_EQ(log.size(), count);
}

}  // namespace
}  // namespace refrain::analysis::waits
