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

TEST(Portions, AreTheWhole) {
  for (uint32_t seed = 1; seed <= 60; ++seed) expect_the_same(seed);
}

}  // namespace
}  // namespace refrain::analysis::waits
