// How much of each stretch of time the locations of a picture's row waited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/timeline.h"

namespace refrain::analysis {

// Rows of neighbouring locations, as few in each as fit `most_rows`; columns are stretches of the
// bins of the timeline, as even as whole bins can be.
class WaitTable {
 public:
  WaitTable() = default;
  WaitTable(const Timeline& timeline, size_t most_rows, size_t most_columns);

  void add(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  // Row by row, 255 is all of the time of all of its locations.
  std::string shares() const;

 private:
  double edge(size_t column) const;  // where it begins

  size_t rows_ = 0, columns_ = 0, block_ = 1, bins_ = 0, locations_ = 0;
  double begin_ns_ = 0, bin_ns_ = 0;
  std::map<std::pair<Rank, uint32_t>, size_t> place_;  // of a location among all
  std::vector<double> ns_;
};

}  // namespace refrain::analysis
