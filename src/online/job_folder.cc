#include "online/job_folder.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "format/encode/encode.h"
#include "online/own_files.h"
#include "online/received.h"
#include "online/remote/told_jobs.h"
#include "online/show/maps_json.h"

namespace refrain::online {

namespace {

namespace fs = std::filesystem;
namespace spool = format::spool;

constexpr size_t kMostEnded = 100;

// What the job is called, if no other one is.
std::string stem_of(const spool::LiveJob& what) {
  return what.name.empty() ? fs::path(what.trace).stem().string() : what.name;
}

bool is_over(const JobNow& job) {
  return job.state == JobState::kFinished || job.state == JobState::kDied;
}

}  // namespace

struct JobFolder::Job {
  std::string file, run, name;  // path of its file; of one elsewhere: "RUN.job"
  time_t told = 0;
  spool::LiveJob what;
  WatchedJob watched;
  std::optional<JobNow> now;
  bool is_ended = false;
};

JobFolder::JobFolder(std::string folder, std::string output, WatchOptions options,
                     LeaveOptions leave)
    : folder_(std::move(folder)),
      output_(std::move(output)),
      options_(options),
      ended_(output_, std::move(leave)) {}

JobFolder::~JobFolder() {
  if (events_ >= 0) close(events_);
  if (lock_ >= 0) close(lock_);
}

base::Result<std::unique_ptr<JobFolder>> JobFolder::open(const std::string& folder,
                                                         const std::string& output,
                                                         const WatchOptions& options,
                                                         const LeaveOptions& leave) {
  auto jobs = std::unique_ptr<JobFolder>(new JobFolder(folder, output, options, leave));
  if (const base::Status good = jobs->prepare(); !good.ok()) return good.error();
  return jobs;
}

base::Result<std::unique_ptr<JobFolder>> JobFolder::open(std::unique_ptr<RemoteJobs> remote,
                                                         const std::string& output,
                                                         const WatchOptions& options,
                                                         const LeaveOptions& leave) {
  auto jobs = std::unique_ptr<JobFolder>(new JobFolder(output, output, options, leave));
  jobs->remote_ = std::move(remote);
  if (const base::Status good = jobs->prepare(); !good.ok()) return good.error();
  return jobs;
}

base::Status JobFolder::prepare() {
  const auto lock = lock_job_folder(folder_);
  if (!lock.ok()) return lock.error();
  lock_ = *lock;
  std::error_code error;
  fs::create_directories(output_ + "/names", error);
  if (error) return base::fail("cannot make the folder (" + error.message() + ")", output_);
  events_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (events_ >= 0)  // without, jobs are found at the next look
    (void)inotify_add_watch(events_, folder_.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO);
  if (const base::Status good = read_token(); !good.ok()) return good;
  find_ended();
  return base::Done{};
}

base::Status JobFolder::read_token() {
  const std::string path = folder_ + "/serve.token";
  const auto text = read_own_file(path, spool::kMaxLiveJobBytes);
  if (text.ok() && text->size() == 32) {
    token_ = *text;
    return base::Done{};
  }
  token_ = random_word();
  return write_own_file(path, token_);
}

void JobFolder::wait(uint64_t most_ns) {
  if (remote_ != nullptr) {
    const base::Status came = remote_->wait(most_ns);
    trouble_ = came.ok() ? std::string() : came.error().to_string();
    return;
  }
  pollfd fd{events_, POLLIN, 0};
  (void)poll(&fd, events_ >= 0 ? 1 : 0, static_cast<int>(most_ns / 1'000'000));
  char bytes[4096];
  while (events_ >= 0 && read(events_, bytes, sizeof bytes) > 0) {
  }
}

// ---- which jobs there are ----

// Traces of jobs that were there before us.
void JobFolder::find_ended() {
  std::set<std::string> still_told;  // by name: they are looked at again
  std::error_code error;
  for (fs::directory_iterator it(output_ + "/names", error), end; !error && it != end;
       it.increment(error)) {
    const std::string run = it->path().filename().string();
    const auto name = read_own_file(it->path().string(), spool::kMaxLiveJobBytes);
    if (name.ok() && fs::exists(folder_ + "/" + run + spool::kLiveJobEnding))
      still_told.insert(*name);
  }
  std::vector<fs::path> traces;
  for (fs::directory_iterator it(output_, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".rfn") traces.push_back(it->path());
  std::sort(traces.begin(), traces.end(), [](const fs::path& a, const fs::path& b) {
    std::error_code none;
    return std::pair(fs::last_write_time(a, none), a) < std::pair(fs::last_write_time(b, none), b);
  });
  for (const fs::path& path : traces) {
    const std::string name = path.stem().string();
    auto trace = still_told.contains(name) ? base::Result<Trace>(base::fail("later"))
                                           : Trace::open(path.string());
    if (!trace.ok()) continue;
    was_.emplace(name, ended_job(name + ".rfn", path.string(), *trace));
    order_.push_back(name);
    if (ended_.is_current(name)) continue;
    (void)ended_.keep(name, *trace);
    (void)ended_.add(name, *trace);
  }
  (void)ended_.write_index();
  forget_oldest();
}

// The same one for a run whenever it is asked, and for no other run.
base::Result<std::string> JobFolder::name_of(const std::string& run,
                                             const std::string& stem) const {
  const std::string path = output_ + "/names/" + run;
  if (const auto known = read_own_file(path, spool::kMaxLiveJobBytes);
      known.ok() && !known->empty() && known->find('/') == std::string::npos)
    return *known;
  std::set<std::string> taken = {"", ".", "..", "index", "names"};
  std::error_code error;
  for (fs::directory_iterator it(output_ + "/names", error), end; !error && it != end;
       it.increment(error))
    if (const auto name = read_own_file(it->path().string(), spool::kMaxLiveJobBytes); name.ok())
      taken.insert(*name);
  std::string name = stem;
  for (int n = 1; taken.contains(name) || fs::exists(output_ + "/" + name + ".rfn"); ++n)
    name = stem + "." + std::to_string(n);
  if (const base::Status written = write_own_file(path, name); !written.ok())
    return written.error();
  return name;
}

void JobFolder::find_remote_jobs(std::vector<base::Error>& errors) {
  for (const RemoteJobs::Told& told : remote_->told()) {
    const std::string run = spool::run_text(told.run), file = run + spool::kLiveJobEnding;
    if (jobs_.contains(file)) continue;
    const auto name = name_of(run, stem_of(told.what));
    if (!name.ok()) {
      errors.push_back(name.error());
      continue;
    }
    jobs_.emplace(file, std::make_unique<Job>(
                            Job{file,
                                run,
                                *name,
                                told.told,
                                told.what,
                                WatchedJob(remote_->source(told.run), told.what.trace, options_),
                                {},
                                false}));
  }
}

void JobFolder::find_jobs(std::vector<base::Error>& errors) {
  if (remote_ != nullptr) return find_remote_jobs(errors);
  std::vector<ToldJob> found;
  if (const base::Status read = find_told_jobs(folder_, jobs_, found); !read.ok())
    errors.push_back(read.error());
  for (const ToldJob& told : found) {
    if (!told.what) {
      errors.push_back(base::fail(told.why));
      jobs_.emplace(told.file, nullptr);
      continue;
    }
    const spool::LiveJob& what = *told.what;
    const auto name = name_of(told.run, stem_of(what));
    if (!name.ok()) {
      errors.push_back(name.error());
      continue;
    }
    jobs_.emplace(told.file,
                  std::make_unique<Job>(Job{told.path,
                                            told.run,
                                            *name,
                                            told.told,
                                            what,
                                            WatchedJob(what.spool, what.run, what.trace, options_),
                                            {},
                                            false}));
  }
}

// ---- looks ----

// What a job leaves: its own trace first, as all else follows from it.
base::Status JobFolder::end(Job& job) {
  const std::string path = ended_.trace_of(job.name);
  std::error_code ignored;
  if (!fs::exists(path, ignored))  // else somebody was killed behind this
    if (const base::Status written = job.watched.write(path); !written.ok()) return written;
  const auto trace = Trace::open(path);
  if (!trace.ok()) return trace.error();
  JobNow whole = ended_job(job.now->name, path, *trace);
  whole.state = job.now->state;
  whole.stream_bytes = job.now->stream_bytes;
  if (whole.story.empty()) whole.story = job.now->story;
  whole.loop = job.now->loop;
  whole.hosts = job.now->hosts;
  if (job.now->waits.is_whole) whole.waits = job.now->waits;
  const auto maps = std::exchange(job.now->maps, nullptr);
  *job.now = std::move(whole);
  if (const base::Status kept = ended_.keep(job.name, *trace); !kept.ok())
    job.now->losses.push_back({"not_kept", 0, -1, kept.error().to_string()});
  if (const base::Status written = ended_.add(job.name, *trace); !written.ok()) return written;
  if (maps != nullptr) {
    const base::Status written = format::write_file_atomically(
        output_ + "/" + job.name + "/maps.json", maps_json(*maps, {}, true), "maps");
    if (!written.ok()) return written;
  }
  if (const base::Status written = ended_.write_index(); !written.ok()) return written;
  job.watched.remove_spool();
  forget(job);
  return base::Done{};
}

// Nobody needs to be told of it again.
void JobFolder::forget(const Job& job) {
  if (remote_ != nullptr)
    remote_->forget(job.what.run);
  else
    unlink(job.file.c_str());
}

// The page shows so many of those that have ended; what the others left stays where it is.
void JobFolder::forget_oldest() {
  size_t ended = was_.size();
  for (auto it = order_.begin(); it != order_.end() && ended > kMostEnded;) {
    if (was_.erase(*it) == 0) {
      ++it;
      continue;
    }
    it = order_.erase(it);
    --ended;
  }
}

void JobFolder::look_at(Job& job, std::vector<base::Error>& errors) {
  auto now = job.watched.look();
  if (!now.ok()) {
    const bool is_late = job.now || job.told < time(nullptr) - kPatienceSeconds;
    if (!is_late) return;
    if (!job.now) {  // neither a spool nor a trace: nobody will ever know more
      errors.push_back(now.error());
      forget(job);
      job.is_ended = true;
    }
    return;
  }
  now->name = job.name + ".rfn";
  if (!job.now) {
    // One that ended before we were started, and of which somebody was killed before he forgot it.
    if (was_.erase(job.name) != 0) std::erase(order_, job.name);
    order_.push_back(job.name);
  }
  job.now = std::move(*now);
  if (!is_over(*job.now)) return;
  job.is_ended = true;
  if (const base::Status left = end(job); !left.ok()) {
    errors.push_back(left.error());
    job.now->losses.push_back({"not_written", 0, -1, left.error().to_string()});
  }
}

std::vector<base::Error> JobFolder::look() {
  std::vector<base::Error> errors;
  if (trouble_ != told_trouble_ && !trouble_.empty()) errors.push_back(base::fail(trouble_));
  told_trouble_ = trouble_;
  find_jobs(errors);
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job* const job = it->second.get();
    if (job != nullptr && !job->is_ended) look_at(*job, errors);
    if (job == nullptr || !job->is_ended) {
      ++it;
      continue;
    }
    if (job->now) was_.insert_or_assign(job->name, std::move(*job->now));
    it = jobs_.erase(it);
  }
  forget_oldest();
  return errors;
}

std::vector<JobNow> JobFolder::now() const {
  std::vector<JobNow> all;
  for (const std::string& name : order_) {
    const auto was = was_.find(name);
    if (was != was_.end()) {
      all.push_back(was->second);
      continue;
    }
    for (const auto& [file, job] : jobs_)
      if (job != nullptr && job->name == name && job->now) all.push_back(*job->now);
  }
  return all;
}

}  // namespace refrain::online
