#include "online/received.h"

#include <map>
#include <utility>

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

}  // namespace

void take_trace(spool::PostMortem& all, JobNow& job) {
  auto data = all.finish();
  if (!data.ok()) return;
  if (job.state == JobState::kDied) job.story = all.story();
  if (job.state != JobState::kDied) std::erase_if(data->losses, is_of_the_dead);
  job.losses = data->losses;
  data->meta.text["timing"] = "stats";
  auto trace = reader::trace_of(std::move(*data), job.name, job.spool_bytes);
  if (trace.ok()) job.trace = std::move(*trace);
}

base::Status write_received(std::vector<spool::RankSpool> ranks, bool is_whole,
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
  if (is_whole && all.whole()) {
    data->meta.complete = true;
    std::erase_if(data->losses, is_of_the_dead);
  }
  times.of_rank = [&of_rank](uint64_t rank) { return base::Result(std::move(of_rank[rank])); };
  return write_recovered(output, *data, times, [](const base::Error&) {});
}

}  // namespace refrain::online
