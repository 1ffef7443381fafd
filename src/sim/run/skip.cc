#include "sim/run/skip.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace refrain::sim {

Skipper::Skipper(TraceActions& actions, Engine& engine, uint32_t ranks, bool is_sampled)
    : actions_(actions),
      engine_(engine),
      is_sampled_(is_sampled),
      ranks_(ranks),
      behind_(ranks),
      times_(ranks),
      links_(engine.links()) {}

std::string Skipper::prepare(double share) {
  std::string why = actions_.follow_loops();
  if (!why.empty()) return why;
  const auto differs = actions_.equal_units();
  if (!differs || differs->by_rank_ns > share * differs->computed_ns) {
    actions_.forget_loops();
    if (!differs) return "calls of the loop are without times";
    const double percent = 100 * differs->by_rank_ns / std::max(1.0, differs->computed_ns);
    char text[64];
    std::snprintf(text, sizeof text, "computation of iterations differs by %.3g %%", percent);
    return text;
  }
  bound_ns_ = differs->by_rank_ns;
  engine_.on_mark([this](Time now) { mark(now); });
  return "";
}

// A state is compared with some before it; where none is found, ever less often.
bool Skipper::is_watched() {
  if (marks_ < next_watch_) return false;
  if (marks_ > next_watch_ + 2 * kLongestPeriod) {
    next_watch_ = marks_ + pause_;
    pause_ = std::min<uint64_t>(2 * pause_, 4096);
    states_.clear();
    return false;
  }
  return true;
}

Skipper::State Skipper::look(Time now) {
  State out;
  for (uint32_t rank = 0; rank < ranks_; ++rank) behind_[rank] = marks_ * actions_.loop_calls(rank);
  out.mark = marks_;
  out.print = engine_.fingerprint(behind_);
  out.at = now;
  for (uint32_t rank = 0; rank < ranks_; ++rank) out.times.push_back(engine_.times(rank));
  for (uint32_t link = 0; link < links_.size(); ++link) out.links.push_back(engine_.link_use(link));
  return out;
}

void Skipper::mark(Time now) {
  ++marks_;
  if (is_done_ || actions_.is_skipping() || !is_watched()) return;
  State state = look(now);
  const auto same = std::find_if(states_.rbegin(), states_.rend(),
                                 [&](const State& other) { return other.print == state.print; });
  if (same != states_.rend()) return skip(*same, state);
  if (states_.size() == kLongestPeriod) states_.pop_front();
  states_.push_back(std::move(state));
}

void Skipper::skip(const State& then, const State& now) {
  const uint64_t period = now.mark - then.mark;
  const double iteration_ns = static_cast<double>(now.at - then.at) / static_cast<double>(period);
  if (is_sampled_ && last_skipped_ > 0)
    sampled_ns_ += std::abs(iteration_ns - last_iteration_ns_) * static_cast<double>(last_skipped_);
  uint64_t periods = actions_.iterations_left() / period;
  if (is_sampled_) periods = std::min(periods, std::max<uint64_t>(1, (kSampled - 1) / period));
  is_done_ = periods == 0 || !is_sampled_;
  if (periods == 0) return;
  last_skipped_ = periods * period;
  last_iteration_ns_ = iteration_ns;
  actions_.skip(last_skipped_);
  const auto times = static_cast<Time>(periods);
  ns_ += times * (now.at - then.at);
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const RankTimes &a = then.times[rank], &b = now.times[rank];
    times_[rank].computed += times * (b.computed - a.computed);
    times_[rank].waited += times * (b.waited - a.waited);
    times_[rank].communicated += times * (b.communicated - a.communicated);
    times_[rank].calls += periods * (b.calls - a.calls);
  }
  for (size_t i = 0; i < links_.size(); ++i) {
    links_[i].bytes += static_cast<double>(periods) * (now.links[i].bytes - then.links[i].bytes);
    links_[i].busy_ns +=
        static_cast<double>(periods) * (now.links[i].busy_ns - then.links[i].busy_ns);
  }
  states_.clear();
  next_watch_ = marks_;
}

Time Skipper::error_ns() const { return static_cast<Time>(std::ceil(bound_ns_ + sampled_ns_)); }

void Skipper::add_to(EngineResult& result) const {
  for (size_t rank = 0; rank < times_.size() && rank < result.ranks.size(); ++rank) {
    RankTimes& out = result.ranks[rank];
    out.computed += times_[rank].computed;
    out.waited += times_[rank].waited;
    out.communicated += times_[rank].communicated;
    out.calls += times_[rank].calls;
    out.end += ns_;
  }
  for (EngineResult::Link& link : result.links) {
    link.bytes += links_[link.number].bytes;
    link.busy_ns += links_[link.number].busy_ns;
  }
}

}  // namespace refrain::sim
