#include "tracer/times/call_times.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "format/codes/checksum.h"
#include "format/limits.h"
#include "options/environment.h"
#include "tracer/state/current.h"
#include "tracer/state/location.h"
#include "tracer/state/peers.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

uint64_t CallTimes::clock_interval_from_environment() {
  constexpr double kNsPerSecond = 1e9, kMaxSeconds = 1e9;
  const double seconds =
      std::strtod(options::text_of(options::RecordOption::kClockInterval), nullptr);
  return seconds > 0 && seconds <= kMaxSeconds ? static_cast<uint64_t>(seconds * kNsPerSecond) : 0;
}

// Ranks compare it in MPI_Init: with different options their times could not become one section.
// Never 0, which says that a rank keeps none.
uint64_t CallTimes::hash() const {
  return std::max<uint64_t>(
      format::checksum32(spec_.to_string() + copy_ + source_ + across_ + plain_.to_string() +
                         std::to_string(rounds_.interval_ns())),
      1);
}

double CallTimes::ns_per_tick(const Process& p) {
  // Kept: the clock's rate gets better known while the program runs, and encoded times must not
  // jump.
  if (ns_per_tick_ == 0) ns_per_tick_ = p.clock.use_counter ? p.clock.ns_per_tick : 1.0;
  return ns_per_tick_;
}

CallTimes::Scale CallTimes::scale(const Process& p) {
  return {p.initialized ? p.init_ticks : UINT64_MAX, p.initialized ? ns_per_tick(p) : 0};
}

void CallTimes::begin_clock(Process& p, const RankComm& all) {
  sync_.start(all, p.rank, rounds_.is_on());
  add(p, sync_.measure(p.clock));
}

void CallTimes::end_clock(Process& p) {
  // Into the spool as well: whoever receives the job while it runs has the same common clock.
  if (add(p, sync_.measure(p.clock)) && p.sink != nullptr) p.sink->clock_point(points_.back());
  // Messages of a round that not all ranks came to would be taken for those of something else.
  if (rounds_.is_on()) ClockRounds::drain(sync_);
  sync_.stop();
}

void CallTimes::call_ended(Location& l, uint32_t terminal) {
  Process& p = *l.process;
  // A round is the recorder's own work between two calls of the program, and is noted as such.
  const uint64_t begin = p.clock.ticks();
  ClockReading reading;
  if (!p.initialized || !has_peers() || rounds_.is_over() || !round_calls_.counts(l, terminal))
    return;
  switch (rounds_.call_counted(p.clock, sync_, &reading)) {
    case ClockRounds::Outcome::kNothing: return;
    // A rank that has ended, or waits elsewhere for another one: comparing goes on at the end only.
    case ClockRounds::Outcome::kNotAllCame:
      return p.lose("clocks_not_compared", "--clock-interval: not all ranks came to a round");
    case ClockRounds::Outcome::kMeasured: break;
  }
  // Into the spool as well, so that the times of a job that dies can be put on one clock.
  if (add(p, reading) && p.sink != nullptr) p.sink->clock_point(points_.back());
  thin_out(p.size);
  const uint64_t end = p.clock.ticks();
  l.own_time.add(end - begin);
  l.note_own_work(end);
}

// So long a run that a file has no room for all of them keeps every second one.
void CallTimes::thin_out(int ranks) {
  const uint64_t most =
      std::min(format::kMaxClockPoints,
               format::kMaxClockPointsOfAll / static_cast<uint64_t>(std::max(ranks, 1))) -
      1;
  if (points_.size() < std::max<uint64_t>(most, 4)) return;
  size_t kept = 0;
  for (size_t i = 0; i < points_.size(); i += 2) points_[kept++] = points_[i];
  points_.resize(kept);
}

void CallTimes::take_date(Process& p) {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  constexpr int64_t kSecond = 1'000'000'000;
  add(p, {p.clock.ticks(), int64_t{t.tv_sec} * kSecond + t.tv_nsec});
}

// A clock that was set back between two readings tells nothing about its rate.
bool CallTimes::add(const Process& p, const ClockReading& reading) {
  const format::ClockPoint point{static_cast<int64_t>(to_ns(p, reading.ticks)), reading.common_ns};
  if (!points_.empty() &&
      (point.local_ns <= points_.back().local_ns || point.common_ns < points_.back().common_ns))
    return false;
  points_.push_back(point);
  return true;
}

}  // namespace refrain::tracer
