// One block of the time section -> begin and end of its calls.
//
// Any bytes give either times that follow the rules of docs/format.md on order and agree with the
// index, or an error message. Keep one for each thread that reads: it holds tables.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/time/data.h"
#include "format/time/grid.h"
#include "format/time/model.h"

namespace refrain::format {

class BlockDecoder {
 public:
  explicit BlockDecoder(TimeSpec spec) : spec_(std::move(spec)) {}

  // Fills begin_ns and end_ns of block.calls calls, whose terminals are there. `call_of`: the
  // function of each terminal. `bytes`: the block's;
  // the checksum is verified here. `before_ns`: end of the block before, 0 for the first.
  base::Status decode(const TimeBlock& block, std::string_view bytes, uint64_t before_ns,
                      std::span<const uint16_t> call_of, std::span<TimedCall> calls);

 private:
  const Grid& grid_of(uint32_t step);
  bool read_grids(std::string_view& bytes);
  base::Status decode_plainly(const TimeBlock& block, std::string_view bytes, uint64_t before_ns,
                              std::span<TimedCall> calls) const;

  TimeSpec spec_;
  TimeModel model_;
  std::map<uint32_t, Grid> known_;  // by step
  std::vector<const Grid*> grids_;  // of the block: common, then overrides
  struct Seen {
    uint32_t block = 0, signature = 0, calls = 0;
  };
  std::vector<Seen> seen_;  // by terminal
  uint32_t block_ = 0;
};

}  // namespace refrain::format
