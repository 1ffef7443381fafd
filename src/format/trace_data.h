// A whole trace in memory: what encode/ writes and decode/ reads. Pure data; see docs/format.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/runs.h"
#include "format/clusters/clusters.h"
#include "format/codes/byte_strings.h"
#include "format/duration_stats.h"
#include "format/merge/duration_list.h"
#include "format/signatures/signature.h"
#include "format/signatures/signature_table.h"
#include "format/stats/grain.h"
#include "format/time/data.h"
#include "grammar/grammar.h"

namespace refrain::format {

struct Definition {
  DefinitionKind kind{};
  std::string payload;
  std::vector<uint32_t> refs;  // indices of earlier definitions
  bool operator==(const Definition&) const = default;
};

struct ThreadGrammar {
  uint32_t thread = 0;
  uint32_t grammar = 0;  // index into TraceData::grammars
};

// Ranks that did the same, up to rank expressions.
struct Group {
  base::RunList ranks;  // world ranks, ascending
  std::vector<ThreadGrammar> locations;
  std::vector<uint32_t> signatures;  // terminal of the grammars -> index into TraceData::signatures
  // Groups whose ranks differ in the lengths of their loops only stand in a row: one in the file.
  // They have the same signatures, and their tables together.
  bool is_like_before = false;
  // Where the ranks stand in tables; empty: 0, 1, 2, ...
  base::RunList places;

  // Where a rank of the group stands in the tables of its signatures; -1: it is none.
  int64_t place_of(int64_t rank) const {
    const int64_t position = ranks.find(rank);
    return position < 0 || places.empty() ? position : places.at(static_cast<uint64_t>(position));
  }
};

// What recording took on one rank, until the rank handed its record over.
struct OwnCost {
  uint64_t memory_bytes = 0;  // the most at any time; 0: nothing is known of the rank
  uint64_t time_ns = 0;
};

// All times are between the begin of MPI_Init and of MPI_Finalize.
struct RankTotals {
  uint64_t in_mpi_ns = 0, outside_ns = 0;  // in MPI; in the program
  OwnCost cost;
  // The recorder's own work between the calls: neither in MPI nor in the program.
  uint64_t own_ns = 0;
  uint64_t switches = 0;  // how often the system took the processor away (involuntarily)
};

// Work of the recorder that took so long that it shows: it began when the call ended.
struct OwnPiece {
  uint64_t call = 0;  // number of the call in its location
  uint64_t ns = 0;
  bool operator==(const OwnPiece&) const = default;
};
// The pieces of one location, ascending. RankTotals::own_ns has them, too.
struct OwnWork {
  uint64_t rank = 0;
  uint32_t thread = 0;
  std::vector<OwnPiece> pieces;
  bool operator==(const OwnWork&) const = default;
};

// Where a rank may run.
struct CpuRun {
  uint64_t first = 0, count = 0;
  bool operator==(const CpuRun&) const = default;
};
struct RankPlace {
  uint64_t cores = 0;        // of the host, that are online
  std::vector<CpuRun> cpus;  // the affinity mask: ascending, with gaps between the runs
  bool operator==(const RankPlace&) const = default;
};

// A number of each rank: its extremes, the lowest ranks that have them, and the sum.
struct Spread {
  uint64_t least = UINT64_MAX, greatest = 0;
  uint64_t least_rank = 0, greatest_rank = 0;
  double sum = 0;
};

// The OwnCost of all ranks. Files of version 1.1 have no more of it than this.
struct RecorderCost {
  uint64_t ranks = 0;  // that said what it cost; 0: nothing is known
  Spread memory_bytes, time_ns;

  // In order of the ranks.
  void add(uint64_t rank, const OwnCost& cost);
};
RecorderCost cost_of(const std::vector<RankTotals>& totals);

// Calls of one POSIX or stdio function (`record --posix on`) on one rank; posix.h.
struct PosixUse {
  uint8_t function = 0;  // PosixFunction, or one of a newer version
  uint64_t calls = 0, errors = 0, bytes = 0;
  uint64_t time_ns = 0, least_ns = 0,
           greatest_ns = 0;  // of all calls; of the shortest, the longest
  bool operator==(const PosixUse&) const = default;
};
struct PosixOfRank {
  uint64_t rank = 0;
  std::vector<PosixUse> uses;  // by function
};
// The same of all ranks that called the function; all that follows is parallel to `ranks`.
struct PosixColumn {
  struct Times {
    uint64_t all_ns = 0, least_ns = 0, greatest_ns = 0;
    bool operator==(const Times&) const = default;
  };
  uint8_t function = 0;
  base::RunList ranks;  // ascending
  base::RunList calls, errors, bytes;
  std::vector<Times> times;
};

struct LossRecord {
  std::string reason;  // snake_case word
  uint64_t calls = 0;  // 0: unknown
  int64_t rank = -1;   // -1: any
  std::string detail;
};

// Everything known once per run. Keys are append-only; unknown ones are kept.
struct Meta {
  std::map<std::string, std::string> text;  // program, command, mpi, mpi_version, recorder, timing,
                                            // started (ISO 8601), working_directory
  std::vector<std::string> hosts;
  base::RunList host_of_rank;  // index into hosts
  uint64_t ranks = 0;
  uint64_t duration_ns = 0;  // longest rank, Init to Finalize
  bool complete = true;
};

struct TraceData {
  Meta meta;
  std::vector<Definition> definitions;
  SignatureTable signatures;
  std::deque<DurationStats> durations;  // parallel to signatures
  StatPrecision durations_precision;    // as read from a file; they are written no finer
  // Time before each call: from the end of the one before of its thread; `record --gaps`.
  std::deque<DurationStats> gaps;  // parallel to signatures; empty: not known
  StatPrecision gaps_precision;
  std::vector<base::RunList> tables;       // for RankExpr::kTable
  std::vector<grammar::Grammar> grammars;  // terminals are group-local
  std::vector<Group> groups;
  std::vector<RankTotals> totals;  // by rank
  RecorderCost cost;               // of those ranks in `totals` that know it, if any does
  std::vector<RankPlace> places;   // empty: not known of any rank
  base::RunList place_of_rank;     // index into places, -1 unknown; empty when `places` is
  std::vector<OwnWork> own_work;   // by rank and thread; of traces with times of single calls
  std::vector<PosixColumn> posix;  // by function
  std::vector<LossRecord> losses;
  ClusterData clusters;  // of traces in which ranks stand for others
  TimeData times;  // of traces that are put together in memory; decode() leaves them in the file
};

// That of one location; null where none of it is known. O(log locations).
const OwnWork* find_own_work(const TraceData& trace, uint64_t rank, uint32_t thread);

// What one rank hands to the merge.
struct RankRecord {
  struct Thread {
    uint32_t thread = 0;
    grammar::Grammar grammar;
  };
  uint64_t rank = 0;                    // in the world
  std::vector<Definition> definitions;  // indices in order of first use
  ByteStrings signatures;               // inline form; index = terminal
  std::deque<DurationStats> durations;  // parallel to signatures; leaf() frees it on its way
  DurationList listed_durations;        // the same, instead, where there are very many
  std::deque<DurationStats> gaps;       // the same, or empty: they are not known
  std::vector<Thread> threads;
  RankTotals totals;
  OwnCost cost;
  bool knows_cost = false;
  std::vector<OwnWork> own_work;  // of this rank; by thread
  std::vector<PosixUse> posix;    // of this rank; by function
  RankPlace place;                // no cores: not known
  std::vector<LossRecord> losses;
  std::string host;
  std::map<std::string, std::string> text;  // as Meta::text; the lowest rank's values win
  uint64_t duration_ns = 0;
};

// With `record --totals off`; the words of a record say so.
inline bool wants_totals(const RankRecord& record) {
  const auto word = record.text.find("totals");
  return word == record.text.end() || word->second != "off";
}
inline void leave_out_totals(RankRecord& record) {
  record.totals = {};
  record.cost = {};
  record.knows_cost = false;
}

}  // namespace refrain::format
