// Keep: the part of a job's calls that is kept in another tool's format when the job has ended:
// `--keep 'ranks 0-3, 10s..20s' --to otf2`. The idea is the selective trace that the
// online-coupling paper announces (section VI).
//
//   "ranks 0-3, 8"     these ranks, as far as the job has them
//   "10s..20s"         calls that end at the first time or later and begin at the second one or
//                      earlier; either may be missing
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "refrain/trace.h"

namespace refrain::online {

struct Keep {
  std::string target;                        // a name of convert::targets(); empty: nothing is kept
  std::vector<std::pair<Rank, Rank>> ranks;  // first and last ones; empty: all
  uint64_t from_ns = 0, to_ns = UINT64_MAX;
  bool has_window = false;

  bool is_on() const { return !target.empty(); }
  // The same for the same part: it tells whether a file that is there has it.
  std::string to_string() const;
};

// ErrorCode::kUsage where `text` is none of the above.
base::Result<Keep> parse_keep(const std::string& text, const std::string& target);

// Writes the part of a trace to `output`, a file or a folder as the format wants it, which is
// replaced. Fails where the format is missing in this build, where a window is asked for and the
// trace has no times, and where the job has none of the ranks.
base::Status write_kept(const Keep& keep, const Trace& trace, const std::string& output);

}  // namespace refrain::online
