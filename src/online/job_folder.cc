#include "online/job_folder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "format/encode/encode.h"
#include "online/maps_json.h"
#include "online/own_files.h"
#include "online/received.h"

namespace refrain::online {

namespace {

namespace fs = std::filesystem;
namespace spool = format::spool;

// Before so long a job may have told of itself and not have a spool yet, or no trace any more.
constexpr time_t kPatienceSeconds = 30;
constexpr size_t kMostEnded = 100;

bool is_over(const JobNow& job) {
  return job.state == JobState::kFinished || job.state == JobState::kDied;
}

}  // namespace

struct JobFolder::Job {
  std::string file, run, name;
  time_t told = 0;
  spool::LiveJob what;
  WatchedJob watched;
  std::optional<JobNow> now;
  bool is_ended = false;
};

JobFolder::JobFolder(std::string folder, std::string output, WatchOptions options, Keep keep)
    : folder_(std::move(folder)),
      output_(std::move(output)),
      options_(options),
      ended_(output_, std::move(keep)) {}

JobFolder::~JobFolder() {
  if (events_ >= 0) close(events_);
  if (lock_ >= 0) close(lock_);
}

base::Result<std::unique_ptr<JobFolder>> JobFolder::open(const std::string& folder,
                                                         const std::string& output,
                                                         const WatchOptions& options,
                                                         const Keep& keep) {
  auto jobs = std::unique_ptr<JobFolder>(new JobFolder(folder, output, options, keep));
  if (const base::Status good = jobs->prepare(); !good.ok()) return good.error();
  return jobs;
}

base::Status JobFolder::prepare() {
  struct stat info {};
  if (stat(folder_.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return base::usage("no such folder; `mkdir -m 700` makes it", folder_);
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0)
    return base::usage("others may write there; `chmod 700` it", folder_);
  lock_ =
      ::open((folder_ + "/serve.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0)
    return base::usage(std::string("cannot be used: ") + std::strerror(errno), folder_);
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0)
    return base::usage("another `refrain live serve` has this folder", folder_);
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

void JobFolder::wait(uint64_t most_ns) const {
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

void JobFolder::find_jobs(std::vector<base::Error>& errors) {
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (it->path().extension() != spool::kLiveJobEnding || jobs_.contains(file)) continue;
    time_t told = 0;
    const auto text = read_own_file(it->path().string(), spool::kMaxLiveJobBytes, &told);
    const auto what = text.ok() ? spool::read_live_job(*text) : std::nullopt;
    if (!what && told > time(nullptr) - kPatienceSeconds) continue;  // it may be written just now
    if (!what) {
      errors.push_back(text.ok() ? base::fail("tells of no job: left alone", it->path().string())
                                 : text.error());
      jobs_.emplace(file, nullptr);
      continue;
    }
    const std::string run = it->path().stem().string();
    const auto name =
        name_of(run, what->name.empty() ? fs::path(what->trace).stem().string() : what->name);
    if (!name.ok()) {
      errors.push_back(name.error());
      continue;
    }
    jobs_.emplace(
        file, std::make_unique<Job>(Job{it->path().string(),
                                        run,
                                        *name,
                                        told,
                                        *what,
                                        WatchedJob(what->spool, what->run, what->trace, options_),
                                        {},
                                        false}));
  }
  if (error) errors.push_back(base::fail("cannot be read: " + error.message(), folder_));
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
  unlink(job.file.c_str());
  return base::Done{};
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
      unlink(job.file.c_str());
      job.is_ended = true;
    }
    return;
  }
  now->name = job.name + ".rfn";
  if (!job.now) order_.push_back(job.name);
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
