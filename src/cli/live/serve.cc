#include "cli/live/serve.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/live/page.h"
#include "cli/live/plugins.h"
#include "cli/live/signals.h"
#include "cli/output/common.h"
#include "online/job_folder.h"
#include "online/remote/broker_process.h"
#include "online/show/service.h"
#include "online/show/state_json.h"
#include "online/show/state_text.h"
#include "online/wall_clock.h"

namespace refrain::cli {
namespace {

// A line when a job comes, and when its state changes.
class Log {
 public:
  void tell(const std::vector<online::JobNow>& jobs) {
    for (const online::JobNow& job : jobs) {
      const std::string state = online::to_string(job.state);
      std::string& told = told_[job.name];
      if (told == state) continue;
      told = state;
      print(online::summary_text(job) + (job.story.empty() ? "" : ": " + job.story) + "\n");
      std::fflush(stdout);
    }
  }

 private:
  std::map<std::string, std::string> told_;  // state, by job
};

// Through the broker that is named, or one of our own.
Result<std::unique_ptr<online::JobFolder>> open_remote(
    const ServeOptions& options, const online::WatchOptions& how,
    std::unique_ptr<online::BrokerProcess>& broker) {
  if (!online::broker_is_built()) return online::open_inlet({}).error();
  online::BrokerOptions to = options.broker.options;
  to.url = options.url;
  if (to.url.empty()) {
    auto started = online::BrokerProcess::start(options.output, *options.broker.listen);
    if (!started.ok()) return started.error();
    broker = std::move(*started);
    to.url = broker->url();
    to.token_file = broker->token_file();
    // Who names an authority has given the broker a certificate, in its nats.conf.
    if (!to.ca_file.empty()) to.url.replace(0, to.url.find(':'), "tls");
    std::fprintf(stderr, "refrain: feeds send to %s with --token %s%s%s\n", to.url.c_str(),
                 to.token_file.c_str(), to.ca_file.empty() ? "" : " --ca ", to.ca_file.c_str());
  }
  auto inlet = online::open_inlet(to);
  if (!inlet.ok()) return inlet.error();
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  auto jobs = std::make_unique<online::RemoteJobs>(
      std::move(*inlet), options.output, online::RemoteOptions{options.broker.most_job_bytes});
  return online::JobFolder::open(std::move(jobs), options.output, how, options.leave);
}

}  // namespace

int live_serve(const ServeOptions& options) {
  online::WatchOptions how;
  how.stuck_after_ns = static_cast<uint64_t>(options.stuck_after_s * 1e9);
  // Before there are threads and open requests.
  auto plugins = LivePlugins::start(options.plugins, options.output);
  if (!plugins.ok()) return report(plugins.error());
  std::unique_ptr<online::BrokerProcess> broker;  // ends behind who receives from it
  auto jobs = options.folder.empty()
                  ? open_remote(options, how, broker)
                  : online::JobFolder::open(options.folder, options.output, how, options.leave);
  if (!jobs.ok()) return report(jobs.error());
  (*plugins)->pass_over((*jobs)->now());
  auto service = open_page(**jobs, options.port, options.viewers);
  if (!service.ok()) return report(service.error());
  std::fprintf(stderr, "refrain: %s\n", (*service)->address().c_str());
  stop_on_signals();
  // The jobs need the cores more than who looks at them.
  (void)!nice(10);
  Log log;
  for (uint64_t look = 1; !is_told_to_stop(); ++look) {
    const std::string revived = broker ? broker->revive() : std::string();
    if (!revived.empty()) std::fprintf(stderr, "refrain: %s\n", revived.c_str());
    for (const base::Error& error : (*jobs)->look()) report(error);
    std::vector<online::JobNow> now = (*jobs)->now();
    (*plugins)->look(now);
    log.tell(now);
    (*service)->publish(
        now, online::state_json(now, look, online::realtime_ns(), options.top, (*plugins)->now()));
    (*jobs)->wait(static_cast<uint64_t>(options.interval_s * 1e9));
  }
  return 0;
}

}  // namespace refrain::cli
