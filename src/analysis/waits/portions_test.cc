// A run that is analysed while its calls come, portion by portion, gives what it gives at once.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/message_list.h"
#include "analysis/waits/testing/random_program.h"
#include "events/open_ends.h"

namespace refrain::analysis::waits {
namespace {

// Signatures come with the first call that has them.
class Arriving : public SignatureSource {
 public:
  explicit Arriving(RankReader& reader) : reader_(reader) {}
  void come(SignatureId id) { come_.insert(id); }
  Rank rank() const override { return reader_.rank(); }
  const Trace& trace() const override { return reader_.trace(); }
  const Signature& signature(SignatureId id) override {
    return come_.count(id) > 0 ? reader_.signature(id) : none_;
  }

 private:
  RankReader& reader_;
  std::set<SignatureId> come_;
  Signature none_ = [] {
    Signature none;
    none.id = UINT32_MAX;
    return none;
  }();
};

// Calls that begin before a time that moves on. They are known before that: `ahead` more of each.
class Growing : public CallSource {
 public:
  explicit Growing(TestProgram& program) : program_(program) {}
  void grow(uint64_t until_ns, size_t ahead) { until_ns_ = until_ns, ahead_ = ahead; }

  bool has_times() override { return true; }
  SignatureSource* signatures(RankReader& reader) override {
    auto& mine = signatures_[reader.rank()];
    if (mine == nullptr) mine = std::make_unique<Arriving>(reader);
    return mine.get();
  }
  std::unique_ptr<CallStream> open(RankReader& reader, uint32_t thread) override {
    Result<Cursor> cursor = reader.cursor(thread);
    if (!cursor.ok()) return nullptr;
    signatures(reader);
    return std::make_unique<Stream>(*this, std::move(*cursor), reader.rank());
  }

 private:
  class Stream : public CallStream {
   public:
    Stream(Growing& of, Cursor cursor, Rank rank)
        : of_(of), cursor_(std::move(cursor)), rank_(rank) {}
    bool next(ClockedCall& out) override {
      const auto& times = of_.program_.times(rank_);
      size_t known = 0;
      while (known < times.size() && times[known].first < of_.until_ns_) ++known;
      if (given_ >= std::min(times.size(), known + of_.ahead_)) return false;
      const Call* const call = cursor_.next();
      of_.signatures_[rank_]->come(call->signature->id);
      out = {call->signature, call->seq, times[given_].first, times[given_].second};
      ++given_;
      return true;
    }
    bool has_ended() const override { return given_ == of_.program_.times(rank_).size(); }

   private:
    Growing& of_;
    Cursor cursor_;
    Rank rank_;
    size_t given_ = 0;
  };

  TestProgram& program_;
  uint64_t until_ns_ = 0;
  size_t ahead_ = 0;
  std::map<Rank, std::unique_ptr<Arriving>> signatures_;
};

// What a sweep has found, to compare.
struct Found {
  std::vector<std::tuple<Pattern, DefinitionId, CallId, Rank, uint64_t, uint64_t>> severities;
  std::vector<std::tuple<uint64_t, uint64_t, uint64_t>> ranks;
  std::vector<uint64_t> numbers;
  std::vector<std::tuple<Rank, uint64_t, Rank, uint64_t, uint64_t, uint64_t>> messages;
  bool operator==(const Found&) const = default;
};

Found found(const Sweep& sweep, MessageCollector& collector) {
  Found out;
  WaitStates all;
  sweep.fill(all);
  for (const Severity& s : all.severities)
    out.severities.emplace_back(s.pattern, s.path, s.call, s.rank, s.ns, s.count);
  // Of equal times those come first whose place was met first, which is another one in portions.
  std::sort(out.severities.begin(), out.severities.end());
  for (const RankTime& r : all.ranks) out.ranks.emplace_back(r.total_ns, r.useful_ns, r.waiting_ns);
  const Counts& c = all.counts;
  out.numbers = {c.calls,
                 c.messages,
                 c.collectives,
                 c.waits,
                 c.unmatched_sends,
                 c.unmatched_receives,
                 c.incomplete_collectives,
                 c.unknown_messages,
                 c.unknown_requests,
                 c.repaired_messages,
                 c.unassigned_ns,
                 all.efficiency.runtime_ns,
                 all.efficiency.ideal_ns};
  for (const ListedMessage& m : collector.take().listed)
    out.messages.emplace_back(m.sent.rank, m.sent.seq, m.posted.rank, m.posted.seq, m.done.seq,
                              m.wait_ns);
  return out;
}

void expect_the_same(uint32_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const int ranks = 2 + static_cast<int>(seed % 5);
  RandomProgram p(seed, ranks, 150, seed % 3 == 0);
  events::OpenEnds everything(ranks);
  for (Rank r = 0; r < ranks; ++r) everything.add_rank(r);
  Options options;
  options.patience_ns = 10'000'000;
  MessageCollector at_once(everything, {});
  options.observer = &at_once;
  Found whole;
  p.program.sweep(options, [&](Sweep& sweep) { whole = found(sweep, at_once); });

  uint64_t end = 0;
  for (Rank r = 0; r < ranks; ++r)
    for (const auto& [begin_ns, end_ns] : p.program.times(r)) end = std::max(end, end_ns);
  std::mt19937 random(seed);
  MessageCollector in_portions(everything, {});
  options.observer = &in_portions;
  Growing source(p.program);
  Sweep sweep(*p.program.trace, source, options);
  sweep.open();
  const uint64_t most = 1 + end / (1 + random() % 40);
  uint64_t calls = 0;
  for (uint64_t until = 0; until <= end; until += 1 + random() % most) {
    source.grow(until, random() % 3);
    sweep.advance(until);
    WaitStates so_far;
    sweep.fill(so_far);
    EXPECT_GE(so_far.counts.calls, calls);
    calls = so_far.counts.calls;
  }
  source.grow(UINT64_MAX, 0);
  sweep.finish();
  const Found portions = found(sweep, in_portions);
  EXPECT_EQ(portions.severities, whole.severities);
  EXPECT_EQ(portions.ranks, whole.ranks);
  EXPECT_EQ(portions.numbers, whole.numbers);
  EXPECT_EQ(portions.messages, whole.messages);
}

uint64_t sum_of(const std::vector<WaitTally::OfRank>& ranks, uint64_t WaitTally::OfRank::*what) {
  uint64_t sum = 0;
  for (const WaitTally::OfRank& r : ranks) sum += r.*what;
  return sum;
}

// What is told of a sweep without a log, some events at a time, is what all of it found.
uint64_t expect_the_tally(uint32_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const int ranks = 2 + static_cast<int>(seed % 5);
  RandomProgram p(seed, ranks, 150, seed % 3 == 0);
  Options options;
  options.patience_ns = 10'000'000;
  WaitStates whole;
  p.program.sweep(options, [&](Sweep& sweep) { sweep.fill(whole); });

  uint64_t end = 0;
  for (Rank r = 0; r < ranks; ++r)
    for (const auto& [begin_ns, end_ns] : p.program.times(r)) end = std::max(end, end_ns);
  std::mt19937 random(seed);
  WaitTally tally;
  Growing source(p.program);
  Sweep sweep(*p.program.trace, source, options, {&tally, false});
  sweep.open();
  const uint64_t most = 1 + end / (1 + random() % 40);
  uint64_t swept = 0;
  for (uint64_t until = 0; until <= end; until += 1 + random() % most) {
    source.grow(until, random() % 3);
    while (random() % 8 != 0 && !sweep.advance(until, random() % 5)) {
      EXPECT_GE(sweep.swept_ns(), swept);
      EXPECT_LE(sweep.swept_ns(), until);
      swept = sweep.swept_ns();
    }
  }
  source.grow(UINT64_MAX, 0);
  sweep.finish();

  std::map<Pattern, std::pair<uint64_t, uint64_t>> patterns, told;
  for (const Severity& s : whole.severities) {
    patterns[s.pattern].first += s.ns;
    patterns[s.pattern].second += s.count;
  }
  for (size_t i = 0; i < tally.patterns.size(); ++i)
    if (tally.patterns[i].count > 0)
      told[static_cast<Pattern>(i)] = {tally.patterns[i].ns, tally.patterns[i].count};
  EXPECT_EQ(told, patterns);
  for (size_t r = 0; r < whole.ranks.size(); ++r)
    EXPECT_EQ(r < tally.ranks.size() ? tally.ranks[r].waiting_ns : 0, whole.ranks[r].waiting_ns);
  const uint64_t waiting = sum_of(tally.ranks, &WaitTally::OfRank::waiting_ns);
  EXPECT_EQ(sum_of(tally.ranks, &WaitTally::OfRank::causing_ns),
            waiting - whole.counts.unassigned_ns);
  EXPECT_EQ(sweep.log().nodes.file_bytes() + sweep.log().waits.file_bytes(), 0u);
  return waiting;
}

TEST(Portions, AreToldOnTheWay) {
  uint64_t waiting = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) waiting += expect_the_tally(seed);
  EXPECT_GT(waiting, 0u);
}

// The rank that is late is the one that others are said to have waited for.
TEST(Portions, TheLateRankIsTheOneWaitedFor) {
  TestProgram p(3);
  for (Rank r = 0; r < 3; ++r) p.call(r, p.barrier(p.world), r == 1 ? 900 : 100, 1000);
  p.call(0, p.receive(2, 7, p.world), 1100, 5000);
  p.call(2, p.message("MPI_Send", 0, 7, p.world), 4900, 4950);
  (void)p.analyse();
  WaitTally tally;
  Growing source(p);
  source.grow(UINT64_MAX, 0);
  Sweep sweep(*p.trace, source, {}, {&tally, false});
  sweep.run();
  ASSERT_EQ(tally.ranks.size(), 3u);
  EXPECT_EQ(tally.ranks[0].causing_ns, 0u);
  EXPECT_EQ(tally.ranks[1].causing_ns, 2 * 800u);  // the barrier, of both
  EXPECT_EQ(tally.ranks[2].causing_ns, 3800u);     // the message
  EXPECT_EQ(tally.of(Pattern::kWaitAtBarrier).count, 2u);
  EXPECT_EQ(tally.of(Pattern::kLateSender).ns, 3800u);
}

// A message that nobody receives keeps none of those that come behind it.
TEST(Portions, WhatIsKeptDoesNotGrowBehindALostMessage) {
  TestProgram p(2);
  uint64_t at = 100;
  p.call(0, p.message("MPI_Send", 1, 9, p.world), at, at + 1);
  for (int i = 0; i < 1000; ++i, at += 10) {
    p.call(0, p.message("MPI_Send", 1, 7, p.world), at + 2, at + 3);
    p.call(1, p.receive(0, 7, p.world), at + 1, at + 4);
  }
  const WaitStates result = p.analyse();
  EXPECT_EQ(result.counts.unmatched_sends, 1u);
  EXPECT_EQ(result.counts.messages, 1001u);
  EXPECT_LT(result.counts.open_messages_most, 5u);
  // It lies there all the time: each receive could have taken it first.
  EXPECT_GT(result.ns_of(Pattern::kLateSenderWrongOrder), 0u);
}

TEST(Portions, AreTheWhole) {
  for (uint32_t seed = 1; seed <= 60; ++seed) expect_the_same(seed);
}

}  // namespace
}  // namespace refrain::analysis::waits
