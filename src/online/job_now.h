// What is known of a job at one moment, while it runs: plain data, which the text, the JSON and the
// page show. Times are nanoseconds; points in time are wall-clock nanoseconds since 1970.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/trace_data.h"
#include "online/maps.h"
#include "online/waits_now.h"
#include "refrain/trace.h"

namespace refrain::online {

enum class RankState : uint8_t {
  kComputing,  // outside of MPI
  kInMpi,      // in a call, for less than the limit
  kStuck,      // in a call, for longer
  kFinishing,  // in MPI_Finalize, where the record is merged
  kDone,       // its trace is written
  kDead,       // its process ended without MPI_Finalize
};
std::string to_string(RankState state);

struct RankNow {
  uint64_t rank = 0;
  int32_t pid = 0;
  std::string host;
  RankState state = RankState::kComputing;
  uint64_t calls = 0;       // that have returned, of all threads
  std::string call;         // under way; or, where there is none, the last one; may be empty
  uint64_t since_ns = 0;    // how long it has been in this call, or outside of MPI
  uint64_t iterations = 0;  // of its main loop (progress.h); 0: it has none
  bool is_current = true;   // false: it could not be read this time; numbers are those before
};

enum class JobState : uint8_t {
  kRunning,
  kFinishing,  // every rank that lives is in MPI_Finalize
  kFinished,   // the trace is written
  kDied,       // no process lives any more, and there is no trace
};
std::string to_string(JobState state);

// Ranks that are in the same call for long.
struct Stuck {
  std::string call;
  std::vector<uint64_t> ranks;
  uint64_t since_ns = 0;  // of the one that is there longest
};

// Calls of one function, of all ranks.
struct FunctionNow {
  std::string call;
  uint64_t count = 0, time_ns = 0, bytes = 0;
};

// A host from which ranks are fed (`live feed`), and its clock beside ours.
struct HostNow {
  std::string host;
  uint64_t ranks = 0;
  int64_t clock_offset_ns = 0;  // our time of day minus its
  uint64_t clock_error_ns = 0;  // half of the shortest round trip
  bool is_compared = false;     // false: nobody has compared them yet
};

// The loops in which the ranks are, which may be different ones; most == 0: none was found.
struct LoopNow {
  std::string call;                     // the first one of an iteration of the longest
  uint64_t least_calls = 0, calls = 0;  // of one iteration of the shortest, of the longest
  uint64_t least = 0, most = 0;         // iterations, over the ranks that have a loop
};

struct JobNow {
  std::string name;   // of the trace that it will write: "run.rfn"
  std::string spool;  // folder
  JobState state = JobState::kRunning;
  uint64_t world_size = 0;
  std::vector<RankNow> ranks;  // those with a file; ascending
  uint64_t calls = 0;
  double calls_per_s = 0;     // since the look before; of the first look: since the job began
  uint64_t spool_bytes = 0;   // on disk
  uint64_t stream_bytes = 0;  // of the streams of its ranks so far
  uint64_t running_ns = 0;    // since the first rank was in MPI_Init
  uint64_t blocked_ns = 0;    // that the rank which waited longest for us has waited
  uint64_t look_ns = 0;       // that this look took: how old its numbers are at most
  std::vector<Stuck> stuck;   // longest first
  // Of a deadlock: ranks and their calls, each waits for the next one (waits_for.h).
  std::vector<std::pair<uint64_t, std::string>> circle;
  bool nobody_moves = false;  // every rank is stuck: a deadlock, or a call that takes so long
  std::vector<format::LossRecord> losses;
  std::vector<FunctionNow> functions;  // by time
  double run_ns = 0;                   // in and outside of MPI, of all ranks together
  LoopNow loop;
  WaitsNow waits;
  std::vector<std::pair<std::string, std::string>> answers;  // of plug-ins, by name: any bytes
  std::shared_ptr<const Maps> maps;                          // null: none yet
  std::vector<HostNow> hosts;                                // none: all is on this one
  std::string story;           // of a job that died: who died first, and where
  std::optional<Trace> trace;  // everything until now; nothing: no rank could be read, or:
  std::string trace_file;      // it is in this file, and not in memory
};

}  // namespace refrain::online
