// CallTimes: data on times of single calls that the threads of a rank share (`--timing bins:...`
// and `exact`).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format/time/data.h"
#include "format/time/spec.h"
#include "mpi_runtime/clocks/clock_rounds.h"
#include "mpi_runtime/clocks/clock_sync.h"
#include "tracer/times/plain_log.h"
#include "tracer/times/round_calls.h"

namespace refrain::tracer {

struct Location;
class Process;
class SegmentTimes;

class CallTimes {
 public:
  // `copy`: path of a second trace, with exact times; empty: none.
  CallTimes(format::TimeSpec spec, std::string copy, PlainSpec plain, uint64_t clock_interval_ns)
      : spec_(std::move(spec)),
        copy_(std::move(copy)),
        plain_(std::move(plain)),
        rounds_(clock_interval_ns) {}

  const format::TimeSpec& spec() const { return spec_; }
  const std::string& copy() const { return copy_; }
  // What is made of the exact times in the end; null: nothing.
  SegmentTimes* segments() const { return segments_; }
  // With the words of the options --segments and --across-ranks.
  void make_segments(SegmentTimes* segments, std::string source, std::string across) {
    segments_ = segments;
    source_ = std::move(source);
    across_ = std::move(across);
  }
  const std::string& segment_source() const { return source_; }
  const std::string& across_ranks() const { return across_; }
  const PlainSpec& plain() const { return plain_; }
  // Different for different specifications; 0 stands for none.
  uint64_t hash() const;

  // The clock's rate as it was when times were first asked for: what is encoded must not jump when
  // the rate gets better known. The clock points set it right.
  double ns_per_tick(const Process& process);
  // Of many moments.
  struct Scale {
    uint64_t begin_ticks;  // UINT64_MAX: MPI_Init has not begun
    double ns_per_tick;
    // Since the begin of MPI_Init; what came before has no time of its own.
    uint64_t to_ns(uint64_t ticks) const {
      if (ticks <= begin_ticks) return 0;
      return static_cast<uint64_t>(static_cast<int64_t>(
          static_cast<double>(static_cast<int64_t>(ticks - begin_ticks)) * ns_per_tick));
    }
  };
  Scale scale(const Process& process);
  uint64_t to_ns(const Process& process, uint64_t ticks) { return scale(process).to_ns(ticks); }

  // From REFRAIN_CLOCK_INTERVAL, in seconds.
  static uint64_t clock_interval_from_environment();

  // ---- the common clock; collective over all ranks ----
  void begin_clock(Process& process, const RankComm& all);
  void end_clock(Process& process);
  // Behind such a call of the program, which has been recorded: it may be time to compare clocks.
  bool wants(mpi::CallId call) const { return rounds_.is_on() && RoundCalls::may_count(call); }
  void call_ended(Location& location, uint32_t terminal);
  // For processes that cannot ask each other: the date, as their systems have it.
  void take_date(Process& process);

  // Moments of this rank's clock, in ns since the begin of its MPI_Init, and of the common one,
  // which begins anywhere.
  const std::vector<format::ClockPoint>& points() const { return points_; }

 private:
  bool add(const Process& process, const ClockReading& reading);
  void thin_out(int ranks);

  const format::TimeSpec spec_;
  const std::string copy_;
  SegmentTimes* segments_ = nullptr;  // lives as long as the process
  std::string source_, across_;
  const PlainSpec plain_;
  double ns_per_tick_ = 0;  // 0: not asked for yet
  ClockSync sync_;
  ClockRounds rounds_;
  RoundCalls round_calls_;
  std::vector<format::ClockPoint> points_;
};

}  // namespace refrain::tracer
