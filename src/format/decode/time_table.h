// Which block has which calls of a location, and the clocks, worked out from the index of times.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "format/time/data.h"

namespace refrain::format {

// From a rank's clock to ns of the common clock since the earliest MPI_Init.
class ClockMap {
 public:
  // `base_ns`: that earliest moment on the common clock.
  ClockMap(std::vector<ClockPoint> points, int64_t base_ns)
      : points_(std::move(points)), base_ns_(base_ns) {}

  // Never decreasing; 0 for what lies before the base.
  uint64_t to_common(uint64_t local_ns) const;
  // On the common clock itself.
  static int64_t common_of(const std::vector<ClockPoint>& points, int64_t local_ns);

 private:
  std::vector<ClockPoint> points_;
  int64_t base_ns_ = 0;
};

class TimeTable {
 public:
  struct Block {
    TimeBlock block;
    uint64_t offset = 0;      // of its bytes in the section
    uint64_t first_call = 0;  // of the location
    uint64_t before_ns = 0;   // end of the block before
  };

  // `index` keeps the rules of check_time_index().
  explicit TimeTable(const TimeIndex& index);

  const TimeSpec& spec() const { return spec_; }
  // TimeMode::kSegments only. What stands for segments is read apart: see set_representatives().
  const SegmentInfo& segments() const { return segments_; }
  using Representatives = std::shared_ptr<const std::vector<Representative>>;
  const Representatives& representatives() const { return representatives_; }
  void set_representatives(std::vector<Representative> all) {
    representatives_ = std::make_shared<const std::vector<Representative>>(std::move(all));
  }
  uint64_t block_count() const { return block_count_; }
  uint64_t block_bytes() const { return block_bytes_; }
  using RankThread = std::pair<uint64_t, uint32_t>;  // rank, thread
  const std::map<RankThread, std::vector<Block>>& locations() const { return locations_; }
  // Empty when the location has no times.
  const std::vector<Block>& blocks(uint64_t rank, uint32_t thread) const;
  ClockMap clock(uint64_t rank) const;

 private:
  TimeSpec spec_;
  SegmentInfo segments_;
  Representatives representatives_;
  std::vector<std::vector<ClockPoint>> clocks_;
  int64_t base_ns_ = 0;
  std::map<RankThread, std::vector<Block>> locations_;
  uint64_t block_count_ = 0, block_bytes_ = 0;
};

}  // namespace refrain::format
