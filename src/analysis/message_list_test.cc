// Messages for pictures, on random programs that know which call sent, posted and completed each.

#include "analysis/message_list.h"

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "analysis/wait_table.h"
#include "analysis/waits/testing/random_program.h"
#include "events/untimed_calls.h"

namespace refrain::analysis {
namespace {

using waits::kNever;
using waits::RandomProgram;

// Sender, its call, receiver, the call that posted the receive.
using Pair = std::tuple<Rank, uint64_t, Rank, uint64_t>;
// ... and the call that completed it.
using Ends = std::tuple<Rank, uint64_t, Rank, uint64_t, uint64_t>;

Ends ends_of(const ListedMessage& m) {
  EXPECT_EQ(m.posted.rank, m.done.rank);
  return {m.sent.rank, m.sent.seq, m.posted.rank, m.posted.seq, m.done.seq};
}

std::multiset<Ends> truth(const RandomProgram& p) {
  std::multiset<Ends> out;
  for (const waits::TrueMessage& m : p.messages)
    if (m.send_call != kNever && m.post_call != kNever && m.done_call != kNever)
      out.insert({m.sender, m.send_call, m.receiver, m.post_call, m.done_call});
  return out;
}

std::multiset<Ends> all_ends(const MessageList& list) {
  std::multiset<Ends> out;
  for (const ListedMessage& m : list.listed) out.insert(ends_of(m));
  return out;
}

// Pairs that counting finds on the channels that are counted, as the page does.
class Counting {
 public:
  explicit Counting(const Trace& trace) : ends(trace.rank_count()), comms(trace) {
    for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
      RankReader reader(trace, rank);
      events::Decoder ops(reader, comms, places_);
      Result<Cursor> calls = reader.cursor(0);
      EXPECT_TRUE(calls.ok());
      while (const Call* call = calls->next()) see(rank, call->seq, ops.op(*call->signature), ops);
    }
  }
  std::multiset<Pair> pairs() const {
    std::multiset<Pair> out;
    for (const auto& [key, sends] : sent_) {
      const auto& [comm, from, to, tag] = key;
      const auto received = received_.find(key);
      if (received == received_.end() || !ends.is_counted(comm, from, to, tag)) continue;
      for (size_t i = 0; i < std::min(sends.size(), received->second.size()); ++i)
        out.insert({from, sends[i], to, received->second[i]});
    }
    return out;
  }

  events::OpenEnds ends;
  events::CommTable comms;

 private:
  using Key = std::tuple<events::CommKey, Rank, Rank, int64_t>;
  using Numbers = std::map<Key, std::vector<uint64_t>>;

  void see(Rank rank, uint64_t seq, events::Op& op, events::Decoder& ops) {
    ends.add(rank, op, ops);
    if (op.action == events::Action::kStart)
      for (events::RequestUse use : op.requests)
        if (const events::Op* made_by = ops.maker(use); made_by != nullptr)
          count(rank, seq, *made_by);
    if (!op.is_persistent) count(rank, seq, op);
  }
  void count(Rank rank, uint64_t seq, const events::Op& op) {
    const bool both = op.action == events::Action::kSendReceive;
    if (both || op.action == events::Action::kSend)
      sent_[{op.send.comm, rank, op.send.peer, op.send.tag}].push_back(seq);
    if (both || op.action == events::Action::kReceive)
      received_[{op.receive.comm, op.receive.peer, rank, op.receive.tag}].push_back(seq);
  }

  events::Decoder::Places places_;
  Numbers sent_, received_;
};

void expect_all_messages(uint32_t seed, size_t& counted, size_t& listed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const int ranks = 3 + static_cast<int>(seed % 5);
  RandomProgram p(seed, ranks, 150);
  events::OpenEnds everything(ranks);
  for (Rank r = 0; r < ranks; ++r) everything.add_rank(r);
  MessageCollector all(everything, {});
  waits::Options options;
  options.patience_ns = 10'000'000;
  options.observer = &all;
  p.program.analyse(options);
  const std::multiset<Ends> expected = truth(p);
  ASSERT_EQ(all_ends(all.take()), expected);

  // Without times, only what counting does not find; both together are all.
  const Trace& trace = *p.program.trace;
  Counting counting(trace);
  MessageCollector some(counting.ends, {.has_waits = false});
  events::UntimedCalls calls;
  options.observer = &some;
  options.comms = &counting.comms;
  waits::observe(trace, calls, options);
  const MessageList list = some.take();
  EXPECT_EQ(list.uncounted, list.listed.size());
  EXPECT_TRUE(list.late.empty());
  std::multiset<Pair> found = counting.pairs(), of_truth;
  counted += found.size();
  listed += list.listed.size();
  for (const ListedMessage& m : list.listed)
    found.insert({m.sent.rank, m.sent.seq, m.posted.rank, m.posted.seq});
  for (const waits::TrueMessage& m : p.messages)
    if (m.send_call != kNever && m.post_call != kNever)
      of_truth.insert({m.sender, m.send_call, m.receiver, m.post_call});
  EXPECT_EQ(found, of_truth);
}

TEST(MessageList, EveryMessageOfRandomProgramsHasItsEnds) {
  size_t counted = 0, listed = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) expect_all_messages(seed, counted, listed);
  EXPECT_GT(counted, 50U);
  EXPECT_GT(listed, 1000U);
}

SeenMessage message(uint64_t wait_ns, bool again = false) {
  SeenMessage out;
  out.receiver = 1;
  out.wait_ns = wait_ns;
  out.is_again = again;
  return out;
}

TEST(MessageList, KeepsTheLongestWaitsAndSomeOfEveryPart) {
  constexpr uint64_t kMessages = 10'000;
  std::mt19937_64 random(11);
  events::OpenEnds ends(2);
  ends.add_rank(0);
  MessageCollector collector(ends, {.most = 100, .most_late = 7});
  std::vector<std::pair<uint64_t, uint64_t>> waits;  // wait, number
  for (uint64_t i = 0; i < kMessages; ++i) {
    const uint64_t first = random() % 2 == 0 ? 0 : 1 + random() % 1'000'000;
    const SeenCall sent = {0, 0, i, 0, 0}, posted = {1, 0, i, 0, 0};
    if (collector.wants(message(first))) collector.ends(message(first), sent, posted, posted);
    uint64_t wait = first;
    if (random() % 4 == 0) {  // its sender waited as well, and longer
      wait += 500'000;
      if (collector.wants(message(wait, true)))
        collector.ends(message(wait, true), sent, posted, posted);
    }
    waits.emplace_back(wait, i);
  }
  const MessageList list = collector.take();
  EXPECT_EQ(list.uncounted, kMessages);
  ASSERT_LE(list.listed.size(), 100U);
  std::sort(waits.rbegin(), waits.rend());
  std::set<uint64_t> kept;
  for (const ListedMessage& m : list.listed) kept.insert(m.posted.seq);
  EXPECT_EQ(kept.size(), list.listed.size());
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(kept.count(waits[i].second), 1U) << i;
  uint64_t before = 0;
  for (const uint64_t seq : kept) {
    EXPECT_LT(seq - before, kMessages / 20);
    before = seq;
  }
  ASSERT_EQ(list.late.size(), 7U);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(list.late[i].wait_ns, waits[i].first);
    EXPECT_EQ(list.late[i].posted.seq, waits[i].second);
  }
}

TEST(OpenEnds, OnlyChannelsThatAReceiveLeavesOpen) {
  waits::TestProgram p(3);
  p.builder().group({0, 1, 2}, {p.call(0, p.receive(1, 4, p.world), 0, 1)});
  const Trace trace = p.builder().open();
  RankReader reader(trace, 0);
  events::CommTable comms(trace);
  events::Decoder::Places places;
  events::Decoder ops(reader, comms, places);
  const auto open = [&](Rank source, int64_t tag) {
    events::Op op;
    op.action = events::Action::kReceive;
    op.receive.peer = source;
    op.receive.tag = tag;
    op.receive.comm = 5;
    return op;
  };
  events::OpenEnds ends(3);
  EXPECT_TRUE(ends.empty());
  ends.add(0, open(1, 4), ops);  // names what it takes
  EXPECT_TRUE(ends.empty());
  ends.add(0, open(events::kAny, 4), ops);
  ends.add(0, open(2, events::kAny), ops);
  ends.add(0, open(2, events::kAny), ops);
  EXPECT_EQ(ends.of(0).size(), 2U);
  EXPECT_FALSE(ends.is_counted(5, 1, 0, 4));
  EXPECT_TRUE(ends.is_counted(5, 1, 0, 3));
  EXPECT_TRUE(ends.is_counted(6, 1, 0, 4));
  EXPECT_FALSE(ends.is_counted(5, 2, 0, 3));
  EXPECT_TRUE(ends.is_counted(5, 0, 1, 4));
  for (int64_t tag = 0; tag < 100; ++tag) ends.add(1, open(events::kAny, tag), ops);
  EXPECT_EQ(ends.of(1).size(), 1U);
  EXPECT_FALSE(ends.is_counted(9, 2, 1, 7000));
  ends.add_rank(2);
  EXPECT_FALSE(ends.is_counted(6, 2, 0, 4));
}

TEST(WaitTable, IsTheShareOfEachStretch) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    Timeline t;
    t.bins = 1 + random() % 50;
    t.begin_ns = random() % 1000;
    t.end_ns = t.begin_ns + t.bins * (1 + random() % 20);
    const size_t locations = 1 + random() % 9, most_rows = 1 + random() % 5;
    for (size_t i = 0; i < locations; ++i) {
      TimelineRow row;
      row.rank = static_cast<Rank>(i / 2);
      row.thread = i % 2;
      t.rows.push_back(row);
    }
    const size_t most_columns = 1 + random() % 60;
    WaitTable table(t, most_rows, most_columns);
    ASSERT_LE(table.rows(), most_rows);
    const size_t columns = table.columns(), block = (locations + most_rows - 1) / most_rows;
    const uint64_t bin_ns = (t.end_ns - t.begin_ns) / t.bins;
    // By the nanosecond.
    std::vector<double> ns(table.rows() * columns);
    for (size_t i = 0; i < locations; ++i) {
      uint64_t from = t.begin_ns + random() % 10;
      const uint64_t to = from + random() % (t.end_ns + 10);
      table.add(static_cast<Rank>(i / 2), i % 2, from, to);
      for (; from < std::min(to, t.end_ns); ++from)
        for (size_t x = 0; x < columns; ++x)
          if ((from - t.begin_ns) / bin_ns >= x * t.bins / columns &&
              (from - t.begin_ns) / bin_ns < (x + 1) * t.bins / columns)
            ns[i / block * columns + x] += 1;
    }
    const std::string shares = table.shares();
    ASSERT_EQ(shares.size(), ns.size());
    for (size_t i = 0; i < ns.size(); ++i) {
      const size_t x = i % columns, y = i / columns;
      const auto width = static_cast<double>(((x + 1) * t.bins / columns - x * t.bins / columns) *
                                             bin_ns * std::min(block, locations - y * block));
      EXPECT_NEAR(static_cast<uint8_t>(shares[i]), 255 * ns[i] / width, 1) << i;
    }
  }
}

}  // namespace
}  // namespace refrain::analysis
