// Trace: one recorded run, opened for reading. Needs no MPI.
//
//   auto trace = refrain::Trace::open("run.rfn");
//   if (!trace.ok()) ...
//   for (refrain::Rank r = 0; r < trace->rank_count(); ++r)
//     for (const refrain::Location& l : trace->locations(r))
//       std::cout << r << ' ' << l.calls << '\n';
//
// Opening reads the file once, all but the times of single calls, checks its checksums and every
// index in it; after that nothing can fail but a question about something that is not there, and
// reading times, which are checked block by block when they are asked for. A Trace is immutable:
// use it from as many threads as you like. Copies are cheap and share the same data, which lives as
// long as any of them.
//
// Two ways to ask. For what each call did: RankReader in calls.h. For totals: groups(). Ranks that
// did the same (up to rank expressions) form a group with one grammar per thread, and occurrences()
// folds that grammar without expanding it, so that a total costs as much for 10^9 calls as for
// 10^3.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "refrain/definitions.h"
#include "refrain/ids.h"
#include "refrain/result.h"

namespace refrain {

namespace reader {
struct Internal;
struct TraceImpl;
}  // namespace reader

// Something that was dropped or approximated. A trace without any has every call with every
// parameter.
struct Loss {
  std::string reason;  // one snake_case word
  uint64_t calls = 0;  // how many calls it touched; 0: unknown
  Rank rank = -1;      // -1: any
  std::string detail;
};

// Everything here is for the whole run; of single ranks the functions of Trace know more.
//
// What is known once per run, as `refrain info` prints it.
struct RunInfo {
  // program, command, mpi, mpi_version, recorder, timing, started (ISO 8601), working_directory;
  // more may follow
  std::map<std::string, std::string> text;
  std::vector<std::string> hosts;  // every host once
  uint64_t rank_count = 0;
  uint64_t duration_ns = 0;  // of the longest rank, from MPI_Init to MPI_Finalize
  uint64_t file_bytes = 0;
  int format_major = 0, format_minor = 0;
  bool complete = true;  // every rank reached MPI_Finalize and nothing was lost
  std::vector<Loss> losses;

  // The value of a key of `text`, empty when it is not there.
  std::string_view text_of(std::string_view key) const;
};

// A thread of a rank, with the calls that it made.
struct Location {
  Rank rank = 0;
  uint32_t thread = 0;
  uint64_t calls = 0;
  GrammarId grammar;  // of one group: the same one, the same sequence of calls
};

// Durations of the calls of one signature, over all ranks and threads. The mean is sum_ns / count.
// Files keep them within some percent (docs/format.md, Durations).
struct Durations {
  uint64_t count = 0;
  uint64_t min_ns = 0, max_ns = 0;
  double sum_ns = 0;
};

// Ranks that one of them, their lead, stands for (docs/clusters.md). The sums are those of the
// members, as they were before; of single calls only the lead's times are there.
struct Cluster {
  Rank lead = 0;
  IntegerList members;  // ascending, the lead among them
  uint64_t calls = 0;
  uint64_t bytes = 0;  // handed to MPI
  uint64_t in_mpi_ns = 0, outside_ns = 0;
};

// How ranks of a clustered trace became clusters.
struct Clustering {
  std::string_view method;    // "signatures", ...
  std::vector<Cluster> list;  // in the order of their leads; every rank is in one
  bool has_lead_endpoints =
      false;  // calls of members are those of leads, with ends relative to them
  bool is_replayable = true;
  std::string_view why_not;  // why the trace cannot be replayed; else empty
};

// How exactly a trace knows when each call began and ended.
enum class TimingKind : uint8_t {
  kStatistics,  // durations of each signature, and no single call
  kBounded,     // within a relative error
  kExact,       // nanoseconds
  kSegments,    // representatives stand for what is alike
};
struct Timing {
  TimingKind kind = TimingKind::kStatistics;
  double bound = 0;  // the relative error of kBounded; functions may have other ones, see `text`
  std::string text;  // as `refrain record --timing` takes it: "bins:0.02,MPI_Wait=0.2"
};

// See the head of this file.
class Trace {
 public:
  // Reads and checks the file. Fails with one clear line when it cannot be read, is not a trace, is
  // truncated or damaged (which section, at which offset), or was written by a later version
  // (ErrorCode::kUnsupported). A directory left by a job that died says how to recover it.
  static Result<Trace> open(const std::string& path);
  // The same, with check_times().
  static Result<Trace> open_with_times(const std::string& path);
  // The same for bytes in memory; `name` stands for the path in messages.
  static Result<Trace> from_bytes(std::string_view bytes, std::string name);

  const RunInfo& info() const;
  const std::string& name() const;  // the path it was opened with
  Rank rank_count() const;
  // Calls of all ranks and threads.
  uint64_t call_count() const;

  // Threads of a rank, by number; thread 0 is the one that called MPI_Init. Empty when there is no
  // such rank, and for a rank whose recording was lost (RunInfo::losses says so).
  std::vector<Location> locations(Rank rank) const;

  // Totals by function of a run, whatever its length:
  //
  //   for (refrain::GroupId g = 0; g < trace.group_count(); ++g)
  //     for (const auto& seen : trace.occurrences(g))
  //       calls[trace.call_of(seen.signature)] += seen.calls * trace.group_size(g);
  //
  // Idea: the inter-process compression of Pilgrim, where equal grammars stand once.
  //
  // Groups of ranks that did the same. Every rank is in exactly one group, or, if the trace is
  // incomplete, in none. The functions below need group < group_count().
  GroupId group_count() const;
  std::optional<GroupId> group_of(Rank rank) const;
  uint64_t group_size(GroupId group) const;
  Rank group_rank(GroupId group, uint64_t i) const;  // i-th rank, ascending; i < group_size()
  // Threads of every rank of the group (Location::rank is its first rank).
  std::vector<Location> group_locations(GroupId group) const;

  // A signature, and how many calls of a rank have it.
  struct Occurrence {
    SignatureId signature;
    uint64_t calls = 0;  // of one rank of the group, in all its threads
  };
  // How often each rank of the group made each call. O(size of the grammars).
  std::vector<Occurrence> occurrences(GroupId group) const;

  // Whether there are times of single calls (Times::kRead in calls.h). Knows it from the section
  // table: reads no times.
  bool has_times() const;
  // Whether the times are those that were written: reads the section once, all blocks of it, and
  // compares checksums; decodes nothing. For who needs the times of all ranks, and says nothing
  // rather than something wrong. Fails with the offset of the first damaged block.
  Status check_times() const;
  // How exact they are. Reads the index of the times.
  Result<Timing> timing() const;
  // What the times take in the file. RunInfo::file_bytes has them, too. Reads the index: fails when
  // that is damaged.
  struct TimeSize {
    uint64_t bytes = 0;  // of the section
    uint64_t blocks = 0;
    uint64_t calls = 0;  // that have times
  };
  Result<TimeSize> time_size() const;

  // Whether ranks stand for others, and which do. Nothing where each rank has its own calls and
  // times, as in most traces. A view of the trace.
  std::optional<Clustering> clustering() const;
  // The rank that stands for this one: itself for a lead, and where there are no clusters.
  Rank lead_of(Rank rank) const;
  // The rank whose times of single calls are shown for this one: itself, or its lead; -1: nobody's.
  Rank times_rank(Rank rank) const;

  SignatureId signature_count() const;
  // The function of a signature; id < signature_count().
  CallId call_of(SignatureId id) const;
  // Out of range: no calls.
  Durations durations(SignatureId id) const;
  // The time between calls is the program's own work. Unlike `durations`, it is kept only where it
  // was asked for.
  //
  // Whether the trace has statistics of the time between calls: `refrain record --gaps`.
  bool has_gaps() const;
  // Of the gaps before the calls of a signature, on all ranks: from the end of the thread's call
  // before to the begin of this one; 0 before the first call of a thread, and before one inside of
  // another call. Without the recorder's own work, but for some tens of ns a call. The mean is what
  // ACURDION calls the computation time of an event. Nothing without has_gaps().
  Durations gaps(SignatureId id) const;
  // Their histogram: how many were of 2^i to 2^(i+1) - 1 ns, 0 ns with 1 ns. 64 numbers, or none.
  std::vector<uint64_t> gap_histogram(SignatureId id) const;

  // What the parameters of calls refer to (definitions.h). A file may come from anywhere, so each
  // of these takes any number; a wrong one gives nothing, never memory of somebody else.
  //
  // Definitions are numbered from 0; their kinds are mixed.
  DefinitionId definition_count() const;
  // Resolve a definition; nothing when it is of another kind or out of range. `me` is the rank that
  // asks: it decides Communicator::me and what MPI_COMM_SELF is.
  std::optional<Communicator> communicator(DefinitionId id, Rank me) const;
  std::optional<Datatype> datatype(DefinitionId id) const;
  // The call site that a call site or call path begins with.
  std::optional<Site> site(DefinitionId id) const;
  DefinitionId call_site(DefinitionId id) const;
  // The call sites of a call path, innermost first; of a call site: itself. Empty for others.
  std::vector<DefinitionId> call_path(DefinitionId id) const;
  // The communicator behind a communicator, window or file; kNoDefinition for anything else.
  DefinitionId communicator_of(DefinitionId id) const;
  // "comm#3", or MPI's name of a predefined object.
  std::string object_name(DefinitionId id) const;
  // MPI_COMM_WORLD, whether or not the program named it.
  Communicator world(Rank me) const;

 private:
  friend struct reader::Internal;
  explicit Trace(std::shared_ptr<const reader::TraceImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const reader::TraceImpl> impl_;
};

}  // namespace refrain
