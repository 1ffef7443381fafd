// Keeps the worker of `live analyze` in a job running (worker.h).
#pragma once

#include <string>

#include "cli/live/analyze.h"

namespace refrain::cli {

// In a process that was started before MPI_Init: waits for the word of the rank, which holds the
// other end of `pipe`, and then starts a worker. One that crashes, or that hangs, is started anew:
// spools are read again from their beginning. The third and last time it has no plug-ins. Without a
// word, which means that another rank does the work, it ends.
[[noreturn]] void supervise(const std::string& folder, const AnalyzeOptions& options, int pipe);

}  // namespace refrain::cli
