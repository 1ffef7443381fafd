// Pace: the time between calls, as recorded.
//
// Deadlines are absolute: the time before each call is added to the end of the call before as it
// was due, so that errors of single waits do not add up. What a trace knows of times comes from a
// GapSource; a trace without times of single calls may have another one.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "events/look_ahead.h"
#include "reader/call_gaps.h"
#include "replay/pace/pace_clock.h"

namespace refrain::replay {

// What of a trace with statistics of gaps only.
enum class Gaps : uint8_t { kMean, kHistogram };

// Time outside of MPI before each call of a location, in order.
class GapSource {
 public:
  virtual ~GapSource() = default;
  virtual uint64_t before(const events::StagedCall& call) = 0;
};

// From begins and ends of single calls, without the recorder's own work between them.
class GapsOfTimes : public GapSource {
 public:
  GapsOfTimes() = default;
  GapsOfTimes(const Trace& trace, Rank rank, uint32_t thread = 0) : gaps_(trace, rank, thread) {}
  uint64_t before(const events::StagedCall& call) override;

 private:
  reader::CallGaps gaps_;
};

class Pace {
 public:
  struct Options {
    Compute compute = Compute::kNone;
    double scale = 1;
    Gaps gaps = Gaps::kMean;
  };

  // `clock` outlives it.
  Pace(const Options& options, std::unique_ptr<GapSource> gaps, PaceClock& clock)
      : options_(options), gaps_(std::move(gaps)), clock_(clock) {}

  // Lets the time before `call` pass.
  void before(const events::StagedCall& call);
  // The call has returned.
  void after();

  uint64_t wanted_ns() const { return wanted_ns_; }  // outside of MPI, scaled
  uint64_t spent_ns() const { return spent_ns_; }

 private:
  Options options_;
  std::unique_ptr<GapSource> gaps_;
  PaceClock& clock_;
  uint64_t wanted_ns_ = 0, spent_ns_ = 0;
  uint64_t returned_ns_ = 0;  // when the call before returned
  int64_t late_ns_ = 0;       // so much more than wanted was spent until now
};

}  // namespace refrain::replay
