#include "replay/plan/unbuffered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "replay/plan/message_counts.h"
#include "replay/plan/test_calls.h"

namespace refrain::replay::plan {
namespace {

// ---- a slow and obvious reference: calls in lists, all of them looked at again and again ----

struct Step {
  enum Kind { kSend, kSynchronous, kReceive, kBeginSend, kBeginReceive, kWait, kBarrier } kind;
  Rank peer = 0;
  int64_t tag = 0, bytes = 0;
  size_t begun = 0;  // of a kWait: the step that began it
  uint32_t slot = 0;
};
using Program = std::vector<std::vector<Step>>;

class Reference {
 public:
  // Messages of up to `eager` bytes are buffered.
  Reference(const Program& program, int64_t eager)
      : program_(program), eager_(eager), at_(program.size()), posted_(program.size()) {}

  bool ends() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (size_t r = 0; r < program_.size(); ++r) goes_on = advance(r) || goes_on;
    }
    for (size_t r = 0; r < program_.size(); ++r)
      if (at_[r] < program_[r].size()) return false;
    return true;
  }

 private:
  struct Posted {
    size_t rank, step;
    bool is_met = false;
  };

  const Step& step(size_t r, size_t i) const { return program_[r][i]; }
  static bool sends(const Step& s) {
    return s.kind == Step::kSend || s.kind == Step::kSynchronous || s.kind == Step::kBeginSend;
  }
  bool fits(const Posted& a, const Posted& b) const {
    const Step &x = step(a.rank, a.step), &y = step(b.rank, b.step);
    return sends(x) != sends(y) && x.tag == y.tag && x.peer == static_cast<Rank>(b.rank) &&
           y.peer == static_cast<Rank>(a.rank);
  }
  // Each end, in the order in which it was posted, meets the first that fits.
  void meet() {
    for (Posted& a : all_)
      for (Posted& b : all_)
        if (!a.is_met && !b.is_met && fits(a, b)) a.is_met = b.is_met = true;
  }
  bool is_done(size_t r, size_t i) {
    const Step& s = step(r, i);
    if (sends(s) && s.kind != Step::kSynchronous && s.bytes <= eager_) return true;
    return std::any_of(all_.begin(), all_.end(),
                       [&](const Posted& p) { return p.rank == r && p.step == i && p.is_met; });
  }
  bool has_barrier(size_t r) const {
    const auto passed = [&](size_t rank, size_t to) {
      return std::count_if(program_[rank].begin(),
                           program_[rank].begin() + static_cast<std::ptrdiff_t>(to),
                           [](const Step& s) { return s.kind == Step::kBarrier; });
    };
    const auto mine = passed(r, at_[r] + 1);
    for (size_t other = 0; other < program_.size(); ++other)
      if (passed(other, std::min(at_[other] + 1, program_[other].size())) < mine) return false;
    return true;
  }
  bool advance(size_t r) {
    if (at_[r] >= program_[r].size()) return false;
    const Step& s = step(r, at_[r]);
    if (s.kind != Step::kWait && s.kind != Step::kBarrier && posted_[r] <= at_[r]) {
      all_.push_back({r, at_[r]});
      posted_[r] = at_[r] + 1;
      meet();
    }
    const bool can_go = s.kind == Step::kWait      ? is_done(r, s.begun)
                        : s.kind == Step::kBarrier ? has_barrier(r)
                        : s.kind == Step::kBeginSend || s.kind == Step::kBeginReceive
                            ? true
                            : is_done(r, at_[r]);
    if (can_go) ++at_[r];
    return can_go;
  }

  const Program& program_;
  int64_t eager_;
  std::vector<size_t> at_, posted_;
  std::vector<Posted> all_;
};

Program random_program(std::mt19937_64& random, size_t ranks, int repeats) {
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  Program body(ranks);
  std::vector<std::vector<std::pair<size_t, size_t>>> open(ranks);  // begun, its slot
  const auto place = [&](size_t r, bool is_send, Rank peer, int64_t tag, int64_t bytes) {
    auto& steps = body[r];
    const bool begins = pick(3) == 0;
    Step step{is_send  ? begins         ? Step::kBeginSend
                         : pick(6) == 0 ? Step::kSynchronous
                                        : Step::kSend
              : begins ? Step::kBeginReceive
                       : Step::kReceive,
              peer, tag, bytes};
    if (begins) {
      step.slot = static_cast<uint32_t>(open[r].size());
      open[r].push_back({steps.size(), 0});
    }
    steps.push_back(step);
  };
  const size_t count = 2 + pick(6);
  std::vector<std::pair<size_t, Step>> late;  // receives that are posted later than they could be
  for (size_t i = 0; i < count; ++i) {
    const size_t from = pick(ranks), to = (from + 1 + pick(ranks - 1)) % ranks;
    const auto tag = static_cast<int64_t>(pick(2));
    const auto bytes = static_cast<int64_t>(1 + pick(5)) * 10;
    const size_t what = pick(10);
    if (what != 0) place(from, true, static_cast<Rank>(to), tag, bytes);
    if (what == 0 && pick(4) != 0) {
      for (size_t r = 0; r < ranks; ++r) body[r].push_back({Step::kBarrier});
      continue;
    }
    if (what < 5)
      late.push_back({to, {Step::kReceive, static_cast<Rank>(from), tag, bytes}});
    else if (what != 9 || pick(3) != 0)
      place(to, false, static_cast<Rank>(from), tag, bytes);
  }
  std::shuffle(late.begin(), late.end(), random);
  for (const auto& [rank, step] : late) body[rank].push_back(step);
  for (size_t r = 0; r < ranks; ++r)
    for (const auto& [begun, unused] : open[r])
      if (pick(8) != 0 || repeats > 1) {
        Step wait{Step::kWait};
        wait.begun = begun;
        body[r].push_back(wait);
      }
  Program out(ranks);
  for (size_t r = 0; r < ranks; ++r)
    for (int n = 0; n < repeats; ++n) {
      const size_t base = out[r].size();
      for (Step step : body[r]) {
        if (step.kind == Step::kWait) step.begun += base;
        out[r].push_back(step);
      }
    }
  return out;
}

Trace trace_of(const Program& program) {
  TestCalls calls(static_cast<Rank>(program.size()));
  for (size_t r = 0; r < program.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    std::vector<uint32_t> requests(program[r].size());
    for (size_t i = 0; i < program[r].size(); ++i) {
      const Step& s = program[r][i];
      switch (s.kind) {
        case Step::kSend: calls.message(rank, "MPI_Send", s.bytes, s.peer, s.tag); break;
        case Step::kSynchronous: calls.message(rank, "MPI_Ssend", s.bytes, s.peer, s.tag); break;
        case Step::kReceive: calls.message(rank, "MPI_Recv", s.bytes, s.peer, s.tag); break;
        case Step::kBeginSend:
          requests[i] = calls.begin(rank, "MPI_Isend", s.bytes, s.peer, s.tag, s.slot);
          break;
        case Step::kBeginReceive:
          requests[i] = calls.begin(rank, "MPI_Irecv", s.bytes, s.peer, s.tag, s.slot);
          break;
        case Step::kWait: calls.wait(rank, requests[s.begun]); break;
        case Step::kBarrier: calls.barrier(rank); break;
      }
    }
  }
  return calls.open();
}

void expect_like_reference(const Program& program, const Unbuffered& found) {
  std::set<int64_t> sizes = {-1};
  for (const auto& steps : program)
    for (const Step& s : steps) sizes.insert(s.bytes);
  const auto least = std::find_if(sizes.begin(), sizes.end(),
                                  [&](int64_t size) { return Reference(program, size).ends(); });
  EXPECT_EQ(found.why_not, "");
  EXPECT_EQ(found.waiting_ranks > 0, least == sizes.end());
  if (least == sizes.end()) return;
  EXPECT_EQ(found.sends > 0, *least >= 0);
  EXPECT_EQ(found.longest_bytes, static_cast<uint64_t>(std::max<int64_t>(*least, 0)));
}

TEST(Unbuffered, FindsTheLeastThatMustBeBufferedAsASlowSearchDoes) {
  std::mt19937_64 random(7);
  int stuck = 0, buffered = 0, free = 0;
  for (int i = 0; i < 400; ++i) {
    const Program program = random_program(random, 2 + random() % 3, 1);
    const Unbuffered found = run_unbuffered(trace_of(program), {});
    expect_like_reference(program, found);
    if (HasFailure()) FAIL() << "program " << i;
    ++(found.waiting_ranks > 0 ? stuck : found.sends > 0 ? buffered : free);
  }
  // The programs are of all three kinds.
  EXPECT_GT(stuck, 20);
  EXPECT_GT(buffered, 20);
  EXPECT_GT(free, 20);
}

TEST(Unbuffered, LeavesOutIterationsAndFindsTheSame) {
  std::mt19937_64 random(11);
  uint64_t walked = 0, all = 0;
  for (int i = 0; i < 120; ++i) {
    const Program program = random_program(random, 2 + random() % 3, 60);
    const Trace trace = trace_of(program);
    UnbufferedOptions options;
    const Unbuffered fast = run_unbuffered(trace, options);
    options.expands_loops = true;
    const Unbuffered slow = run_unbuffered(trace, options);
    EXPECT_EQ(fast.waiting_ranks, slow.waiting_ranks) << i;
    EXPECT_EQ(fast.sends, slow.sends) << i;
    EXPECT_EQ(fast.longest_bytes, slow.longest_bytes) << i;
    EXPECT_EQ(fast.bytes, slow.bytes) << i;
    EXPECT_EQ(fast.sends_left, slow.sends_left) << i;
    EXPECT_EQ(fast.receives_left, slow.receives_left) << i;
    ASSERT_FALSE(HasFailure());
    walked += fast.calls_walked;
    all += slow.calls_walked;
  }
  EXPECT_LT(walked, all / 2);
}

TEST(Unbuffered, ARingOfSendsNeedsOneBufferWhateverItsLength) {
  uint64_t walked = 0;
  for (const int steps : {1000, 10000}) {
    TestCalls calls(4);
    for (Rank r = 0; r < 4; ++r)
      for (int i = 0; i < steps; ++i) {
        calls.message(r, "MPI_Send", 800, (r + 1) % 4, 3);
        calls.message(r, "MPI_Recv", 800, (r + 3) % 4, 3);
      }
    const Unbuffered found = run_unbuffered(calls.open(), {});
    EXPECT_EQ(found.waiting_ranks, 0U);
    EXPECT_EQ(found.longest_bytes, 800U);
    EXPECT_EQ(found.sends, static_cast<uint64_t>(steps));
    EXPECT_EQ(found.bytes, (std::vector<uint64_t>{800, 0, 0, 0}));
    ASSERT_TRUE(found.first.has_value());
    EXPECT_EQ(found.first->rank, 0);
    if (walked > 0) {
      EXPECT_LE(found.calls_walked, walked + 64);
    }
    walked = found.calls_walked;
  }
  EXPECT_LT(walked, 1000U);
}

// What a nonblocking receive from anybody takes is known when it completes; its sender can go on
// when it is posted.
TEST(Unbuffered, AReceiveFromAnybodyIsPostedWhereItStands) {
  TestCalls calls(2);
  const uint32_t request = calls.begin_any(0, 40);
  calls.message(0, "MPI_Recv", 8, 1, 9);
  reader::ShapeWriter wait("MPI_Wait");
  wait.none().request(request).tag(format::FieldTag::kStatus);
  wait.integer(1).integer(4);
  calls.add(0, wait);
  calls.message(1, "MPI_Send", 40, 0, 4);
  calls.message(1, "MPI_Send", 8, 0, 9);
  const Unbuffered found = run_unbuffered(calls.open(), {});
  EXPECT_EQ(found.waiting_ranks, 0U);
  EXPECT_EQ(found.sends, 0U);
  EXPECT_FALSE(found.is_guess);
}

TEST(Unbuffered, CollectivesDisagreeAndNeedNotWaitForAll) {
  TestCalls calls(2);
  calls.broadcast(0, 0);  // goes on without the other, or all wait for ever
  calls.message(0, "MPI_Send", 5, 1, 0);
  calls.message(1, "MPI_Recv", 5, 0, 0);
  calls.broadcast(1, 0);
  for (Rank r = 0; r < 2; ++r) calls.barrier(r);
  calls.barrier(0);
  calls.broadcast(1, 1);
  calls.broadcast(0, 0);
  calls.broadcast(1, 1);
  const Unbuffered found = run_unbuffered(calls.open(), {});
  EXPECT_EQ(found.waiting_ranks, 0U);
  EXPECT_EQ(found.collectives, 1U);
  EXPECT_EQ(found.disagreements, 2U);
  EXPECT_EQ(found.one.rank + found.other.rank, 1);
  EXPECT_NE(found.one.call, found.other.call);
}

TEST(Unbuffered, SaysWhoWaitsForEver) {
  TestCalls calls(2);
  calls.message(0, "MPI_Recv", 5, 1, 0);
  calls.barrier(0);
  calls.barrier(1);
  const Unbuffered found = run_unbuffered(calls.open(), {});
  ASSERT_EQ(found.waiting_ranks, 2U);
  EXPECT_EQ(mpi::find_call(found.waiting[0].call)->name, "MPI_Recv");
  EXPECT_EQ(mpi::find_call(found.waiting[1].call)->name, "MPI_Barrier");
  EXPECT_EQ(found.receives_left, 1U);
  EXPECT_EQ(found.receive_left.rank, 0);
}

// A ring of 256 ranks, all of them one group: the walk is as long as it is for few steps.
TEST(Unbuffered, ManyRanksOfOneGroup) {
  constexpr uint64_t kRanks = 256, kSteps = 5000;
  reader::TraceBuilder b(kRanks);
  const uint32_t world = b.world(), type = b.predefined_type("MPI_BYTE", 1);
  const auto message = [&](const char* name, int64_t by) {
    reader::ShapeWriter s(name);
    s.none().none().integer(64).object(type).integer(reader::me_plus_mod_size(by)).integer(1);
    s.object(world);
    return b.signature(s);
  };
  const uint32_t send = message("MPI_Send", 1), receive = message("MPI_Recv", -1);
  std::vector<uint32_t> calls;
  for (uint64_t i = 0; i < kSteps; ++i) calls.insert(calls.end(), {send, receive});
  std::vector<int64_t> ranks;
  for (uint64_t r = 0; r < kRanks; ++r) ranks.push_back(static_cast<int64_t>(r));
  b.group(ranks, calls);
  const Unbuffered found = run_unbuffered(b.open(), {});
  EXPECT_EQ(found.waiting_ranks, 0U);
  EXPECT_EQ(found.sends, kSteps);
  EXPECT_EQ(found.longest_bytes, 64U);
  EXPECT_LT(found.calls_walked, kRanks * 200);
}

TEST(Unbuffered, SkippedFunctionsTakeBothEndsOfTheirMessages) {
  TestCalls calls(2);
  calls.message(0, "MPI_Ssend", 8, 1, 5);
  calls.wait(1, calls.begin(1, "MPI_Irecv", 8, 0, 5));
  calls.message(0, "MPI_Send", 8, 1, 6);
  calls.message(1, "MPI_Recv", 8, 0, 6);
  const Trace trace = calls.open();
  UnbufferedOptions options;
  options.skipped = {mpi::find_call("MPI_Ssend")->id};
  const Unbuffered found = run_unbuffered(trace, options);
  EXPECT_EQ(found.waiting_ranks, 0U);
  EXPECT_EQ(found.receives_left, 0U);
  EXPECT_EQ(count_messages(trace, options.skipped).receives_left, 0U);
  EXPECT_EQ(count_messages(trace, options.skipped).channels, 1U);
}

TEST(Unbuffered, CallsThatAreLeftOutAreNotWaitedFor) {
  TestCalls calls(2);
  const uint32_t receive = calls.begin(0, "MPI_Irecv", 8, 1, 5);
  calls.wait(0, receive);
  calls.message(1, "MPI_Send", 8, 0, 6);
  calls.message(0, "MPI_Recv", 8, 1, 6);
  const Trace trace = calls.open();
  UnbufferedOptions options;
  EXPECT_EQ(run_unbuffered(trace, options).waiting_ranks, 1U);
  EXPECT_EQ(count_messages(trace, {}).receives_left, 1U);
  options.leaves_out = [&](GroupId group, SignatureId signature) {
    return group == trace.group_of(0) && signature == SignatureId(receive);
  };
  EXPECT_EQ(run_unbuffered(trace, options).waiting_ranks, 0U);
  EXPECT_EQ(count_messages(trace, {}, options.leaves_out).receives_left, 0U);
}

TEST(MessageCounts, CountsEndsWithoutTheirOthers) {
  TestCalls calls(3);
  for (int i = 0; i < 1000; ++i) calls.message(0, "MPI_Send", 8, 1, 5);
  for (int i = 0; i < 997; ++i) calls.message(1, "MPI_Recv", 8, 0, 5);
  calls.wait(1, calls.begin(1, "MPI_Irecv", 8, 2, 6));
  calls.message(2, "MPI_Send", 8, 0, 7);
  calls.message(0, "MPI_Recv", 8, 2, 7);
  const MessageCounts found = count_messages(calls.open(), {});
  EXPECT_EQ(found.why_not, "");
  EXPECT_EQ(found.channels, 3U);
  EXPECT_EQ(found.sends_left, 3U);
  EXPECT_EQ(found.receives_left, 1U);
  ASSERT_EQ(found.uneven.size(), 2U);
  EXPECT_EQ(found.uneven[0].tag, 5);
  EXPECT_EQ(found.uneven[0].sent, 1000U);
  EXPECT_EQ(found.uneven[0].received, 997U);
  EXPECT_EQ(mpi::find_call(found.uneven[1].call)->name, "MPI_Irecv");
}

}  // namespace
}  // namespace refrain::replay::plan
