// Runs that are received as if they ran, looked at at any moments, have in the end the waits that
// one sweep over the whole trace finds.

#include "online/live_waits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/waits/testing/random_program.h"
#include "format/live/decode/receiver.h"
#include "online/recorded_job.h"
#include "online/recorded_rank.h"

namespace refrain::online {
namespace {

namespace waits = analysis::waits;
using waits::Pattern;

// What is compared.
struct Found {
  std::map<Pattern, std::pair<uint64_t, uint64_t>> patterns;
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> ranks;
  uint64_t calls = 0, unassigned_ns = 0;
  bool operator==(const Found&) const = default;
};

Found found(const WaitsNow& now) {
  Found out;
  for (const WaitsNow::OfPattern& p : now.patterns) out.patterns[p.pattern] = {p.ns, p.count};
  for (const WaitsNow::OfRank& r : now.ranks) out.ranks[r.rank] = {r.waiting_ns, r.causing_ns};
  out.calls = now.calls;
  out.unassigned_ns = now.unassigned_ns;
  return out;
}

Found whole(const Trace& trace) {
  waits::WaitTally tally;
  events::TraceCalls calls(trace);
  waits::Sweep sweep(trace, calls, {}, {&tally, true});
  sweep.run();
  Found out;
  for (size_t i = 0; i < tally.patterns.size(); ++i)
    if (tally.patterns[i].count > 0)
      out.patterns[static_cast<Pattern>(i)] = {tally.patterns[i].ns, tally.patterns[i].count};
  for (size_t r = 0; r < tally.ranks.size(); ++r)
    if (tally.ranks[r].waiting_ns + tally.ranks[r].causing_ns > 0)
      out.ranks[r] = {tally.ranks[r].waiting_ns, tally.ranks[r].causing_ns};
  out.calls = sweep.counts().calls;
  out.unassigned_ns = sweep.counts().unassigned_ns;
  return out;
}

// The ranks of a trace, as streams.
struct Ranks {
  explicit Ranks(const Trace& trace) : run(*RecordedRun::of(trace)) {
    for (Rank r = 0; r < trace.rank_count(); ++r) {
      if (trace.locations(r).empty()) continue;
      auto sender = RecordedRank::of(run, static_cast<uint64_t>(r), kBegin);
      EXPECT_TRUE(sender.ok()) << sender.error().to_string();
      senders.push_back(std::move(*sender));
      receivers.push_back(std::make_unique<format::live::Receiver>());
    }
  }
  void look(uint64_t age_ns, bool is_last, LiveWaits& to) {
    for (size_t i = 0; i < senders.size(); ++i) {
      const auto sent = senders[i].until(age_ns, is_last);
      ASSERT_TRUE(sent.ok()) << sent.error().to_string();
      const base::Status got = receivers[i]->receive(*sent);
      ASSERT_TRUE(got.ok()) << got.error().to_string();
      to.take(*receivers[i], receivers[i]->now(), is_last);
    }
    to.advance(true, is_last);
  }
  static constexpr uint64_t kBegin = 1'700'000'000'000'000'000;
  RecordedRun run;
  std::vector<RecordedRank> senders;
  std::vector<std::unique_ptr<format::live::Receiver>> receivers;
};

uint64_t expect_the_same(const Trace& trace, uint64_t end_ns, uint32_t seed) {
  std::mt19937_64 random(seed);
  Ranks ranks(trace);
  LiveWaits live;
  const uint64_t most = 1 + end_ns / (1 + random() % 40);
  uint64_t swept = 0, ns = 0, looks_with_waits = 0;
  for (uint64_t age = 0; age < end_ns; age += 1 + random() % most) {
    ranks.look(age, false, live);
    const WaitsNow& now = live.now();
    EXPECT_EQ(now.late_calls, 0u);
    EXPECT_EQ(now.stopped, "");
    EXPECT_GE(now.swept_until_ns, swept);
    EXPECT_LE(now.swept_until_ns, age);
    EXPECT_EQ(now.recent_ns, now.ns - ns);
    looks_with_waits += now.recent_ns > 0 ? 1 : 0;
    swept = now.swept_until_ns;
    ns = now.ns;
  }
  ranks.look(end_ns, true, live);
  EXPECT_EQ(live.now().late_calls, 0u);
  EXPECT_TRUE(live.now().is_whole);
  const Found batch = whole(trace);
  EXPECT_EQ(found(live.now()).patterns, batch.patterns);
  EXPECT_EQ(found(live.now()), batch);
  return looks_with_waits;
}

// `scale`: so many times as long; how far states move the end of what is known depends on it.
uint64_t expect_of_random(uint32_t seed, uint64_t scale, const char* spec) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + spec);
  const int count = 2 + static_cast<int>(seed % 5);
  waits::RandomProgram p(seed, count, 120, seed % 3 == 0);
  (void)p.program.analyse();
  reader::TraceBuilder& builder = p.program.builder();
  uint64_t end = 1;
  for (Rank r = 0; r < count; ++r) {
    std::vector<std::pair<uint64_t, uint64_t>> times = p.program.times(r);
    for (auto& [begin_ns, end_ns] : times) {
      begin_ns *= scale, end_ns *= scale;
      end = std::max(end, end_ns + 1);
    }
    builder.times(static_cast<uint64_t>(r), times, spec, 1 + seed % 100);
  }
  builder.data().meta.duration_ns = end;
  return expect_the_same(builder.open(), end, seed);
}

TEST(LiveWaits, OfRandomProgramsAreTheWhole) {
  uint64_t looks = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed)
    looks += expect_of_random(seed, seed % 2 == 0 ? 1 : 100'000, "exact");
  // They were found on the way, and not in the end alone.
  EXPECT_GT(looks, 100u);
}

TEST(LiveWaits, OfBinnedTimesAreTheWhole) {
  for (uint32_t seed = 1; seed <= 20; ++seed)
    (void)expect_of_random(seed, seed % 2 == 0 ? 10 : 100'000, "bins:0.02");
}

TEST(LiveWaits, OfTheCorpusAreTheWhole) {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(REFRAIN_CORPUS)) {
    if (entry.path().extension() != ".rfn") continue;
    const auto trace = Trace::open_with_times(entry.path().string());
    if (!trace.ok() || !trace->has_times() || trace->clustering()) continue;
    const auto timing = trace->timing();
    if (!timing.ok() || timing->kind == TimingKind::kSegments) continue;
    SCOPED_TRACE(entry.path().string());
    (void)expect_the_same(*trace, trace->info().duration_ns, 7);
    ++compared;
  }
  EXPECT_GE(compared, 6);
}

// A state that was told too late: the call is taken all the same, counted, and states are believed
// less from then on.
TEST(LiveWaits, CountCallsThatComeTooLate) {
  constexpr uint64_t kSecond = 1'000'000'000;
  waits::TestProgram p(2);
  p.call(0, p.barrier(p.world), 0, 100);
  p.call(1, p.barrier(p.world), 0, 100);
  p.call(0, p.message("MPI_Ssend", 1, 7, p.world), 5 * kSecond, 12 * kSecond);
  p.call(1, p.receive(0, 7, p.world), kSecond, 12 * kSecond);
  for (Rank r = 0; r < 2; ++r) p.call(r, p.barrier(p.world), 40 * kSecond, 41 * kSecond);
  (void)p.analyse();
  for (Rank r = 0; r < 2; ++r) p.builder().times(static_cast<uint64_t>(r), p.times(r));
  p.builder().data().meta.duration_ns = 41 * kSecond;
  const Trace trace = p.builder().open();
  Ranks ranks(trace);
  LiveWaits live;
  const auto look = [&](uint64_t age_ns, bool says_call, bool is_last) {
    for (size_t i = 0; i < ranks.senders.size(); ++i) {
      ASSERT_TRUE(ranks.receivers[i]->receive(*ranks.senders[i].until(age_ns, is_last)).ok());
      format::spool::RankSpool record = ranks.receivers[i]->now();
      if (!says_call) record.threads[0].open_call = 0;
      if (!says_call) record.threads[0].last_time_ns = Ranks::kBegin + 100;
      live.take(*ranks.receivers[i], record, is_last);
    }
    live.advance(true, is_last);
  };
  look(10 * kSecond, false, false);
  EXPECT_GT(live.now().swept_until_ns, 9 * kSecond);
  EXPECT_EQ(live.now().late_calls, 0u);
  look(13 * kSecond, true, false);
  EXPECT_EQ(live.now().late_calls, 2u);
  look(30 * kSecond, true, false);
  EXPECT_LT(live.now().swept_until_ns, 20 * kSecond);
  look(41 * kSecond, true, true);
  EXPECT_EQ(found(live.now()), whole(trace));
  EXPECT_EQ(live.now().patterns.front().pattern, Pattern::kLateSender);
}

// Who sends nonsense ends the analysis of its job, with the reason.
TEST(LiveWaits, StopAtClocksThatMakeNoSense) {
  waits::TestProgram p(1);
  p.call(0, p.barrier(p.world), 10, 100);
  (void)p.analyse();
  p.builder().times(0, p.times(0));
  p.builder().data().meta.duration_ns = 100;
  const Trace trace = p.builder().open();
  for (const std::vector<format::ClockPoint>& points :
       {std::vector<format::ClockPoint>{{5, 5}, {5, 7}}, {{5, 5}, {7, 4}}, {{INT64_MIN, 0}}}) {
    Ranks ranks(trace);
    ASSERT_TRUE(ranks.receivers[0]->receive(*ranks.senders[0].until(100, true)).ok());
    format::spool::RankSpool record = ranks.receivers[0]->now();
    record.clock = points;
    LiveWaits live;
    live.take(*ranks.receivers[0], record, true);
    live.advance(true, true);
    EXPECT_EQ(live.now().stopped, "its clock makes no sense");
  }
}

// Statistics only: one line says why there are none.
TEST(LiveWaits, NeedTimes) {
  reader::TraceBuilder builder(1);
  const uint32_t world = builder.world();
  builder.group({0}, {builder.signature(reader::ShapeWriter("MPI_Barrier").none().object(world))});
  const Trace trace = builder.open();
  Ranks ranks(trace);
  LiveWaits live;
  ranks.look(100, false, live);
  EXPECT_EQ(live.now().why_not, kNoTimes);
  ranks.look(1500, true, live);
  EXPECT_EQ(live.now().why_not, kNoTimes);
  EXPECT_FALSE(live.now().is_whole);
}

}  // namespace
}  // namespace refrain::online
