// Maps of a job while it runs: what each rank did in each MPI function, and in each POSIX function
// where those are counted (density), and when (temporal), by calls, bytes and time. The density and
// temporal maps of the online-coupling paper (section IV).
//
// Taken from what is known at each look, so they need no times of single calls: what came since the
// look before is spread evenly over the time between the two. Bounded: more than kMostRows ranks
// share rows, and when the run is longer than kMostBins bins, two bins become one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "refrain/trace.h"

namespace refrain::online {

struct MapCell {
  uint64_t calls = 0, bytes = 0, ns = 0;
};

struct Maps {
  static constexpr size_t kMostRows = 64, kMostBins = 120;
  struct OfCall {
    std::vector<MapCell> density;   // by row
    std::vector<MapCell> temporal;  // by row, then bin; the sum of a row is its density, but for
                                    // times, which are means that may sink
  };
  Rank ranks = 0;
  Rank ranks_a_row = 1;
  size_t rows = 0, bins = 0;  // bins: that have begun
  uint64_t bin_ns = 100'000'000;
  std::map<CallId, OfCall> calls;
  std::map<uint8_t, OfCall> posix;  // by format::PosixFunction
};

class MapLog {
 public:
  // The job at an age; ages ascend. Is skipped where looks would take more than a twentieth of the
  // time, unless `is_last`.
  void add(const Trace& trace, uint64_t age_ns, bool is_last);
  // As of the last one; null before the first. Never changed afterwards.
  std::shared_ptr<const Maps> now() const { return now_; }

 private:
  void make_room(Maps& maps, uint64_t age_ns) const;

  std::shared_ptr<const Maps> now_;
  uint64_t last_age_ns_ = 0;
  uint64_t next_ns_ = 0;  // by the wall clock
};

}  // namespace refrain::online
