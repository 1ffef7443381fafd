// The options of `refrain record`, but those that concern the launcher.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/common.h"
#include "cli/launch_line.h"

namespace refrain::cli {

inline constexpr const char* kSmpiWord = "smpi";

// What a variable of the environment says; empty when it is not set.
std::string environment(const char* name);

struct RecordOptions {
  std::string output = "run.rfn";
  std::string timing = "stats";
  std::string exact_copy;  // empty: none
  std::string totals = "on";
  std::string segments = "loops", across_ranks = "groups";
  double clock_interval = 0;  // seconds; 0: off
  bool no_compress = false, no_write = false;
  std::string buffer = "1.5M";
  std::string buffers = "off";
  std::string functions = "off", python_frames = "on";
  std::string only, without, comm;  // words, comma-separated
  std::string min_bytes, max_bytes;
  bool start_paused = false;
  std::string mpi;    // empty: find out
  std::string spool;  // empty: beside the output
  std::string memory;
  bool quiet = false;
  unsigned call_path = 8;
};

// A usage error says what is wrong with the words that options were given.
base::Status check_words(const RecordOptions& options);
// Options that differ from what the environment says anyway, as the user would write them.
void add_words(Words& words, const RecordOptions& options);

// As its environment variable has it.
std::string format_number(double value);

}  // namespace refrain::cli
