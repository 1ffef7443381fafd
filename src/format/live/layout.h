// Layout of the stream of a rank that still runs; normative in docs/live_format.md.
//
// A stream is a row of blocks, each with its writer, its number and checksums, and blocks are rows
// of records. Those of the tables are the records of a spool file (format/spool/layout.h); calls
// are pairs of how many calls came as the grammar expected, and one that did not. So the receiver's
// grammar::Builder ends with the grammar of the writer's, and a loop that goes on takes a few
// bytes. The online-coupling paper (section IV) sends each event as a C struct instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/duration_stats.h"
#include "format/limits.h"
#include "format/spool/layout.h"
#include "format/spool/read.h"

namespace refrain::format::live {

inline constexpr uint32_t kBlockMagic = 0x564c4652;  // "RFLV"
inline constexpr uint8_t kVersion = 1;
inline constexpr uint64_t kBlockHeadBytes = 36;

// A block ends with the record that makes it this long.
inline constexpr uint64_t kBlockBytes = uint64_t{1} << 16;
// No block is longer: a definition may have 64 MiB.
inline constexpr uint64_t kMaxBlockBytes = uint64_t{1} << 27;
// Calls that a record stands for, so that few bytes never make a reader work for long.
inline constexpr uint64_t kMaxCallsPerRecord = uint64_t{1} << 20;
inline constexpr uint64_t kMaxCalls = uint64_t{1} << 47;  // of a thread
inline constexpr uint64_t kMaxNameBytes = 4096;           // of the job, of a host
// Threads of a rank: each has a grammar of its own, of some kB.
inline constexpr uint64_t kMaxThreads = uint64_t{1} << 12;

// Kinds of records. 1 to 15: those of spool::RecordKind, with its numbers.
enum class StreamRecord : uint8_t {
  kHello = 16,
  kCalls = 17,
  kStatistics = 18,
  kTimes = 19,
  kState = 20,
  kPart = 21,
  kSnapshot = 22,
  kEnd = 23,
  // These may be passed over. They are for who analyses the calls while the rank runs.
  kEarlyTimes = 64,
  kLooked = 65,
  kPosix = 66,
};
// A reader passes over records of this kind and above that it does not know.
inline constexpr uint8_t kFirstOptional = 64;
// Calls that have early times and are in no block yet, of a thread.
inline constexpr uint64_t kMaxEarlyTimes = kMaxCallsPerBlock;

// The first record: who speaks.
struct Hello {
  std::string job;       // name of the trace that the job will write
  spool::Header header;  // of the rank: world, run, pid, host, clock
};

enum class Statistic : uint8_t { kDurations = 0, kGaps = 1 };

// What changes with every look, as a whole.
struct State {
  spool::State state = spool::State::kRunning;
  int32_t error = 0;  // errno that stopped the spool
  double ns_per_tick = 1.0;
  uint64_t in_mpi_ns = 0, outside_ns = 0, duration_ns = 0;  // of the rank until now
  // The recorder's own work that is in none of its pieces, and how often the rank lost its core: 0
  // where that is known at the end only.
  uint64_t own_ns = 0, switches = 0;
  OwnCost cost;  // no memory: not known
  std::vector<spool::Progress> threads;
};

enum class EndReason : uint8_t {
  kFinished = 0,  // the trace was written
  kDied = 1,      // the process is gone, without MPI_Finalize
  kStopped = 2,   // the writer of the stream has been told to stop, or cannot go on
};

}  // namespace refrain::format::live
