#include "cli/live/analyze.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/live/plugins.h"
#include "cli/output/common.h"
#include "format/encode/encode.h"
#include "online/ended_jobs.h"
#include "online/recorded_job.h"
#include "online/show/maps_json.h"
#include "online/show/service.h"
#include "online/show/state_json.h"
#include "online/show/state_text.h"
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
  const auto whole = Trace::open(trace);
  if (!whole.ok()) return whole.error();
  online::EndedJobs ended(options.output, options.leave);
  const Status kept = ended.keep(name, *whole);
  if (const Status added = ended.add(name, *whole); !added.ok()) return added;
  if (const auto maps = job.maps(); maps != nullptr) {
    const Status written = format::write_file_atomically(
        options.output + "/" + name + "/maps.json", online::maps_json(*maps, {}, true), "maps");
    if (!written.ok()) return written;
  }
  const Status written = ended.write_index();
  return kept.ok() ? written : kept;
}

}  // namespace

int live_analyze(const AnalyzeOptions& options) {
  auto job = online::RecordedJob::open(options.from);
  if (!job.ok()) return report(job.error());
  auto plugins = LivePlugins::start(options.plugins, options.output);
  if (!plugins.ok()) return report(plugins.error());
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
    auto looked = (*job)->look(age_ns);
    if (!looked.ok()) return report(looked.error());
    std::vector<online::JobNow> jobs{std::move(*looked)};
    (*plugins)->look(jobs);
    const online::JobNow* const now = &jobs.front();
    if (const int status = print(online::summary_text(*now) + "\n"); status != 0) return status;
    std::fflush(stdout);
    if (service)
      service->publish(jobs, online::state_json(jobs, look, online::realtime_ns(), options.top,
                                                (*plugins)->now()));
    if (now->state == online::JobState::kFinished) break;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_s));
  }
  if (const Status left = leave(options, **job); !left.ok()) return report(left.error());
  const fs::path from(options.from);
  (*plugins)->end(from.filename().string(), options.output + "/" + from.stem().string() + ".rfn");
  return 0;
}

}  // namespace refrain::cli
