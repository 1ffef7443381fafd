// Computation vectors, `run.rfv`: the times between the calls of ranks that ran alone.
// docs/format.md, "Computation vectors", is normative.
//
// Element k of the vector of a thread is the time between the end of its call k and the begin of
// its call k + 1, in nanoseconds, from N runs: the least, the median, and the spread (the most less
// the least). A file has at most one vector of each thread of each rank. It is written at once and
// read at once: memory is three numbers a unit. Untrusted bytes give vectors or an error. Pure
// functions.
//
// After "PHANTOM" (2010), section 4, formula 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace refrain::format::vectors {

enum class Clock : uint8_t {
  kProcessor = 0,  // time of the thread's own on a processor
  kWall = 1,
};

struct Vector {
  uint32_t rank = 0, thread = 0;
  Clock clock = Clock::kProcessor;
  uint32_t runs = 0;                                     // that it was made from
  uint64_t doubtful = 0;                                 // units in which every run was interrupted
  std::vector<uint64_t> least_ns, median_ns, spread_ns;  // of equal lengths
  // Of each run the sum of its units; empty: not known (files of version 1.0). What runs differ by
  // as a whole cannot be told from their units, which may differ by as much and even out.
  std::vector<uint64_t> totals_ns;
  bool operator==(const Vector&) const = default;
};

struct VectorFile {
  uint64_t run = 0;             // of the message logs that the ranks ran from; 0: not known
  uint32_t ranks = 0;           // of MPI_COMM_WORLD
  std::vector<Vector> vectors;  // ascending by rank and thread
  bool operator==(const VectorFile&) const = default;
};

inline constexpr char kMagic[8] = {'\x89', 'R', 'F', 'V', '\r', '\n', '\x1a', '\n'};
inline constexpr uint8_t kMajor = 1, kMinor = 1;
inline constexpr uint16_t kHasTotals = 1;  // a must-understand feature bit
inline constexpr uint32_t kMaxRanks = 1u << 24, kMaxThreads = 1u << 20;
inline constexpr uint64_t kBlockUnits = uint64_t{1} << 16;
inline constexpr uint64_t kMaxNs = (uint64_t{1} << 53) - 1;

std::string encode(const VectorFile& file);
// `name` stands in front of errors: the path of the file.
base::Result<VectorFile> decode(std::string_view bytes, const std::string& name);

base::Result<VectorFile> read_file(const std::string& path);
// Puts a vector in the place of one of the same thread, or among the others.
void put(VectorFile& file, Vector vector);

}  // namespace refrain::format::vectors
