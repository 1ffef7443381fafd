// Reads one spool file (layout.h): the record of its process, and its state when it died.
//
// Any bytes give a record or an error. Contradictory data, and data that depends on it, is left out
// and listed in `damage`. Time and memory O(size of the file).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/spool/layout.h"
#include "format/time/data.h"
#include "format/trace_data.h"

namespace refrain::format::spool {

// How far a thread had come; wall-clock time in ns since 1970.
struct Progress {
  uint32_t thread = 0;
  uint64_t calls = 0;
  uint64_t held_calls = 0;    // not among them, as a filter had not decided about them
  uint32_t open_call = 0;     // id of the call under way, 0: none
  uint32_t last_call = 0;     // id of the last call that returned, 0: none
  uint64_t last_time_ns = 0;  // when either of them happened
};

// Times of the first calls of a thread, on the rank's own clock.
struct ThreadTimes {
  uint32_t thread = 0;
  uint64_t calls = 0;  // of all blocks
  std::vector<TimeBlock> blocks;
  std::string bytes;  // of these
};
// In blocks that a trace may have, some at a time. Segments that were matched while the program ran
// are what their representatives say, each as long as it was. False: `visit` has said so.
using VisitTimes = std::function<bool(std::vector<TimeBlock>, std::string_view bytes)>;
bool for_each_run(const ThreadTimes& times, const VisitTimes& visit);
// Whether there are such.
bool has_matched(const ThreadTimes& times);

struct RankSpool {
  Header header;
  RankRecord record;
  TimeSpec timing;
  std::vector<ThreadTimes> times;  // empty: none are kept; ascending by thread
  std::vector<ClockPoint> clock;   // common_ns: of rank 0's clock, from anywhere
  std::vector<Progress> threads;
  std::vector<std::string> damage;  // empty: everything in the file was understood
};

// Only the header, for a first look.
base::Result<Header> read_header(std::string_view bytes);
base::Result<RankSpool> read(std::string_view bytes);

}  // namespace refrain::format::spool
