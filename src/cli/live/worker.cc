#include "cli/live/worker.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "cli/live/page.h"
#include "cli/live/plugins.h"
#include "cli/output/common.h"
#include "format/spool/live_job.h"
#include "online/job_folder.h"
#include "online/show/state_json.h"
#include "online/show/state_text.h"
#include "online/wall_clock.h"

namespace refrain::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(60);
constexpr uint64_t kStepNs = 100'000'000;  // so soon the end of the launch is seen

bool has_jobs(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == format::spool::kLiveJobEnding) return true;
  return false;
}

class Worker {
 public:
  Worker(const WorkerPlace& place, const AnalyzeOptions& options)
      : place_(place), options_(options) {}

  Status open() {
    online::WatchOptions how;
    how.is_analyser = true;
    how.stuck_after_ns = static_cast<uint64_t>(options_.stuck_after_s * 1e9);
    // Before there are threads and open requests.
    auto plugins = LivePlugins::start(options_.plugins, options_.output);
    if (!plugins.ok()) return plugins.error();
    plugins_ = std::move(*plugins);
    auto jobs = online::JobFolder::open(place_.folder, options_.output, how, options_.leave);
    if (!jobs.ok()) return jobs.error();
    jobs_ = std::move(*jobs);
    plugins_->pass_over(jobs_->now());
    if (options_.port) open_page_of_job();
    return base::Done{};
  }

  // A job that does not end with the rank (one that cannot be seen from here) is given up after a
  // while.
  int work() {
    Clock::time_point end{};
    while (true) {
      const bool was_over = is_over();
      look();
      if (was_over && !has_jobs(place_.folder)) break;
      if (was_over && end == Clock::time_point()) end = Clock::now() + kPatience;
      if (was_over && Clock::now() > end)
        return report(base::fail("a job is still there after its launch has ended", place_.folder));
      if (was_over)
        beat_and_wait();
      else
        wait_between();
    }
    const std::vector<online::JobNow> now = jobs_->now();
    plugins_->finish(now);
    for (const online::JobNow& job : now)
      if (const int written = print(online::summary_text(job) + "\n"); written != 0) return written;
    return status_;
  }

 private:
  // The program needs no page: where none can be opened, a line says so, and the work goes on.
  void open_page_of_job() {
    // "Any port" is that of the worker before, if there was one.
    const bool is_last_one = place_.first_words < 0 && *options_.port == 0;
    auto page = open_page(*jobs_, is_last_one ? std::nullopt : options_.port, options_.viewers);
    if (page.ok()) page_ = std::move(*page);
    const std::string line = page_ ? page_->address() : page.error().to_string();
    dprintf(place_.first_words >= 0 ? place_.first_words : STDERR_FILENO, "refrain: %s\n",
            line.c_str());
  }

  // Whether the rank that holds the other end is gone: in MPI_Finalize, or killed.
  bool is_over() const {
    pollfd end{place_.rank_pipe, POLLIN, 0};
    return poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0;
  }

  void look() {
    for (const base::Error& error : jobs_->look()) status_ = report(error);
    std::vector<online::JobNow> now = jobs_->now();
    plugins_->look(now);
    if (page_)
      page_->publish(now, online::state_json(now, ++looks_, online::realtime_ns(), options_.top,
                                             plugins_->now()));
  }

  void beat_and_wait() {
    place_.beats->fetch_add(1, std::memory_order_relaxed);
    jobs_->wait(kStepNs);
  }

  void wait_between() {
    const auto end = Clock::now() + std::chrono::duration<double>(options_.interval_s);
    while (Clock::now() < end && !is_over()) beat_and_wait();
  }

  const WorkerPlace& place_;
  const AnalyzeOptions& options_;
  std::unique_ptr<LivePlugins> plugins_;
  std::unique_ptr<online::JobFolder> jobs_;
  std::unique_ptr<online::Service> page_;  // null: nobody asked for one
  uint64_t looks_ = 0;
  int status_ = 0;
};

}  // namespace

int analyse_jobs(const WorkerPlace& place, const AnalyzeOptions& options) {
  Worker worker(place, options);
  if (const Status opened = worker.open(); !opened.ok()) return report(opened.error());
  if (place.first_words >= 0) close(place.first_words);
  // The programs need the cores more.
  (void)!nice(10);
  return worker.work();
}

}  // namespace refrain::cli
