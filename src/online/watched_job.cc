#include "online/watched_job.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "format/spool/job_files.h"
#include "format/spool/post_mortem.h"
#include "mpi/call_ids.h"
#include "mpi/call_name.h"
#include "online/rank_feed.h"
#include "online/received.h"
#include "online/waits_for.h"
#include "online/wall_clock.h"
#include "reader/internal.h"

namespace refrain::online {

namespace {

// Where the ranks were, of which nothing but the trace has come.
std::vector<HostNow> hosts_of(const Trace& trace) {
  const format::Meta& meta = reader::data_of(trace).meta;
  std::vector<HostNow> hosts(meta.hosts.size());
  for (size_t i = 0; i < hosts.size(); ++i) hosts[i].host = meta.hosts[i];
  for (uint64_t rank = 0; rank < meta.host_of_rank.size(); ++rank)
    if (const int64_t host = meta.host_of_rank.at(rank); host >= 0)
      ++hosts[static_cast<size_t>(host)].ranks;
  return hosts;
}

namespace fs = std::filesystem;
namespace spool = format::spool;

// Nothing for a rank that is in no call.
std::string name_of(uint32_t call) {
  return call == 0 ? std::string() : mpi::call_name(static_cast<mpi::CallId>(call));
}

// "run.rfn" of "/tmp/run.rfn.spool/".
std::string trace_of_folder(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  constexpr std::string_view kEnding = ".spool";
  if (folder.ends_with(kEnding)) folder.resize(folder.size() - kEnding.size());
  return folder;
}

// The state of a process, from its source and from what is known of its threads.
RankState state_of(Life life, spool::State state, const RankNow& now, bool in_call,
                   const WatchOptions& options) {
  if (life != Life::kLives) return life == Life::kDone ? RankState::kDone : RankState::kDead;
  if (state == spool::State::kFinishing) return RankState::kFinishing;
  if (!in_call) return RankState::kComputing;
  return now.since_ns >= options.stuck_after_ns ? RankState::kStuck : RankState::kInMpi;
}

// Where no rank that lives has moved for so long, all of them are stuck, whatever the limit is.
// With a look each second a deadlock is named within three.
constexpr uint64_t kNobodyMovesNs = 1'500'000'000;

void mark_standstill(JobNow& job) {
  const auto stands = [](const RankNow& r) {
    return r.state == RankState::kStuck ||
           (r.state == RankState::kInMpi && r.since_ns >= kNobodyMovesNs);
  };
  const auto is_over = [](const RankNow& r) {
    return r.state == RankState::kDone || r.state == RankState::kDead;
  };
  if (!std::all_of(job.ranks.begin(), job.ranks.end(),
                   [&](const RankNow& r) { return is_over(r) || stands(r); }))
    return;
  for (RankNow& r : job.ranks)
    if (stands(r)) r.state = RankState::kStuck;
}

void add_stuck(JobNow& job) {
  mark_standstill(job);
  std::map<std::string, Stuck> by_call;
  size_t living = 0, stuck = 0;
  for (const RankNow& r : job.ranks) {
    if (r.state == RankState::kDone || r.state == RankState::kDead) continue;
    ++living;
    if (r.state != RankState::kStuck) continue;
    ++stuck;
    Stuck& s = by_call[r.call];
    s.call = r.call;
    s.ranks.push_back(r.rank);
    s.since_ns = std::max(s.since_ns, r.since_ns);
  }
  for (auto& [call, s] : by_call) job.stuck.push_back(std::move(s));
  std::stable_sort(job.stuck.begin(), job.stuck.end(),
                   [](const Stuck& a, const Stuck& b) { return a.since_ns > b.since_ns; });
  job.nobody_moves = living > 0 && stuck == living;
}

JobState state_of(const JobNow& job) {
  const auto all = [&job](auto is_so) {
    return std::all_of(job.ranks.begin(), job.ranks.end(), is_so);
  };
  const auto is_over = [](const RankNow& r) {
    return r.state == RankState::kDone || r.state == RankState::kDead;
  };
  if (all([](const RankNow& r) { return r.state == RankState::kDone; })) return JobState::kFinished;
  if (all(is_over)) return JobState::kDied;
  return all([&](const RankNow& r) { return is_over(r) || r.state == RankState::kFinishing; })
             ? JobState::kFinishing
             : JobState::kRunning;
}

}  // namespace

std::string to_string(RankState state) {
  switch (state) {
    case RankState::kComputing: return "computing";
    case RankState::kInMpi: return "in MPI";
    case RankState::kStuck: return "stuck";
    case RankState::kFinishing: return "finishing";
    case RankState::kDone: return "done";
    case RankState::kDead: return "dead";
  }
  return {};
}

std::string to_string(JobState state) {
  switch (state) {
    case JobState::kRunning: return "running";
    case JobState::kFinishing: return "finishing";
    case JobState::kFinished: return "finished";
    case JobState::kDied: return "died";
  }
  return {};
}

WatchedJob::WatchedJob(std::string folder, WatchOptions options)
    : folder_(std::move(folder)), trace_(trace_of_folder(folder_)), options_(options) {}

WatchedJob::WatchedJob(std::string folder, uint64_t run, std::string trace, WatchOptions options)
    : folder_(std::move(folder)), trace_(std::move(trace)), options_(options), run_(run) {}

WatchedJob::WatchedJob(std::unique_ptr<JobSource> source, std::string trace, WatchOptions options)
    : source_(std::move(source)), trace_(std::move(trace)), options_(options) {}

// Where the trace is that the job wrote, if it did.
std::string WatchedJob::trace_file() const {
  return source_ != nullptr ? source_->trace_file() : trace_;
}

void WatchedJob::add_rank(const spool::Header& header, std::unique_ptr<RankSource> source) {
  RankNow now;
  now.rank = static_cast<uint64_t>(header.rank);
  now.pid = header.pid;
  now.host = header.host;
  ranks_.emplace(now.rank, Rank{std::move(source), header, now});
}

// Ranks open their files one after the other in MPI_Init: those that are new are added.
base::Status WatchedJob::find_ranks() {
  if (source_ != nullptr) {
    for (FoundRank& rank : source_->new_ranks()) add_rank(rank.header, std::move(rank.source));
    return base::Done{};
  }
  const auto found = spool::look_for_files({folder_});
  if (!found.ok()) return found.error();
  const auto mine = found->runs.find(run_);
  std::vector<spool::JobFile> files;
  if (run_ == 0)
    files = spool::newest_run(*found);
  else if (mine != found->runs.end())
    files = mine->second;
  for (const spool::JobFile& file : files) {
    if (ranks_.empty()) run_ = file.header.run;
    const auto rank = static_cast<uint64_t>(file.header.rank);
    if (file.header.run != run_ || ranks_.contains(rank)) continue;
    auto opened = RankFeed::open(file.path, fs::path(trace_).filename().string());
    if (!opened.ok()) continue;  // it was removed meanwhile
    add_rank(file.header, std::make_unique<RankFeed>(std::move(*opened)));
  }
  return base::Done{};
}

// No spool any more, or never: what the trace says, if there is one.
base::Result<JobNow> WatchedJob::finished() {
  std::error_code ignored;
  const std::string file = trace_file();
  if (source_ != nullptr && file.empty()) return base::fail("nothing of it has come yet", trace_);
  if (trace_ == folder_ || !fs::exists(file, ignored))
    return base::fail(
        "no job has left a spool here: is this the folder run.rfn.spool of a program "
        "that `refrain record` has started?",
        folder_);
  auto trace = Trace::open(file);
  if (!trace.ok()) return trace.error();
  JobNow job = ended_job(fs::path(trace_).filename().string(), file, *trace);
  job.spool = folder_;
  job.state = JobState::kFinished;
  if (source_ != nullptr) job.hosts = source_->hosts();
  if (source_ != nullptr && job.hosts.empty()) job.hosts = hosts_of(*trace);
  if (!std::exchange(has_last_maps_, true))  // with what came after the last look
    maps_.add(*trace, job.running_ns, true);
  job.maps = maps_.now();
  return job;
}

void WatchedJob::update(Rank& rank, const spool::RankSpool& read, JobNow& job) {
  RankNow& now = rank.now;
  rank.header = read.header;
  const uint64_t time = realtime_ns();
  const auto ours = [offset = rank.source->clock_offset_ns()](uint64_t their_ns) {
    return their_ns + static_cast<uint64_t>(offset);
  };
  uint64_t calls = 0, last_ns = 0;
  bool in_call = false;
  for (const spool::Progress& p : read.threads) {
    calls += p.calls;
    // What the rank does is what the thread does that was active last.
    if (p.last_time_ns < last_ns) continue;
    last_ns = p.last_time_ns;
    in_call = p.open_call != 0;
    now.call = name_of(in_call ? p.open_call : p.last_call);
    now.since_ns = time > ours(last_ns) ? time - ours(last_ns) : 0;
  }
  now.calls = std::max(now.calls, calls);
  now.state = state_of(rank.source->life(), rank.header.state, now, in_call, options_);
  const uint64_t begin = ours(rank.header.opened_realtime_ns);
  job.running_ns = std::max(job.running_ns, time > begin ? time - begin : 0);
}

base::Result<JobNow> WatchedJob::look() {
  const uint64_t begin = realtime_ns();
  // A folder that is gone means that the job has finished.
  (void)find_ranks();
  if (ranks_.empty()) return finished();
  JobNow job;
  job.spool = folder_;
  job.name = fs::path(trace_).filename().string();
  uint64_t lag_ns = 0;
  spool::PostMortem all;
  for (auto& [number, rank] : ranks_) {
    auto read = rank.source->look();
    rank.now.is_current = read.ok() && read->damage.empty();
    if (read.ok() && options_.is_analyser) rank.source->tell_taken();
    job.stream_bytes += rank.source->stream_bytes();
    job.spool_bytes += rank.source->stored_bytes();
    job.world_size = rank.header.world_size;
    if (read.ok()) {
      update(rank, *read, job);
      job.blocked_ns = std::max(job.blocked_ns, rank.source->waited_ns());
      take_waits(rank, *read);
      // A rank whose record contradicts itself is missing there, and says so.
      (void)all.add(std::move(*read));
    }
    lag_ns = std::max(lag_ns, rank.source->lag_ns());
    job.ranks.push_back(rank.now);
    job.calls += rank.now.calls;
  }
  job.state = state_of(job);
  if (source_ != nullptr) {
    job.hosts = source_->hosts();
    // Ranks of other hosts may not have come yet.
    if (!source_->is_settled() && job.state != JobState::kRunning) job.state = JobState::kFinishing;
  }
  const bool is_over = job.state == JobState::kFinished || job.state == JobState::kDied;
  if (is_over) take_last_waits();
  const bool has_own_trace = job.state == JobState::kFinished && !is_left_to_us();
  // What comes from elsewhere is checked; the files here are those of our own recorder.
  if (has_own_trace) {
    if (source_ != nullptr) take_trace(all, job);
    waits_.advance(source_ == nullptr || job.trace, true);
    if (auto whole = finished(); whole.ok()) {
      whole->stream_bytes = job.stream_bytes;
      whole->waits = waits_.now();
      return whole;
    }
  }
  if (!job.trace) take_trace(all, job);
  waits_.advance(job.trace.has_value(), is_over);
  job.waits = waits_.now();
  if (job.trace) maps_.add(*job.trace, job.running_ns, is_over);
  job.maps = maps_.now();
  add_stuck(job);
  find_circle(job);
  add_speed(job);
  job.look_ns = realtime_ns() - begin + lag_ns;
  return job;
}

void WatchedJob::take_waits(const Rank& rank, const spool::RankSpool& read) {
  const format::live::Receiver* const receiver = rank.source->receiver();
  if (receiver != nullptr) waits_.take(*receiver, read, rank.source->life() != Life::kLives);
}

// A rank may have gone on behind the look before it was found to be over.
void WatchedJob::take_last_waits() {
  for (const auto& [number, rank] : ranks_)
    if (const auto read = rank.source->look(); read.ok()) take_waits(rank, *read);
}

bool WatchedJob::is_left_to_us() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const auto& rank) {
    return rank.second.header.state == spool::State::kLeft;
  });
}

void WatchedJob::remove_spool() {
  if (!is_left_to_us()) return;
  std::error_code ignored;
  for (const auto& [number, rank] : ranks_) rank.source->remove();
  fs::remove(folder_, ignored);  // fails while there are others
}

base::Status WatchedJob::write(const std::string& output) {
  std::vector<spool::RankSpool> received;
  bool has_finished = !ranks_.empty() && ranks_.size() == ranks_.begin()->second.header.world_size;
  bool is_whole = has_finished;
  for (auto& [number, rank] : ranks_) {
    const bool is_done = rank.now.state == RankState::kDone;
    auto record = rank.source->finish(is_done ? format::live::EndReason::kFinished
                                              : format::live::EndReason::kDied);
    has_finished = has_finished && is_done;
    is_whole = is_whole && is_done && record.ok() && record->damage.empty();
    if (record.ok()) received.push_back(std::move(*record));  // others are missing, and named so
  }
  std::error_code error;
  const std::string file = trace_file();
  if (is_whole || is_left_to_us() || !fs::exists(file, error))
    return write_received(std::move(received), is_whole, has_finished, output);
  fs::copy_file(file, output, fs::copy_options::overwrite_existing, error);
  if (error) return base::fail(error.message(), output);
  return base::Done{};
}

void WatchedJob::add_speed(JobNow& job) {
  const uint64_t time = realtime_ns();
  const uint64_t over = last_time_ns_ == 0 ? job.running_ns : time - last_time_ns_;
  if (over > 0 && job.calls >= last_calls_)
    job.calls_per_s =
        static_cast<double>(job.calls - last_calls_) * 1e9 / static_cast<double>(over);
  last_calls_ = job.calls;
  last_time_ns_ = time;
}

}  // namespace refrain::online
