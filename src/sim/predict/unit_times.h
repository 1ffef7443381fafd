// UnitTimes: computation from the vectors of ranks that ran alone (`refrain solo --times`), where
// representatives stand for the members of their groups (PHANTOM, sections 5 and 7).
//
// Errors: vectors that are not of this run are a failure. Threads: any, once made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/vectors/vector_file.h"
#include "refrain/trace.h"
#include "sim/lower/compute_times.h"
#include "sim/predict/plan.h"

namespace refrain::sim {

class UnitTimes : public ComputeTimes {
 public:
  // `name`: of the file, for messages. Every rank needs a vector of each thread, its own or its
  // representative's, of its number of calls.
  static base::Result<UnitTimes> make(const Trace& trace, format::vectors::VectorFile file,
                                      const std::string& name, const Plan& plan);

  // The median of the runs.
  uint64_t before(Rank rank, uint32_t thread, uint64_t seq, uint64_t recorded_ns) const override;
  std::string name() const override { return "vectors"; }

  // The same, but for chance: of the n runs of a unit one is drawn, by rank and unit, of which the
  // least, the most, and the median for all others are known, without what runs differ by as a
  // whole. Where ranks wait for each other in each iteration, a run takes the sum of what the
  // slowest ones compute, which no run of medians does.
  uint64_t drawn(Rank rank, uint32_t thread, uint64_t seq, uint64_t seed) const;

  // How uncertain the sum of a rank's units is in a run, as a share of it: one standard deviation.
  // From the spread of each unit over the runs, and from the distance to the representative.
  const std::vector<double>& deviations() const { return deviations_; }

  // What one more run differs by as a whole, in the logarithm of its computation, for all ranks
  // alike: where memory is, and what else a machine does for a second, meet each unit of a run. As
  // far as totals of runs differ by more than the chance of their units explains. With Student's
  // distribution of so many degrees of freedom; 0: nothing is known.
  struct RunDeviation {
    double deviation = 0, freedom = 0;
  };
  const RunDeviation& run_deviation() const { return run_deviation_; }

 private:
  const format::vectors::Vector* vector_of(Rank rank, uint32_t thread, uint64_t seq) const;

  format::vectors::VectorFile file_;
  std::map<std::pair<Rank, uint32_t>, size_t> vectors_;  // of each thread of each rank
  std::vector<double> deviations_;
  std::vector<double> own_shares_;  // of what units differ by, the part that is their own
  RunDeviation run_deviation_;
};

// UnitTimes::drawn() with one seed. `units` outlives it.
class DrawnUnits : public ComputeTimes {
 public:
  DrawnUnits(const UnitTimes& units, uint64_t seed) : units_(units), seed_(seed) {}
  uint64_t before(Rank rank, uint32_t thread, uint64_t seq, uint64_t) const override {
    return units_.drawn(rank, thread, seq, seed_);
  }
  std::string name() const override { return units_.name(); }

 private:
  const UnitTimes& units_;
  const uint64_t seed_;
};

// The expected range of n samples of a normal distribution, in standard deviations.
double expected_range(uint32_t samples);

}  // namespace refrain::sim
