// Which processes of a job belong together: the partitions of refrain/coupling.h, out of one key
// per process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace refrain::stream {

// The most bytes of a name, and those of a command line that are kept.
constexpr size_t kMostName = 4096;

// What partitions are told apart by: 64 bits of a name, or of a command line where no name was set.
// A name is never equal to a command line.
uint64_t partition_key(std::string_view name, std::string_view command_line);

struct Partition {
  std::string name;
  std::string command_line;
  std::vector<int> ranks;  // ascending
};

// The partitions of processes with these keys, by their first ranks. Names and command lines are
// still empty.
std::vector<Partition> partitions_of(const std::vector<uint64_t>& keys);

// Words of /proc/PID/cmdline (each ends with 0) with blanks between, cut off at kMostName.
std::string command_line_of(std::string_view words);

}  // namespace refrain::stream
