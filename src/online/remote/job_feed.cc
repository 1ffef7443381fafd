#include "online/remote/job_feed.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "online/rank_feed.h"
#include "online/wall_clock.h"

namespace refrain::online {

namespace {

namespace fs = std::filesystem;
namespace spool = format::spool;

constexpr uint64_t kCompareEachNs = 10'000'000'000;
// Ranks open their spools one after the other; where some die, others may not have come yet.
constexpr time_t kMoreRanksSeconds = 5;
constexpr uint64_t kMostTraceBytes = uint64_t{1} << 30;

}  // namespace

JobFeed::JobFeed(std::string folder, Outlet& outlet)
    : folder_(std::move(folder)),
      outlet_(outlet),
      incarnation_(realtime_ns()),
      returns_(outlet.returns()) {}

JobFeed::~JobFeed() {
  if (lock_ >= 0) close(lock_);
}

base::Result<std::unique_ptr<JobFeed>> JobFeed::open(const std::string& folder, Outlet& outlet) {
  auto feed = std::unique_ptr<JobFeed>(new JobFeed(folder, outlet));
  const auto lock = lock_job_folder(folder);
  if (!lock.ok()) return lock.error();
  feed->lock_ = *lock;
  return feed;
}

std::unique_ptr<JobFeed::Job> JobFeed::begun(ToldJob told) const {
  auto job = std::make_unique<Job>();
  job->spool = told.what->spool;
  Subject subject{told.what->run, Subject::Of::kJob, 0};
  job->of_job.subject = subject_text(subject);
  subject.of = Subject::Of::kTrace;
  job->of_trace.subject = subject_text(subject);
  job->of_job.pending.emplace_back(MessageKind::kJob, spool::write_live_job(*told.what));
  job->told = std::move(told);
  return job;
}

// If the broker has come back. A clock that was set back meanwhile must not make it an older one.
void JobFeed::begin_anew(std::vector<std::string>& lines) {
  const uint64_t returns = outlet_.returns();
  if (returns == returns_) return;
  returns_ = returns;
  incarnation_ = std::max(realtime_ns(), incarnation_ + 1);
  size_t again = 0;
  for (auto& [file, job] : jobs_) {
    if (job == nullptr) continue;
    job = begun(std::move(job->told));
    ++again;
  }
  if (again > 0) lines.push_back("the broker was away: what runs is sent from its begin");
}

void JobFeed::find_jobs(std::vector<std::string>& lines) {
  std::vector<ToldJob> found;
  if (const base::Status read = find_told_jobs(folder_, jobs_, found); !read.ok())
    lines.push_back(read.error().to_string());
  for (ToldJob& told : found) {
    if (!told.what) lines.push_back(told.why);
    const std::string file = told.file;
    jobs_.emplace(file, told.what ? begun(std::move(told)) : nullptr);
  }
}

void JobFeed::find_ranks(Job& job) {
  const auto found = spool::look_for_files({job.spool});
  if (!found.ok()) return;  // none yet, or no longer
  const auto mine = found->runs.find(job.told.what->run);
  if (mine == found->runs.end()) return;
  const std::string name = fs::path(job.told.what->trace).filename().string();
  for (const spool::JobFile& file : mine->second) {
    const auto number = static_cast<uint64_t>(file.header.rank);
    // Those of other hosts, where all share the folder, are fed there.
    if (job.ranks.contains(number) || !spool::is_of_this_host(file.header)) continue;
    auto feeder = format::live::Feeder::open(file.path, name);
    if (!feeder.ok()) continue;
    Row row;
    row.subject = subject_text({job.told.what->run, Subject::Of::kRank, number});
    job.ranks.emplace(number, Rank{std::move(*feeder), std::move(row), false});
    job.last_found = time(nullptr);
  }
}

void JobFeed::add_pieces(Row& row, MessageKind kind, MessageKind last, std::string_view bytes) {
  while (bytes.size() > kMaxMessageContent) {
    row.pending.emplace_back(kind, std::string(bytes.substr(0, kMaxMessageContent)));
    bytes.remove_prefix(kMaxMessageContent);
  }
  if (!bytes.empty() || last != kind) row.pending.emplace_back(last, std::string(bytes));
}

// What is new of the rank, and its end when it has ended.
void JobFeed::look_at(Job& job, Rank& rank) {
  if (rank.is_over || !rank.row.pending.empty()) return;
  const auto sent = rank.feeder.look();
  const Life life = sent.ok() ? RankFeed::life_of(rank.feeder.cursor()) : Life::kDead;
  if (life == Life::kLives)
    return add_pieces(rank.row, MessageKind::kStream, MessageKind::kStream, *sent);
  const bool has_died = life == Life::kDead;
  const auto last = rank.feeder.finish(has_died ? format::live::EndReason::kDied
                                                : format::live::EndReason::kFinished);
  std::string bytes = sent.ok() ? *sent : std::string();
  if (last.ok()) bytes += *last;
  add_pieces(rank.row, MessageKind::kStream,
             has_died ? MessageKind::kStreamDied : MessageKind::kStreamDone, bytes);
  rank.is_over = true;
  job.any_died = job.any_died || has_died;
}

base::Status JobFeed::send(Row& row) {
  while (!row.pending.empty()) {
    Message message;
    message.kind = row.pending.front().first;
    message.incarnation = incarnation_;
    message.number = row.next;
    message.sent_ns = realtime_ns();
    message.clock_offset_ns = clock_.offset_ns;
    message.clock_error_ns = clock_.error_ns;
    message.content = row.pending.front().second;
    if (const base::Status sent = outlet_.publish(row.subject, message); !sent.ok()) return sent;
    ++row.next;
    row.pending.pop_front();
  }
  return base::Done{};
}

// Whether no rank of the job will do anything on this host any more.
bool JobFeed::is_over(Job& job) {
  const spool::LiveJob& what = *job.told.what;
  const time_t now = time(nullptr);
  std::error_code ignored;
  if (job.ranks.empty()) {  // over before anybody looked, or not begun
    if (!fs::exists(job.spool, ignored) && fs::exists(what.trace, ignored)) return true;
    return job.told.told < now - kPatienceSeconds;
  }
  return std::all_of(job.ranks.begin(), job.ranks.end(),
                     [](const auto& r) { return r.second.is_over; }) &&
         (!job.any_died || job.ranks.size() >= what.ranks ||
          job.last_found < now - kMoreRanksSeconds);
}

// The job's own trace is needed where not all ranks were seen here.
bool JobFeed::wants_trace(const Job& job) const {
  std::error_code ignored;
  return !job.is_trace_sent && !job.any_died && job.ranks.size() < job.told.what->ranks &&
         fs::exists(job.told.what->trace, ignored);
}

base::Status JobFeed::feed(Job& job) {
  if (const base::Status sent = send(job.of_job); !sent.ok()) return sent;
  find_ranks(job);
  for (auto& [number, rank] : job.ranks) {
    look_at(job, rank);
    if (const base::Status sent = send(rank.row); !sent.ok()) return sent;
  }
  if (!is_over(job) || !wants_trace(job)) return base::Done{};
  if (job.of_trace.pending.empty()) {
    const auto bytes = spool::read_file(job.told.what->trace, kMostTraceBytes);
    if (!bytes.ok()) return base::Done{};
    add_pieces(job.of_trace, MessageKind::kTrace, MessageKind::kTraceLast, *bytes);
  }
  const base::Status sent = send(job.of_trace);
  job.is_trace_sent = sent.ok();
  return sent;
}

base::Result<std::vector<std::string>> JobFeed::look() {
  std::vector<std::string> lines;
  if (const uint64_t now = realtime_ns(); now > compared_ns_ + kCompareEachNs) {
    compared_ns_ = now;
    if (const auto clock = outlet_.compare_clocks()) clock_ = *clock;
  }
  find_jobs(lines);
  begin_anew(lines);
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job* const job = it->second.get();
    if (job == nullptr) {
      ++it;
      continue;
    }
    const size_t before = job->ranks.size();
    if (const base::Status fed = feed(*job); !fed.ok()) return fed.error();
    const std::string name = fs::path(job->told.what->trace).filename().string();
    if (job->ranks.size() != before)
      lines.push_back(name + ": " + std::to_string(job->ranks.size()) + " ranks of this host");
    if (!is_over(*job)) {
      ++it;
      continue;
    }
    lines.push_back(name + (job->any_died ? ": died, and is sent" : ": ended, and is sent"));
    unlink(job->told.path.c_str());
    it = jobs_.erase(it);
  }
  return lines;
}

}  // namespace refrain::online
