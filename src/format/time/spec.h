// TimeSpec: how much of the time of single calls a trace keeps.
//
//   stats                              statistics per signature, nothing per call
//   bins:0.02                          begin and end of each call, relative error at most 2 %
//   bins:0.02,MPI_Wait=0.2             other bounds for some functions
//   exact                              nanoseconds
//   segments:auto:0.1                  representatives of segments (segments.h)
//
// What a bound eps means for a call (docs/format.md, Time): the gap before it and its duration are
// within eps of the true ones; its begin is within eps of the time since the begin of the last call
// with the same signature on the same thread, and its end within eps of that and the duration: the
// error never adds up. Idea: Pilgrim, section 3.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace refrain::format {

enum class TimeMode : uint8_t { kStats = 0, kBins = 1, kExact = 2, kSegments = 3 };

struct TimeSpec {
  // Bounds are in millionths.
  static constexpr size_t kMaxOverrides = 64;
  static constexpr uint32_t kOne = 1'000'000, kMinBound = 1000, kMaxBound = 500'000;
  struct Override {
    uint16_t call = 0;  // mpi::CallId
    uint32_t bound = 0;
    bool operator==(const Override&) const = default;
  };

  TimeMode mode = TimeMode::kStats;
  uint32_t bound = 0;               // kBins only; else 0
  std::vector<Override> overrides;  // kBins only; ascending by call
  std::string method;               // kSegments only: METHOD:THRESHOLD (similarity/method.h)

  bool has_times() const { return mode != TimeMode::kStats; }
  // In millionths; 0: exact.
  uint32_t bound_of(uint16_t call) const;

  // A usage error says what is wrong. Bounds from 0.001 to 0.5.
  static base::Result<TimeSpec> parse(std::string_view text);
  // That of a run with these texts (Meta::text); statistics where they name none.
  static TimeSpec of_run(const std::map<std::string, std::string>& text);
  std::string to_string() const;
  bool operator==(const TimeSpec&) const = default;
};

}  // namespace refrain::format
