// A window of the run's time: [from_ns, to_ns) on the clock that all ranks share.
//
// The part of a call, wait or computation that lies in the window counts. Quantities that cannot be
// divided (counts, bytes, messages) belong to the window in which the call begins. So the windows
// that divide a run add up to the run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::analysis {

struct Window {
  uint64_t from_ns = 0, to_ns = UINT64_MAX;
  bool is_all() const { return from_ns == 0 && to_ns == UINT64_MAX; }
  bool has(uint64_t ns) const { return ns >= from_ns && ns < to_ns; }
  // How much of [begin, end) lies in it.
  uint64_t part(uint64_t begin, uint64_t end) const {
    const uint64_t low = std::max(begin, from_ns), high = std::min(end, to_ns);
    return high > low ? high - low : 0;
  }
};

// Whether questions about the window can be answered: a usage error for an empty one, and
// kUnsupported, with what to record with, where the trace has no times of single calls.
Status check_window(const Trace& trace, const Window& window);

// Whether the rank may have calls inside of calls: those of callbacks, which it must have made
// known to MPI. Calls come in the order of their ends, so that the calls inside of another one come
// before it. Without them the first call that begins behind a window is the end of it.
bool has_calls_inside_of_calls(RankReader& reader);

// Which calls of a thread are listed: those numbered first to last - 1, that end at `from_ns` or
// later and begin at `to_ns` or earlier. Calls without a time are listed whatever the times.
struct CallRange {
  uint64_t first = 0, last = UINT64_MAX;
  uint64_t from_ns = 0, to_ns = UINT64_MAX;
};

// Walks them, in the order of the trace. Keep the reader alive and in place; it reads times where
// the range has some.
class CallsInRange {
 public:
  static Result<CallsInRange> open(RankReader& reader, uint32_t thread, const CallRange& range);
  // As Cursor::next().
  const Call* next() {
    while (const Call* const call = cursor_.next()) {
      if (call->seq >= range_.last) break;
      if (!call->has_time || call->begin_ns <= range_.to_ns) return call;
      if (!nests_) break;
    }
    return nullptr;
  }
  const Status& time_status() const { return cursor_.time_status(); }

 private:
  CallsInRange(Cursor cursor, const CallRange& range, bool nests)
      : cursor_(std::move(cursor)), range_(range), nests_(nests) {}
  Cursor cursor_;
  CallRange range_;
  bool nests_;  // a call that begins behind the range may be inside of one that does not
};

// Calls of one signature on one rank.
struct CallsInWindow {
  SignatureId signature = 0;
  uint64_t begun = 0;  // calls that begin in the window
  uint64_t parts = 0;  // calls of which some lies in it
  uint64_t ns = 0;     // sum, least and most of those parts
  uint64_t min_ns = 0, max_ns = 0;
};

struct RankInWindow {
  std::vector<CallsInWindow> calls;  // by signature
  uint64_t in_mpi_ns = 0;            // calls inside of calls count once
  uint64_t outside_ns = 0;           // from the first call of a thread to its last, outside of MPI
  uint64_t own_ns = 0;               // of that: the recorder's own work
  uint64_t untimed = 0;              // calls without a time, which are in no window
  bool is_everything = true;         // no part of a call is outside of the window
};

// Reads the times of a rank from the window on. `reader` reads times. Fails where they cannot be
// read.
Result<RankInWindow> rank_in_window(RankReader& reader, const Window& window);

}  // namespace refrain::analysis
