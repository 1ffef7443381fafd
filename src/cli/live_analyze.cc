#include "cli/live_analyze.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/output/common.h"
#include "online/ended_jobs.h"
#include "online/recorded_job.h"
#include "online/service.h"
#include "online/state_json.h"
#include "online/state_text.h"
#include "online/wall_clock.h"

namespace refrain::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The trace as it was received, and all that follows from it.
Status leave(const AnalyzeOptions& options, online::RecordedJob& job) {
  std::error_code error;
  fs::create_directories(options.output, error);
  if (error) return base::fail("cannot make the folder (" + error.message() + ")", options.output);
  const std::string name = fs::path(options.from).stem().string();
  const std::string trace = options.output + "/" + name + ".rfn";
  if (fs::equivalent(trace, options.from, error))
    return base::usage("the trace would be replaced by itself: name another folder with -o", trace);
  if (const Status written = job.write(trace); !written.ok()) return written;
  return online::EndedJobs(options.output).add(name);
}

}  // namespace

int live_analyze(const AnalyzeOptions& options) {
  auto job = online::RecordedJob::open(options.from);
  if (!job.ok()) return report(job.error());
  std::unique_ptr<online::Service> service;
  if (options.port) {
    online::ServiceOptions how;
    how.port = *options.port;
    how.viewers = options.viewers;
    auto started = online::Service::start(how);
    if (!started.ok()) return report(started.error());
    service = std::move(*started);
    std::fprintf(stderr, "refrain: %s\n", service->address().c_str());
  }
  const auto begin = Clock::now();
  for (uint64_t look = 1;; ++look) {
    const double passed_ns =
        std::chrono::duration<double, std::nano>(Clock::now() - begin).count() * options.speed;
    const auto age_ns = static_cast<uint64_t>(std::min(passed_ns, 1e18));
    const auto now = (*job)->look(age_ns);
    if (!now.ok()) return report(now.error());
    if (const int status = print(online::summary_text(*now) + "\n"); status != 0) return status;
    std::fflush(stdout);
    if (service)
      service->publish({*now},
                       online::state_json({*now}, look, online::realtime_ns(), options.top));
    if (now->state == online::JobState::kFinished) break;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_s));
  }
  if (const Status left = leave(options, **job); !left.ok()) return report(left.error());
  return 0;
}

}  // namespace refrain::cli
