// Temporal maps of a trace with times of single calls: when each rank was in each function, by
// calls, bytes and time. The temporal maps of the online-coupling paper (section IV); of jobs that
// run, online/maps.h makes them out of looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "refrain/trace.h"

namespace refrain::analysis {

struct TemporalCell {
  uint64_t calls = 0, bytes = 0;  // of calls that begin here; bytes as in transfers.h
  double ns = 0;                  // in these calls, within the bin
};

struct TemporalMaps {
  Rank ranks_a_row = 1;
  size_t rows = 0, bins = 0;
  uint64_t begin_ns = 0, end_ns = 0;                      // of the first and the last bin
  std::map<CallId, std::vector<TemporalCell>> functions;  // by row, then bin
};

// Of at most so many rows and bins. Nothing for a trace without times. Reads every call.
TemporalMaps temporal_maps(const Trace& trace, size_t most_rows, size_t bins);

}  // namespace refrain::analysis
