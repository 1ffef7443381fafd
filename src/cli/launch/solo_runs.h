// The runs of `refrain solo`: becomes the program, or starts it again and again and makes one file
// of the times between its calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "refrain/trace.h"

namespace refrain::cli {

struct SoloArguments {
  std::string trace, times, scratch, mpi;
  Rank rank = -1;
  std::string group;           // "16-19"; empty: none
  Rank first = -1, last = -1;  // of the group
  uint64_t repeats = 1;
  bool write_files = false, concurrent = false;
  std::vector<std::string> program;  // and its arguments
};

// Path of librefrain-solo-<mpi>.so.
base::Result<std::string> find_solo_library(const std::string& mpi);
// The ranks of a rank's host, ascending.
std::vector<Rank> ranks_of_node(const Trace& trace, Rank rank);

// Runs `file` as each of `ranks`, at the same time. Returns the exit status; does not return where
// nothing is left to do but to become the program.
int run_solo(const Trace& trace, const SoloArguments& options, const std::vector<Rank>& ranks,
             const std::string& file, const std::string& library);

}  // namespace refrain::cli
