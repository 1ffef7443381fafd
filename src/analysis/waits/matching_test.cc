// Whoever finds out which send and which receive are one message finds the same, and what random
// programs know by keeping lists of what was sent and posted and searching them: the sweep, and
// ranks one after another, in memory and outside of it.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/message_list.h"
#include "analysis/waits/testing/random_program.h"
#include "events/by_rank/survey.h"
#include "events/open_ends.h"
#include "mpi/call_ids.h"

namespace refrain::analysis::waits {
namespace {

// Sender, its call, receiver, the call that posted the receive.
using Pair = std::tuple<Rank, uint64_t, Rank, uint64_t>;
using Pairs = std::multiset<Pair>;

Pairs truth(const RandomProgram& p) {
  Pairs out;
  for (const TrueMessage& m : p.messages)
    if (m.send_call != kNever && m.post_call != kNever)
      out.insert({m.sender, m.send_call, m.receiver, m.post_call});
  return out;
}

Pairs of_sweep(RandomProgram& p, Rank ranks) {
  events::OpenEnds everything(ranks);
  for (Rank r = 0; r < ranks; ++r) everything.add_rank(r);
  MessageCollector all(everything, {});
  Options options;
  options.patience_ns = 10'000'000;
  options.observer = &all;
  p.program.analyse(options);
  Pairs out;
  for (const ListedMessage& m : all.take().listed)
    out.insert({m.sent.rank, m.sent.seq, m.posted.rank, m.posted.seq});
  return out;
}

// A cursor's calls at the times of a program.
class Timed : public CallStream {
 public:
  Timed(Cursor cursor, const std::vector<std::pair<uint64_t, uint64_t>>& times)
      : cursor_(std::move(cursor)), times_(times) {}
  bool next(ClockedCall& out) override {
    const Call* const call = cursor_.next();
    if (call == nullptr) return false;
    out = {call->signature, call->seq, times_[call->seq].first, times_[call->seq].second};
    return true;
  }

 private:
  Cursor cursor_;
  const std::vector<std::pair<uint64_t, uint64_t>>& times_;
};

// `unknown`: receives whose message the trace does not tell.
Pairs rank_by_rank(const Trace& trace, size_t memory_bytes, uint64_t* unknown = nullptr) {
  events::Tally tally;
  const events::Progress nobody;
  events::Scope::Choice all;
  all.memory_bytes = memory_bytes;
  all.folder = ::testing::TempDir();
  events::Scope scope(trace, all, nobody, tally);
  events::World world(trace);
  events::Survey survey(scope, world);
  EXPECT_TRUE(survey.run().ok());
  struct Ends {
    std::optional<std::pair<Rank, uint64_t>> sent, posted;
    bool are_whole = false;
  };
  std::map<std::tuple<CommKey, Rank, Rank, int64_t, uint64_t>, Ends> messages;
  for (const Rank rank : scope.ranks) {
    events::RankEvents calls(scope, world, rank);
    while (const events::Event* call = calls.next()) {
      for (const events::Step& step : call->steps) {
        if (!step.has_message || (!step.begins_send() && !step.begins_receive())) continue;
        const ChannelKey& c = step.channel;
        Ends& ends = messages[{c.comm, c.source, c.dest, c.tag, step.number}];
        auto& end = step.begins_send() ? ends.sent : ends.posted;
        EXPECT_FALSE(end.has_value()) << "a number twice";
        end = {rank, call->seq};
        ends.are_whole = survey.is_whole(step);
      }
    }
    calls.report();
  }
  if (unknown != nullptr)
    *unknown = tally.not_held["receives whose message the trace does not tell"];
  Pairs out;
  for (const auto& [name, ends] : messages) {
    EXPECT_EQ(ends.are_whole, ends.sent && ends.posted);
    if (ends.sent && ends.posted)
      out.insert({ends.sent->first, ends.sent->second, ends.posted->first, ends.posted->second});
  }
  return out;
}

TEST(Matching, IsOneForAllThatWalkCalls) {
  size_t messages = 0, cancelled = 0;
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int ranks = 2 + static_cast<int>(seed % 5);
    RandomProgram p(seed, ranks, 150, seed % 2 == 0);
    const Pairs expected = truth(p);
    messages += expected.size();
    for (const auto& of_rank : p.calls)
      for (const TrueCall& call : of_rank) cancelled += call.call == mpi::kMPI_Cancel ? 1 : 0;
    ASSERT_EQ(of_sweep(p, ranks), expected);
    ASSERT_EQ(rank_by_rank(*p.program.trace, size_t{1} << 28), expected);
    ASSERT_EQ(rank_by_rank(*p.program.trace, 0), expected);
  }
  EXPECT_GT(messages, 1000U);
  EXPECT_GT(cancelled, 50U);
}

// Two receives of one channel, and the first is given up: the other one gets the message.
TEST(Matching, ACancelledReceiveLeavesItsPlace) {
  TestProgram p(2);
  const uint32_t first = p.call(1, p.message("MPI_Irecv", 0, 7, p.world).new_request(0), 10, 20);
  const uint32_t second = p.call(1, p.message("MPI_Irecv", 0, 7, p.world).new_request(1), 20, 30);
  p.call(1, p.simple("MPI_Cancel", {}).request(first), 30, 40);
  p.call(1, p.wait(first), 50, 60);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), 100, 110);
  p.call(1, p.wait(second), 200, 210);
  p.analyse();
  for (const size_t memory : {size_t{1} << 28, size_t{0}})
    EXPECT_EQ(rank_by_rank(*p.trace, memory), (Pairs{{0, 0, 1, 1}})) << memory;
}

// It takes no message, so there is none that the trace would have to tell.
TEST(Matching, ACancelledReceiveFromAnybodyLacksNothing) {
  TestProgram p(2);
  ShapeWriter any("MPI_Irecv");
  any.object(p.site).none().integer(1).object(p.type).constant("MPI_ANY_SOURCE").integer(7);
  const uint32_t request = p.call(1, any.object(p.world).new_request(0), 10, 20);
  p.call(1, p.simple("MPI_Cancel", {}).request(request), 30, 40);
  p.call(1, p.wait(request), 50, 60);
  EXPECT_EQ(p.analyse().counts.unknown_messages, 0U);
  uint64_t unknown = 1;
  EXPECT_TRUE(rank_by_rank(*p.trace, 0, &unknown).empty());
  EXPECT_EQ(unknown, 0U);
}

// Rank 1 asks so often whether a message from anybody has come, until it has.
void ask_for_long(TestProgram& p, uint64_t tests) {
  ShapeWriter any("MPI_Irecv"), vain("MPI_Test"), probe("MPI_Iprobe"), good("MPI_Test");
  any.object(p.site).none().integer(1).object(p.type).constant("MPI_ANY_SOURCE").integer(7);
  const uint32_t request = p.call(1, any.object(p.world).new_request(0), 10, 20);
  vain.object(p.site).request(request).integer(0).none();
  probe.object(p.site).integer(0).integer(9).object(p.world).integer(0).none();
  const uint32_t asked = p.signature(vain), probed = p.signature(probe);
  uint64_t ns = 100;
  for (uint64_t i = 0; i < tests; ++i) {
    p.add(1, i % 3 == 0 ? probed : asked, ns, ns + i % 700);
    ns += i % 700 + i * i % 41;
  }
  good.object(p.site).request(request).integer(1);
  good.tag(format::FieldTag::kStatus).integer(0).integer(7);
  p.call(1, good, ns, ns + 50);
  p.call(0, p.message("MPI_Send", 1, 7, p.world), ns - 10, ns);
}

// Rank 1 of such a program.
struct Asking {
  Asking(TestProgram& p, events::LightRoom& room)
      : reader(*p.trace, 1),
        comms(*p.trace),
        decoder(reader, comms, places),
        ahead(std::make_unique<Timed>(std::move(*reader.cursor(0)), p.times(1)), decoder, room) {}
  RankReader reader;
  CommTable comms;
  events::Decoder::Places places;
  events::Decoder decoder;
  LookAhead ahead;
};

// While a manager asks millions of times whether a result has come, calls are read ahead: each
// comes out as it is, and the message is found behind them.
TEST(Matching, AReceiveFromAnybodyThatIsAskedForLongGetsItsMessage) {
  constexpr uint64_t kTests = 300'000;
  static_assert(kTests > 4 * LookAhead::kMost);
  TestProgram p(2);
  ask_for_long(p, kTests);
  EXPECT_EQ(p.analyse().counts.unknown_messages, 0U);
  uint64_t unknown = 1;
  EXPECT_EQ(rank_by_rank(*p.trace, size_t{1} << 28, &unknown), (Pairs{{0, 0, 1, 0}}));
  EXPECT_EQ(unknown, 0U);

  events::LightRoom room;
  Asking rank(p, room);
  events::StagedCall call;
  std::vector<std::pair<uint64_t, uint64_t>> times;
  std::vector<SignatureId> signatures;
  while (rank.ahead.next(call)) {
    EXPECT_EQ(call.seq, times.size());
    times.emplace_back(call.begin_ns, call.end_ns);
    signatures.push_back(call.op->signature->id);
    EXPECT_EQ(call.taken.size(), call.seq == 0 ? 1u : 0u);
  }
  EXPECT_EQ(times, p.times(1));
  EXPECT_EQ(room.used_bytes, 0U);
  Cursor cursor = std::move(*rank.reader.cursor(0));
  for (size_t i = 0; const Call* const read = cursor.next(); ++i)
    ASSERT_EQ(signatures[i], read->signature->id) << i;
}

// Where thousands of ranks ask so at the same time, memory is not that of each of them.
TEST(Matching, RanksShareTheRoomOfCallsThatWait) {
  TestProgram p(2);
  ask_for_long(p, 3 * LookAhead::kMost);
  EXPECT_EQ(p.analyse().counts.unknown_messages, 0U);
  events::LightRoom room;
  room.most_bytes = size_t{1} << 20;
  events::StagedCall call;
  {
    Asking first(p, room), second(p, room), third(p, room);
    ASSERT_TRUE(first.ahead.next(call));
    EXPECT_EQ(call.taken.size(), 1U);
    ASSERT_TRUE(second.ahead.next(call));
    EXPECT_EQ(call.taken.size(), 0U);
    EXPECT_GE(room.used_bytes, room.most_bytes);
    const size_t used = room.used_bytes;
    ASSERT_TRUE(third.ahead.next(call));
    EXPECT_EQ(call.taken.size(), 0U);
    EXPECT_LT(room.used_bytes - used, 8 * LookAhead::kMost);  // what each may have
  }
  EXPECT_EQ(room.used_bytes, 0U);
}

}  // namespace
}  // namespace refrain::analysis::waits
