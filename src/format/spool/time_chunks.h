// Reads the chunks of a spool file that have times of single calls (layout.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/spool/layout.h"
#include "format/time/data.h"

namespace refrain::format::spool {

// A chunk of times, its header included -> its blocks, and their bytes one behind the other; both
// are appended to. False: it ends with something that is no block; those before it are there.
bool read_time_blocks(std::string_view chunk, std::vector<TimeBlock>& blocks, std::string& bytes);

// A time row, the chunk's header included -> its calls, in ticks; empty when it is none.
struct TimeRow {
  uint64_t position = 0;        // calls of the thread before it
  uint32_t first_terminal = 0;  // what terminals count from
  double ns_per_tick = 1.0;
  std::vector<TimeRowCall> calls;
};
TimeRow read_time_row(std::string_view chunk);

}  // namespace refrain::format::spool
