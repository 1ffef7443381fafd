// TraceData -> the bytes of a trace file. Independent of decode/; docs/format.md is normative.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/encode/sync.h"
#include "format/trace_data.h"

namespace refrain::format {

// Fails when `trace` contradicts itself or passes a limit (limits.h): the message says which.
// Deterministic: equal traces give equal bytes. No exceptions, thread safe.
base::Result<std::string> encode(const TraceData& trace);
// The same of a trace whose statistics nobody needs afterwards: they are freed on the way.
base::Result<std::string> encode_and_free(TraceData& trace);

// By rank: the times in and outside of MPI that a reader of the file finds, which are less exact
// than those of `trace` (totals.h). All else is as in the trace.
std::vector<RankTotals> totals_as_read(const TraceData& trace);

// Writes a file that is either whole or not there: a temporary beside it (".NAME.PID.tmp", O_EXCL),
// fsync, rename, fsync of the folder, where `when` is Sync::kNow. On failure the temporary is
// removed, an older `path` stays as it was, and the error names the path and the system's reason.
base::Status write_file_atomically(const std::string& path, std::string_view bytes,
                                   const char* what = "the trace", Sync when = Sync::kNow);

}  // namespace refrain::format
