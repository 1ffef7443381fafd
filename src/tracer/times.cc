#include "tracer/times.h"

#include <time.h>

#include <algorithm>

#include "format/checksum.h"
#include "tracer/process.h"

namespace refrain::tracer {

uint64_t Times::hash() const {
  return std::max<uint64_t>(
      format::checksum32(spec_.to_string() + copy_ + source_ + across_ + plain_.to_string()), 1);
}

double Times::ns_per_tick(const Process& p) {
  if (ns_per_tick_ == 0) ns_per_tick_ = p.clock.use_counter ? p.clock.ns_per_tick : 1.0;
  return ns_per_tick_;
}

uint64_t Times::to_ns(const Process& p, uint64_t ticks) {
  if (!p.initialized || ticks <= p.init_ticks) return 0;
  return static_cast<uint64_t>(static_cast<double>(ticks - p.init_ticks) * ns_per_tick(p));
}

void Times::begin_clock(Process& p) {
  sync_.start(p);
  add(p, sync_.measure(p));
}

void Times::end_clock(Process& p) {
  add(p, sync_.measure(p));
  sync_.stop();
}

void Times::take_date(Process& p) {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  constexpr int64_t kSecond = 1'000'000'000;
  add(p, {p.clock.ticks(), int64_t{t.tv_sec} * kSecond + t.tv_nsec});
}

// A clock that was set back between two readings tells nothing about its rate.
void Times::add(const Process& p, const ClockReading& reading) {
  const format::ClockPoint point{static_cast<int64_t>(to_ns(p, reading.ticks)), reading.common_ns};
  if (!points_.empty() &&
      (point.local_ns <= points_.back().local_ns || point.common_ns < points_.back().common_ns))
    return;
  points_.push_back(point);
}

}  // namespace refrain::tracer
