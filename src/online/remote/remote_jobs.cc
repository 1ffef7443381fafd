#include "online/remote/remote_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "format/encode/encode.h"
#include "format/live/decode/receiver.h"
#include "online/wall_clock.h"

namespace refrain::online {

namespace spool = format::spool;

namespace {

// A rank whose stream is broken, and of which nothing comes any more, is over; a job of which
// nothing comes any more has no other ranks. Who feeds a rank sends its state at each look.
constexpr uint64_t kSilenceNs = 30'000'000'000;

bool is_silent(uint64_t last_ns) { return realtime_ns() > last_ns + kSilenceNs; }

}  // namespace

struct RemoteJobs::Rank {
  Row row;
  uint64_t number = 0;  // of the rank
  std::unique_ptr<format::live::Receiver> receiver = std::make_unique<format::live::Receiver>();
  std::string wrong;  // with its messages; what came before counts
  Life life = Life::kLives;
  uint64_t bytes = 0, came_ns = 0, sent_ns = 0;
  int64_t clock_offset_ns = 0;
  uint64_t clock_error_ns = kNoClockError;
  bool is_shown = false, is_taken = false;
};

struct RemoteJobs::Job {
  uint64_t run = 0, bytes = 0, came_ns = 0;
  time_t told = 0;
  std::optional<spool::LiveJob> what;
  Row of_job, of_trace;
  std::string trace, trace_file;
  bool is_trace_whole = false;
  std::map<uint64_t, std::shared_ptr<Rank>> ranks;
};

// ---- what is known of a job, for who looks at it ----

class RemoteJobs::OneRank : public RankSource {
 public:
  explicit OneRank(std::shared_ptr<Rank> rank) : rank_(std::move(rank)) {}

  base::Result<spool::RankSpool> look() override {
    if (!rank_->receiver->has_begun())  // its sender was started again
      return base::fail("it begins again", "rank " + std::to_string(rank_->number));
    spool::RankSpool now = rank_->receiver->now();
    if (!rank_->wrong.empty()) now.damage.push_back(rank_->wrong);
    return now;
  }
  base::Result<spool::RankSpool> finish(format::live::EndReason) override {
    if (!rank_->receiver->has_begun()) return look();
    if (const base::Status whole = rank_->receiver->finish(); !whole.ok() && rank_->wrong.empty())
      rank_->wrong = whole.error().to_string();
    rank_->is_taken = true;
    spool::RankSpool all = rank_->receiver->take();
    if (!rank_->wrong.empty()) all.damage.push_back(rank_->wrong);
    return all;
  }
  const format::live::Receiver* receiver() const override { return rank_->receiver.get(); }
  Life life() const override {
    if (rank_->life == Life::kLives && !rank_->wrong.empty() && is_silent(rank_->came_ns))
      return Life::kDead;
    return rank_->life;
  }
  uint64_t stream_bytes() const override { return rank_->bytes; }
  uint64_t stored_bytes() const override { return 0; }
  int64_t clock_offset_ns() const override { return rank_->clock_offset_ns; }
  uint64_t lag_ns() const override {
    const uint64_t sent = rank_->sent_ns + static_cast<uint64_t>(rank_->clock_offset_ns);
    const uint64_t now = realtime_ns();
    return life() == Life::kLives && now > sent ? now - sent : 0;
  }

 private:
  const std::shared_ptr<Rank> rank_;
};

class RemoteJobs::OneJob : public JobSource {
 public:
  explicit OneJob(std::shared_ptr<Job> job) : job_(std::move(job)) {
    for (auto& [number, rank] : job_->ranks) rank->is_shown = false;
  }
  std::vector<FoundRank> new_ranks() override {
    std::vector<FoundRank> found;
    for (auto& [number, rank] : job_->ranks) {
      if (rank->is_shown || !rank->receiver->has_begun()) continue;
      rank->is_shown = true;
      found.push_back({rank->receiver->hello().header, std::make_unique<OneRank>(rank)});
    }
    return found;
  }
  bool is_settled() const override {
    const auto shown = std::count_if(job_->ranks.begin(), job_->ranks.end(),
                                     [](const auto& r) { return r.second->is_shown; });
    return job_->is_trace_whole || is_silent(job_->came_ns) ||
           (job_->what && static_cast<uint64_t>(shown) >= job_->what->ranks);
  }
  std::string trace_file() const override { return job_->trace_file; }
  std::vector<HostNow> hosts() const override {
    std::map<std::string, HostNow> hosts;
    for (const auto& [number, rank] : job_->ranks) {
      if (!rank->receiver->has_begun()) continue;
      HostNow& host = hosts[rank->receiver->hello().header.host];
      host.host = rank->receiver->hello().header.host;
      ++host.ranks;
      if (rank->clock_error_ns == kNoClockError) continue;
      host.is_compared = true;
      host.clock_offset_ns = rank->clock_offset_ns;
      host.clock_error_ns = rank->clock_error_ns;
    }
    std::vector<HostNow> all;
    for (auto& [name, host] : hosts) all.push_back(std::move(host));
    return all;
  }

 private:
  const std::shared_ptr<Job> job_;
};

// ---- messages ----

RemoteJobs::RemoteJobs(std::unique_ptr<Inlet> inlet, std::string folder, RemoteOptions options)
    : inlet_(std::move(inlet)), folder_(std::move(folder)), options_(options) {}
RemoteJobs::~RemoteJobs() = default;

// Where a message stands among those of its subject.
RemoteJobs::Came RemoteJobs::take(Row& row, const Message& message, std::string* wrong) {
  if (message.incarnation < row.incarnation) return Came::kOld;
  const bool is_first = message.incarnation > row.incarnation;
  if (is_first) row = {message.incarnation, 0};
  const std::string number = "message " + std::to_string(message.number) + " of the rank";
  if (message.number < row.next) *wrong = number + " came again";
  if (message.number > row.next)
    *wrong = "message " + std::to_string(row.next) + " of the rank is missing";
  if (message.number != row.next) return is_first ? Came::kFirst : Came::kWrong;
  ++row.next;
  return is_first ? Came::kFirst : Came::kNext;
}

void RemoteJobs::take_job(Job& job, const Message& message) {
  std::string ignored;
  if (message.kind != MessageKind::kJob) return;
  if (const Came came = take(job.of_job, message, &ignored);
      came == Came::kOld || came == Came::kWrong)
    return;
  auto what = spool::read_live_job(message.content);
  if (!what || what->run != job.run) return;
  if (!job.what) job.told = time(nullptr);
  job.what = std::move(*what);
}

void RemoteJobs::take_trace(Job& job, const Message& message) {
  std::string wrong;
  const Came came = take(job.of_trace, message, &wrong);
  if (came == Came::kOld || job.is_trace_whole) return;
  if (came == Came::kFirst) {
    job.bytes -= job.trace.size();
    job.trace.clear();
  }
  const bool is_last = message.kind == MessageKind::kTraceLast;
  if (!wrong.empty() || (!is_last && message.kind != MessageKind::kTrace)) return;
  if (job.bytes + message.content.size() > options_.most_job_bytes) return;
  job.bytes += message.content.size();
  job.trace += message.content;
  if (!is_last) return;
  const std::string file = folder_ + "/" + spool::run_text(job.run) + ".came";
  if (!format::write_file_atomically(file, job.trace, "a trace").ok()) return;
  job.trace_file = file;
  job.is_trace_whole = true;
  job.bytes -= job.trace.size();
  job.trace = {};
}

// The stream of the rank goes on.
void RemoteJobs::receive(Job& job, Rank& rank, const Message& message) {
  if (job.bytes + message.content.size() > options_.most_job_bytes) {
    rank.wrong = "more came than a job may send (--job-bytes)";
    return;
  }
  job.bytes += message.content.size();
  rank.bytes += message.content.size();
  rank.sent_ns = message.sent_ns;
  rank.clock_error_ns = message.clock_error_ns;
  rank.clock_offset_ns = message.clock_error_ns == kNoClockError ? 0 : message.clock_offset_ns;
  if (const base::Status got = rank.receiver->receive(message.content); !got.ok())
    rank.wrong = got.error().to_string();
  if (!rank.receiver->has_begun()) return;
  const spool::Header& who = rank.receiver->hello().header;
  if (who.run == job.run && static_cast<uint64_t>(who.rank) == rank.number) return;
  rank.wrong = "what came as its stream is another rank's";
  rank.receiver = std::make_unique<format::live::Receiver>();
}

void RemoteJobs::take_rank(Job& job, uint64_t number, const base::Result<Message>& message) {
  std::shared_ptr<Rank>& there = job.ranks[number];
  if (there == nullptr) there = std::make_shared<Rank>();
  Rank& rank = *there;
  rank.number = number;
  if (rank.is_taken) return;
  rank.came_ns = realtime_ns();
  if (!message.ok()) {
    if (rank.wrong.empty()) rank.wrong = message.error().to_string();
    return;
  }
  std::string wrong;
  const Came came = take(rank.row, *message, &wrong);
  if (came == Came::kOld) return;
  if (came == Came::kFirst) {
    job.bytes -= rank.bytes;
    rank.bytes = 0;
    rank.receiver = std::make_unique<format::live::Receiver>();
    rank.wrong.clear();
    rank.life = Life::kLives;
  }
  if (rank.wrong.empty()) rank.wrong = wrong;
  if (rank.wrong.empty()) receive(job, rank, *message);
  if (message->kind == MessageKind::kStreamDone) rank.life = Life::kDone;
  if (message->kind == MessageKind::kStreamDied) rank.life = Life::kDead;
}

void RemoteJobs::take(std::string_view subject, std::string_view bytes) {
  const auto of = read_subject(subject);
  if (!of) {
    ++ignored_;
    return;
  }
  if (forgotten_.contains(of->run)) {  // somebody fed it again
    to_purge_.insert(of->run);
    return;
  }
  if (jobs_.size() >= kMostJobs)  // somebody made runs up
    std::erase_if(jobs_,
                  [](const auto& j) { return !j.second->what && is_silent(j.second->came_ns); });
  if (!jobs_.contains(of->run) && jobs_.size() >= kMostJobs) {
    ++ignored_;
    return;
  }
  std::shared_ptr<Job>& job = jobs_[of->run];
  if (job == nullptr) job = std::make_shared<Job>();
  job->run = of->run;
  job->came_ns = realtime_ns();
  const auto message = read_message(bytes);
  if (of->of == Subject::Of::kRank)
    take_rank(*job, of->rank, message);
  else if (!message.ok())
    ++ignored_;
  else if (of->of == Subject::Of::kJob)
    take_job(*job, *message);
  else
    take_trace(*job, *message);
}

base::Status RemoteJobs::wait(uint64_t most_ns) {
  for (const uint64_t run : to_purge_) inlet_->purge(run);
  to_purge_.clear();
  return inlet_->receive(most_ns, [this](std::string_view subject, std::string_view message) {
    take(subject, message);
  });
}

std::vector<RemoteJobs::Told> RemoteJobs::told() const {
  std::vector<Told> all;
  for (const auto& [run, job] : jobs_)
    if (job->what) all.push_back({run, job->told, *job->what});
  return all;
}

std::unique_ptr<JobSource> RemoteJobs::source(uint64_t run) {
  return std::make_unique<OneJob>(jobs_.at(run));
}

void RemoteJobs::forget(uint64_t run) {
  const auto job = jobs_.find(run);
  if (job == jobs_.end()) return;
  if (!job->second->trace_file.empty()) unlink(job->second->trace_file.c_str());
  jobs_.erase(job);
  forgotten_.insert(run);
  to_purge_.insert(run);
}

}  // namespace refrain::online
