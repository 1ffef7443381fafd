// What a replay needs of the machine: memory of each rank, files, functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "refrain/trace.h"

namespace refrain::replay::plan {

struct MemoryNeed {
  // About: buffers without the gaps of datatypes; every request that a rank makes at its longest,
  // as if all were open at once, and the longest of its other calls.
  uint64_t most_bytes = 0, all_bytes = 0;
  Rank most_rank = 0;
  bool is_of_some = false;  // only the first rank of each group was looked at
};
MemoryNeed memory_need(const Trace& trace);

// A file that the program opened.
struct FileNeed {
  std::string path;  // as recorded: never opened
  // So long it is made before it is opened at first, so that reads find data; 0: it is made by the
  // program, or nobody reads it. Of a file that the program makes: as long as one of an earlier run
  // was that it found.
  uint64_t bytes = 0;
};
// By path. Nothing where no rank opens a file, which costs next to nothing to find out.
std::vector<FileNeed> file_needs(const Trace& trace);

// Ports that the program opened, as recorded. The same.
std::vector<std::string> ports_of(const Trace& trace);

struct FunctionNeed {
  CallId call = 0;
  uint64_t calls = 0;  // of all ranks
};
// By id. O(signatures).
std::vector<FunctionNeed> function_needs(const Trace& trace);

}  // namespace refrain::replay::plan
