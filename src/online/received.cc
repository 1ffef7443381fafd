#include "online/received.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/profile/profile.h"
#include "mpi/call_name.h"
#include "online/progress.h"
#include "online/recovered_trace.h"
#include "reader/internal.h"

namespace refrain::online {

namespace spool = format::spool;

namespace {

// What only makes sense of a job that is over.
bool is_of_the_dead(const format::LossRecord& loss) {
  for (const char* reason : {"unfinished", "died_first", "call_open"})
    if (loss.reason == reason) return true;
  return false;
}

void add_functions(const Trace& trace, JobNow& job) {
  job.functions.clear();
  const analysis::Profile profile = analysis::profile(trace);
  job.run_ns = profile.run_ns;
  for (const analysis::FunctionRow& row : profile.functions)
    job.functions.push_back({mpi::call_name(row.call), row.totals.calls,
                             static_cast<uint64_t>(row.totals.time_ns), row.totals.bytes});
}

}  // namespace

void take_trace(spool::PostMortem& all, JobNow& job) {
  auto data = all.finish();
  if (!data.ok()) return;
  if (job.state == JobState::kDied) job.story = all.story();
  if (job.state != JobState::kDied) std::erase_if(data->losses, is_of_the_dead);
  job.losses = data->losses;
  data->meta.text["timing"] = "stats";
  auto trace = reader::trace_of(std::move(*data), job.name, job.spool_bytes);
  if (!trace.ok()) return;
  job.trace = std::move(*trace);
  add_functions(*job.trace, job);
  add_progress(*job.trace, job);
}

void describe(const Trace& trace, JobNow& job) {
  job.losses = reader::data_of(trace).losses;
  job.world_size = static_cast<uint64_t>(trace.rank_count());
  job.calls = trace.call_count();
  for (const format::LossRecord& l : job.losses)
    if (l.reason == "died_first")
      job.story = "rank " + std::to_string(l.rank) + " died first, " + l.detail;
  add_functions(trace, job);
}

JobNow ended_job(const std::string& name, const std::string& trace_file, const Trace& trace) {
  JobNow job;
  job.name = name;
  job.trace_file = trace_file;
  job.waits.why_not =
      trace.has_times() ? "the job had ended when it was first looked at" : std::string(kNoTimes);
  describe(trace, job);
  job.running_ns = reader::data_of(trace).meta.duration_ns;
  // One that has finished, and of which not all came, has losses of other kinds.
  const bool has_finished =
      trace.info().complete ||
      (!job.losses.empty() && std::none_of(job.losses.begin(), job.losses.end(),
                                           [](const auto& l) { return is_of_the_dead(l); }));
  job.state = has_finished && job.story.empty() ? JobState::kFinished : JobState::kDied;
  return job;
}

base::Status write_received(std::vector<spool::RankSpool> ranks, bool is_whole, bool has_finished,
                            const std::string& output) {
  spool::PostMortem all;
  RecoveredTimes times;
  std::map<uint64_t, std::vector<spool::ThreadTimes>> of_rank;
  for (spool::RankSpool& rank : ranks) {
    RecoveredTimes::OfRank of = RecoveredTimes::of(rank);
    of_rank[of.rank] = std::exchange(rank.times, {});
    if (all.add(std::move(rank)).ok()) times.add(std::move(of));
  }
  auto data = all.finish();
  if (!data.ok()) return data.error();
  if (is_whole && all.whole()) data->meta.complete = true;
  if (data->meta.complete || has_finished) std::erase_if(data->losses, is_of_the_dead);
  times.of_rank = [&of_rank](uint64_t rank) { return base::Result(std::move(of_rank[rank])); };
  return write_recovered(output, *data, times, [](const base::Error&) {});
}

}  // namespace refrain::online
