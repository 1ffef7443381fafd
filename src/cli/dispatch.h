// The common part of refrain-verbs and refrain-first, which differ in the verbs that they have.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/command.h"

namespace refrain::cli {

struct Verbs {
  // Adds them; see verbs.h.
  void (*add)(Command& app, int& exit_status);
  // Ends a command line that is none: prints the error, returns the exit status.
  int (*refuse)(const base::Error& error, const std::vector<std::string>& words);
  // Those that this executable lacks, and what to do about it: a sentence behind a blank, or empty.
  std::vector<std::string> further;
  std::string note;
};

// Runs the verb of the command line. Returns the exit status. Called once, by main().
int dispatch(int argc, char** argv, const Verbs& verbs);

}  // namespace refrain::cli
