// RunNoise: what chance does to the computation of a run, drawn anew unit by unit.
//
// A run on the other machine is one draw of chance, and so was the recorded one. Where ranks wait
// for each other in each iteration, a run takes the sum of what the slowest rank of each iteration
// computes: that neither grows nor shrinks when chance falls on other ranks, but grows when chance
// is added to units that have theirs already. So units are drawn in the place of the recorded ones,
// not around them.
//
// Ranks of a group make the same calls. Unit i of rank r is taken for level[i] times 1 + own[r] +
// chance:
//
//   level   mean of unit i over the ranks: what all do alike, however it changes in the run
//   own     of a rank, for units of one kind (those between calls of the same two signatures): by
//           what share it takes longer than the levels in all
//   chance  has the variance of what is left of units of the kind. Where a rank has one unit of the
//           kind, or a group has one rank, half the mean square of what neighbours differ by
//           (ranks, or units) is the variance (J. von Neumann, 1941)
//
// Part of what levels and ranks differ by is chance as well. Levels are moved towards the mean of
// their kind, and ranks towards their group, by the share of the variance that chance explains (as
// W. James, C. Stein, 1961). The chance that they keep is left out of what is drawn, so that a unit
// differs in draws by as much as in runs.
//
// Shapes come from what is left of all units, in deviations of their kinds (a bootstrap); where
// there are fewer than kShapesARank of them for each rank, smoothed by a normal distribution (B.
// Silverman, G. Young, 1987), as the largest of many ranks may be larger than any that was seen.
// Means and deviations are known as well as so many ranks and units tell (the mean of a normal
// distribution, and its variance with a chi-square distribution), and are drawn for each run, too.
//
// A unit without another one of its kind stays as it was.
//
// Units: ns. Memory: linear in the units of a rank of each group, and in ranks; groups beyond
// kMostEntries in all are left out, and have RecordedSpread. Threads: any, once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "refrain/trace.h"
#include "sim/lower/compute_times.h"

namespace refrain::sim {

// Units of the ranks of a group, added rank by rank in one order, twice.
class GroupNoise {
 public:
  static constexpr uint32_t kNoUnit = UINT32_MAX;

  // `kinds`: of each unit, below `kind_count`; kNoUnit: there is none.
  GroupNoise(std::vector<uint32_t> kinds, uint32_t kind_count);
  void add_to_levels(const std::vector<double>& units);
  void end_levels();
  void add_to_own(const std::vector<double>& units);
  void end_own();

  size_t ranks() const { return ranks_; }
  size_t units() const { return kinds_.size(); }
  bool has(size_t unit) const { return unit < kinds_.size() && kinds_[unit] != kNoUnit; }
  double centre(size_t rank, size_t unit) const;  // without chance
  double deviation(size_t unit) const { return levels_[unit] * of_kinds_[kinds_[unit]].deviation; }
  uint32_t kind(size_t unit) const { return kinds_[unit]; }
  size_t kinds() const { return of_kinds_.size(); }
  // How well a kind is known: one of the levels, and of the deviation, that are as likely as those
  // that were found, in relation to these. Two numbers of a standard normal distribution choose.
  struct Doubt {
    double level = 1, deviation = 1;
  };
  Doubt doubt(size_t kind, double one, double other) const;

 private:
  struct Kind {
    double units = 0, level = 0, level_squares = 0;  // of a rank: how many, and sums
    double last = -1;                                // level
    double level_steps = 0, steps = 0;               // squares from unit to unit, rank to rank
    double squares = 0;                              // of what is left within ranks, all ranks
    double deviation = 0;                            // share of the level
    double freedom = 0;                              // how many differences it is from
    double kept_levels = 1, kept_own = 1;            // shares of what levels and ranks differ by
    // As many units of equal levels tell as much.
    double count() const { return level_squares > 0 ? level * level / level_squares : 0; }
  };
  double chance_of(Kind& kind, double between) const;

  std::vector<uint32_t> kinds_;
  std::vector<double> levels_;
  std::vector<Kind> of_kinds_;
  std::vector<float> own_;  // by rank and kind
  std::vector<double> sums_;
  size_t ranks_ = 0;
};

class RunNoise {
 public:
  static constexpr size_t kShapes = 4096, kShapesARank = 8;
  static constexpr uint64_t kMostEntries = uint64_t{1} << 24;

  // Reads all times three times.
  static RunNoise of(const Trace& trace);

  // Whether units of a rank are drawn.
  bool has(Rank rank) const { return places_[static_cast<size_t>(rank)].group != kNone; }
  // What differs from draw to draw beside the chance of units: by group and kind.
  using Doubts = std::vector<std::vector<GroupNoise::Doubt>>;
  Doubts doubts(uint64_t seed) const;
  uint64_t unit_ns(uint64_t seed, const Doubts& doubts, Rank rank, uint32_t thread, uint64_t seq,
                   uint64_t recorded_ns) const;

  // For tests: of what is left of all units, in deviations.
  const std::vector<float>& shapes() const { return shapes_; }
  void set_shapes(std::vector<float> shapes, double seen, size_t ranks);
  double shape(uint64_t random) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Place {
    uint32_t group = kNone, rank = 0;  // in it
  };
  struct Group {
    GroupNoise noise{{}, 0};
    std::vector<size_t> first;  // unit of each thread
    std::vector<uint32_t> threads;
  };
  void add_group(const Trace& trace, GroupId id);
  void collect_shapes(const Trace& trace);

  std::vector<Place> places_;
  uint64_t entries_ = 0;  // of all groups
  std::vector<Group> groups_;
  std::vector<float> shapes_;
  double smoothed_by_ = 0;
};

// Computation of one draw.
class DrawnTimes : public ComputeTimes {
 public:
  // Another one for each seed.
  DrawnTimes(const RunNoise& noise, uint64_t seed)
      : noise_(noise), seed_(seed), doubts_(noise.doubts(seed)) {}
  uint64_t before(Rank rank, uint32_t thread, uint64_t seq, uint64_t recorded_ns) const override {
    return noise_.unit_ns(seed_, doubts_, rank, thread, seq, recorded_ns);
  }
  std::string name() const override { return "drawn"; }

 private:
  const RunNoise& noise_;
  uint64_t seed_;
  RunNoise::Doubts doubts_;
};

// Numbers that follow from others, each bit as likely as not (S. Vigna's SplitMix64), and from them
// numbers of a standard normal distribution.
uint64_t scrambled(uint64_t value);
double normal_of(uint64_t random);

}  // namespace refrain::sim
