// One rank of a replay, from its words to what it says at the end.
#pragma once

#include <cstdint>
#include <string>

#include "replay/engine.h"

namespace refrain::replay {

struct JobOptions {
  std::string trace;
  EngineOptions engine;
  Rank rank = -1;  // not told: the launcher's environment says it
  bool json = false;
  bool is_started =
      false;            // by a replay, for a job that the program started: its result is not told
  double stall_s = 60;  // 0: wait for ever
  int ending = 0;       // not 0: a dry run has said why; end the job with this status
};

// The words that `refrain replay` hands over: pairs of a name and a value. False: one is wrong.
bool read_words(int argc, char** argv, JobOptions& options);

// The exit status.
int run_job(const JobOptions& options);

}  // namespace refrain::replay
