// The process that does the work of `live analyze` in a job: it reads what the programs record,
// has plug-ins and a page, and writes what the jobs leave. It knows nothing of MPI.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "cli/live/analyze.h"

namespace refrain::cli {

struct WorkerPlace {
  std::string folder;  // where the programs of the job tell of themselves
  int rank_pipe = -1;  // its other end is closed when the rank of the analyser is gone
  std::atomic<uint64_t>* beats = nullptr;  // grows while the worker is alive
  // stderr of the launch, for what the person who started it must read; it is closed soon, because
  // the launcher waits for its end. -1: there is none any more.
  int first_words = -1;
};

// Returns when all jobs have ended and what they leave is written: the exit status.
int analyse_jobs(const WorkerPlace& place, const AnalyzeOptions& options);

}  // namespace refrain::cli
