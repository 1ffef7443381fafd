#include "online/recorded_job.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "online/received.h"
#include "online/wall_clock.h"

namespace refrain::online {

namespace spool = format::spool;

base::Result<std::unique_ptr<RecordedJob>> RecordedJob::open(const std::string& path) {
  const auto trace = Trace::open_with_times(path);
  if (!trace.ok()) return trace.error();
  if (!reader::data_of(*trace).clusters.empty())
    return base::unsupported("its ranks stand for others: record or analyse all of them", path);
  auto run = RecordedRun::of(*trace);
  if (!run.ok()) return run.error();
  auto job = std::unique_ptr<RecordedJob>(new RecordedJob(std::move(*run)));
  if (const base::Status good = job->open_ranks(); !good.ok()) return good.error();
  return job;
}

base::Status RecordedJob::open_ranks() {
  const uint64_t begin_ns = realtime_ns();
  for (uint64_t rank = 0; rank < static_cast<uint64_t>(run_.trace().rank_count()); ++rank) {
    if (run_.trace().locations(static_cast<refrain::Rank>(rank)).empty())
      continue;  // it was not recorded
    auto sender = RecordedRank::of(run_, rank, begin_ns);
    if (!sender.ok()) return sender.error();
    ranks_.push_back({std::move(*sender), std::make_unique<format::live::Receiver>()});
  }
  return base::Done{};
}

base::Result<JobNow> RecordedJob::look(uint64_t age_ns) {
  const uint64_t begin = realtime_ns();
  const uint64_t whole_ns = reader::data_of(run_.trace()).meta.duration_ns;
  is_over_ = age_ns >= whole_ns;
  JobNow job;
  job.name = std::filesystem::path(run_.trace().name()).filename().string();
  job.state = is_over_ ? JobState::kFinished : JobState::kRunning;
  job.world_size = run_.trace().rank_count();
  job.running_ns = std::min(age_ns, whole_ns);
  spool::PostMortem all;
  for (Rank& rank : ranks_) {
    const auto sent = rank.sender.until(age_ns, is_over_);
    if (!sent.ok()) return sent.error();
    if (const base::Status got = rank.receiver->receive(*sent); !got.ok()) return got.error();
    spool::RankSpool record = rank.receiver->now();
    RankNow now;
    now.rank = record.record.rank;
    now.host = record.header.host;
    now.state = is_over_ ? RankState::kDone : RankState::kComputing;
    for (const spool::Progress& p : record.threads) now.calls += p.calls;
    job.calls += now.calls;
    job.stream_bytes += rank.sender.stream_bytes();
    job.ranks.push_back(std::move(now));
    waits_.take(*rank.receiver, record, is_over_);
    if (const base::Status added = all.add(std::move(record)); !added.ok()) return added.error();
  }
  take_trace(all, job);
  waits_.advance(job.trace.has_value(), is_over_);
  job.waits = waits_.now();
  if (job.trace) maps_.add(*job.trace, job.running_ns, is_over_);
  job.maps = maps_.now();
  if (age_ns > last_age_ns_)
    job.calls_per_s = static_cast<double>(job.calls - last_calls_) * 1e9 /
                      static_cast<double>(age_ns - last_age_ns_);
  last_calls_ = job.calls;
  last_age_ns_ = age_ns;
  job.look_ns = realtime_ns() - begin;
  return job;
}

base::Status RecordedJob::write(const std::string& output) {
  std::vector<spool::RankSpool> received;
  for (Rank& rank : ranks_) {
    if (const base::Status whole = rank.receiver->finish(); !whole.ok()) return whole;
    received.push_back(rank.receiver->take());
  }
  const RunInfo info = run_.trace().info();
  return write_received(std::move(received), info.complete, info.complete, output);
}

uint64_t RecordedJob::stream_bytes() const {
  uint64_t all = 0;
  for (const Rank& rank : ranks_) all += rank.sender.stream_bytes();
  return all;
}

}  // namespace refrain::online
