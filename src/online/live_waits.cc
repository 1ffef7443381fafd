#include "online/live_waits.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace refrain::online {

namespace waits = analysis::waits;

namespace {

constexpr uint64_t kEventsAtOnce = uint64_t{1} << 16;

uint64_t steady_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

uint64_t more(uint64_t now, uint64_t before) { return now - std::min(now, before); }

}  // namespace

// One sweep, from the first call on.
struct LiveWaits::Pass {
  explicit Pass(ReceivedCalls& calls) : sweep(calls.trace(), calls, options(), {&tally, false}) {}
  static waits::Options options() {
    waits::Options how;
    how.memory_bytes = 0;
    how.most_messages = kMostMessages;
    how.most_collectives = kMostCollectives;
    return how;
  }
  waits::WaitTally tally;
  waits::Sweep sweep;
};

LiveWaits::LiveWaits() = default;
LiveWaits::~LiveWaits() = default;
LiveWaits::LiveWaits(LiveWaits&&) noexcept = default;
LiveWaits& LiveWaits::operator=(LiveWaits&&) noexcept = default;

void LiveWaits::take(const format::live::Receiver& receiver, const format::spool::RankSpool& record,
                     bool is_over) {
  if (!now_.stopped.empty() || now_.is_whole) return;
  const format::TimeSpec spec = format::TimeSpec::of_run(record.record.text);
  if (spec.mode != format::TimeMode::kExact && spec.mode != format::TimeMode::kBins) {
    now_.why_not = kNoTimes;
    return;
  }
  now_.why_not.clear();
  if (calls_ == nullptr) calls_ = std::make_unique<ReceivedCalls>(record.header.world_size, spec);
  if (const base::Status taken = calls_->take(receiver, record, is_over); !taken.ok())
    stop(taken.error().to_string());
}

// What was found stays; the rest is given back.
void LiveWaits::stop(std::string why) {
  now_.stopped = std::move(why);
  pass_.reset();
  calls_.reset();
}

void LiveWaits::begin_pass() {
  calls_->begin();
  pass_ = std::make_unique<Pass>(*calls_);
  pass_->sweep.open();
  for (const Location& where : calls_->new_locations()) pass_->sweep.add(where);
}

void LiveWaits::advance(bool is_good, bool is_over) {
  if (calls_ == nullptr) return;
  if (!is_good || (pass_ == nullptr && !is_over && !calls_->is_ready())) return calls_->release();
  if (pass_ == nullptr) begin_pass();
  const ReceivedCalls::Bound bound = calls_->bound();
  const uint64_t until_ns = std::min(bound.ns, calls_->now_ns());
  now_.behind_rank = bound.rank;
  if (!is_over) {
    for (const Location& where : calls_->new_locations()) pass_->sweep.add(where);
    const uint64_t begin_ns = steady_ns();
    bool is_done = false;
    do {
      is_done = pass_->sweep.advance(until_ns, kEventsAtOnce);
    } while (!is_done && steady_ns() - begin_ns < kMostLookNs);
    if (!is_done) now_.behind_rank = -1;
    calls_->promise(pass_->sweep.swept_ns());
  } else {
    // Offsets of clocks at their first comparison are all that is known before the last one.
    if (calls_->clocks_changed() && pass_->sweep.counts().calls <= kMostCallsAgain) begin_pass();
    for (const Location& where : calls_->new_locations()) pass_->sweep.add(where);
    pass_->sweep.finish();
    now_.behind_rank = -1;
  }
  sum_up(is_over);
  calls_->release();
  if (!is_over) return;
  pass_.reset();
  calls_.reset();
}

void LiveWaits::sum_up(bool is_last) {
  const WaitsNow before = std::exchange(now_, {});
  const waits::WaitTally& tally = pass_->tally;
  const waits::Counts& counts = pass_->sweep.counts();
  std::map<waits::Pattern, WaitsNow::OfPattern> patterns;
  for (const WaitsNow::OfPattern& p : before.patterns) patterns[p.pattern] = p;
  for (size_t i = 0; i < tally.patterns.size(); ++i) {
    const auto& [ns, count] = tally.patterns[i];
    if (ns == 0 && count == 0) continue;
    const auto pattern = static_cast<waits::Pattern>(i);
    const WaitsNow::OfPattern& was = patterns[pattern];
    now_.patterns.push_back({pattern, ns, count, more(ns, was.ns), more(count, was.count)});
    now_.ns += ns;
  }
  std::map<uint64_t, WaitsNow::OfRank> ranks;
  for (const WaitsNow::OfRank& r : before.ranks) ranks[r.rank] = r;
  for (size_t i = 0; i < tally.ranks.size(); ++i) {
    const waits::WaitTally::OfRank& r = tally.ranks[i];
    if (r.waiting_ns == 0 && r.causing_ns == 0) continue;
    const WaitsNow::OfRank& was = ranks[i];
    now_.ranks.push_back({i, r.waiting_ns, r.causing_ns, more(r.waiting_ns, was.waiting_ns),
                          more(r.causing_ns, was.causing_ns)});
  }
  const auto weight = [](const WaitsNow::OfRank& r) { return r.waiting_ns + r.causing_ns; };
  std::stable_sort(now_.ranks.begin(), now_.ranks.end(),
                   [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
  now_.recent_ns = more(now_.ns, before.ns);
  now_.calls = counts.calls;
  now_.unassigned_ns = counts.unassigned_ns;
  now_.recent_from_ns = before.swept_until_ns;
  now_.swept_until_ns = pass_->sweep.swept_ns();
  now_.lag_ns = is_last ? 0 : more(calls_->now_ns(), now_.swept_until_ns);
  now_.behind_rank = before.behind_rank;
  now_.unmatched_ends = pass_->sweep.dropped();
  now_.late_calls = calls_->late_calls();
  now_.is_whole = is_last;
}

}  // namespace refrain::online
