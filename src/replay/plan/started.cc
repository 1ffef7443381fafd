#include "replay/plan/started.h"

#include <map>

#include "base/marked_path.h"
#include "base/text.h"
#include "format/merge/programs.h"
#include "mpi/call_ids.h"
#include "mpi/call_name.h"
#include "refrain/calls.h"
#include "replay/prefix/prefix.h"

namespace refrain::replay::plan {
namespace {

std::string why_not(const StartedJob& job, const LookOptions& options) {
  if (job.trace.empty()) return "the processes that it started were not recorded";
  const std::string whose =
      "the trace of the processes that it started, " + base::base_name(job.trace) + ", ";
  const auto trace = Trace::open(job.trace);
  if (!trace.ok()) return whose + "cannot be read: " + trace.error().message;
  if (static_cast<uint64_t>(trace->rank_count()) != job.processes)
    return whose + "has " + base::counted_text(static_cast<uint64_t>(trace->rank_count()), "rank") +
           ", and " + base::counted_text(job.processes, "process") + " were asked for";
  if (ends_early(*trace)) return whose + "ends before MPI_Finalize";
  const Refusals refused = look(*trace, options);
  if (refused.empty()) return "";
  return whose + "has " + mpi::call_name(refused[0].call) +
         ", which cannot be replayed: " + refused[0].why;
}

// Calls that failed have started nothing, and are left out of a replay.
bool started_any(const Trace& trace) {
  for (GroupId group = 0; group < trace.group_count(); ++group)
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      if (!starts_job(trace.call_of(seen.signature))) continue;
      RankReader reader(trace, trace.group_rank(group, 0));
      if (!reader.signature(seen.signature).failed()) return true;
    }
  return false;
}

}  // namespace

bool starts_job(CallId call) {
  return call == mpi::kMPI_Comm_spawn || call == mpi::kMPI_Comm_spawn_multiple;
}

std::string trace_of_started(const std::string& path, Rank root, uint64_t number) {
  std::string mark = ".spawn" + std::to_string(number);
  if (root != 0) mark += "_rank" + std::to_string(root);
  return base::marked_path(path, mark);
}

std::vector<StartedJob> started_jobs(const Trace& trace) {
  std::vector<StartedJob> out;
  std::map<int64_t, uint64_t> numbers;  // by rank
  for (const format::SpawnedJob& job :
       format::parse_spawned(trace.info().text_of(format::kSpawnedText))) {
    const uint64_t number = ++numbers[job.rank];
    out.push_back({job.trace.empty()
                       ? ""
                       : trace_of_started(trace.name(), static_cast<Rank>(job.rank), number),
                   job.processes});
  }
  return out;
}

std::string why_not_started(const Trace& trace, const LookOptions& options) {
  if (!started_any(trace)) return "";
  if (ends_early(trace)) return "its job ended early, and those that it started are not replayed";
  const std::vector<StartedJob> jobs = started_jobs(trace);
  if (jobs.empty()) return "the trace does not tell which processes it started";
  for (const StartedJob& job : jobs)
    if (std::string why = why_not(job, options); !why.empty()) return why;
  return "";
}

}  // namespace refrain::replay::plan
