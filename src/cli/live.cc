// refrain live: jobs that run now. watch: by their spools; serve: those that come and go
// (live/serve.cc).

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/live/analyze.h"
#include "cli/live/feed.h"
#include "cli/live/join.h"
#include "cli/live/serve.h"
#include "cli/live/useless.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "convert/convert.h"
#include "online/show/service.h"
#include "online/show/state_json.h"
#include "online/show/state_text.h"
#include "online/wall_clock.h"
#include "online/watched_job.h"

namespace refrain::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kViewers = 32;

struct LiveOptions {
  std::string what;
  std::vector<std::string> spools;
  std::string format = "text";
  double interval_s = 1, stuck_after_s = 10;
  uint32_t top = 8;
  bool once = false;
  std::optional<uint16_t> port;
  std::optional<uint32_t> viewers;
  ServeOptions serve;
  AnalyzeOptions analyze;
  std::string keep, to;
  std::string verbosity = "normal";
  online::PluginOptions plugins;
  double plugin_time_s = 5;
  MpiChoice mpi;
  DisplayOptions display;
};

// Spools of the working directory, when none is named.
Result<std::vector<std::string>> spools_here() {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(".", error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().ends_with(".spool") && it->is_directory(error))
      found.push_back(it->path().filename().string());
  std::sort(found.begin(), found.end());
  if (found.empty())
    return base::fail(
        "no job is recorded here: name its spool, run.rfn.spool, or go to the folder "
        "where the trace will be",
        ".");
  return found;
}

bool is_over(const online::JobNow& job) {
  return job.state == online::JobState::kFinished || job.state == online::JobState::kDied;
}

// All jobs, look by look.
class Watch {
 public:
  Watch(const LiveOptions& options, const std::vector<std::string>& spools) {
    online::WatchOptions how;
    how.stuck_after_ns = static_cast<uint64_t>(options.stuck_after_s * 1e9);
    for (const std::string& spool : spools) jobs_.push_back({online::WatchedJob(spool, how), {}});
  }

  // A job is looked at until it is over; one that never was is an error.
  base::Status look() {
    ++looks_;
    for (Job& job : jobs_) {
      if (job.now && is_over(*job.now)) continue;
      auto now = job.watched.look();
      // A folder that goes while it is read: the next look finds the trace.
      if (!now.ok() && job.now) continue;
      if (!now.ok()) return now.error();
      job.now = std::move(*now);
    }
    return base::Done{};
  }

  std::vector<online::JobNow> now() const {
    std::vector<online::JobNow> all;
    for (const Job& job : jobs_) all.push_back(*job.now);
    return all;
  }
  uint64_t looks() const { return looks_; }

  bool all_over() const {
    return std::all_of(jobs_.begin(), jobs_.end(), [](const Job& j) { return is_over(*j.now); });
  }
  bool any_died() const {
    return std::any_of(jobs_.begin(), jobs_.end(),
                       [](const Job& j) { return j.now->state == online::JobState::kDied; });
  }

 private:
  struct Job {
    online::WatchedJob watched;
    std::optional<online::JobNow> now;
  };
  std::vector<Job> jobs_;
  uint64_t looks_ = 0;
};

// On a terminal each look is drawn over the one before.
int show(const LiveOptions& options, const std::vector<online::JobNow>& jobs,
         const std::string& json) {
  if (options.format == "json") return print(json + "\n");
  std::string text;
  if (!options.once && isatty(STDOUT_FILENO) != 0) text = "\033[H\033[2J";
  for (const online::JobNow& job : jobs) text += online::state_text(job, options.top) + "\n";
  return print(text);
}

Result<std::unique_ptr<online::Service>> serve(const LiveOptions& options) {
  online::ServiceOptions how;
  how.port = *options.port;
  how.viewers = options.viewers.value_or(kViewers);
  auto service = online::Service::start(how);
  if (service.ok()) std::fprintf(stderr, "refrain: %s\n", (*service)->address().c_str());
  return service;
}

int watch(const LiveOptions& options) {
  std::vector<std::string> spools = options.spools;
  if (spools.empty()) {
    auto here = spools_here();
    if (!here.ok()) return report(here.error());
    spools = std::move(*here);
  }
  if (options.format == "text") use_display(options.display);
  Watch all(options, spools);
  if (const base::Status first = all.look(); !first.ok()) return report(first.error());
  std::unique_ptr<online::Service> service;
  if (options.port) {
    auto started = serve(options);
    if (!started.ok()) return report(started.error());
    service = std::move(*started);
  }
  Activity::wipe(true);  // what is printed says how far it is
  // The jobs need the cores more than who looks at them.
  (void)!nice(10);
  while (true) {
    const std::vector<online::JobNow> jobs = all.now();
    const std::string json =
        online::state_json(jobs, all.looks(), online::realtime_ns(), options.top);
    if (service) service->publish(jobs, json);
    if (const int status = show(options, jobs, json); status != 0) return status;
    if (options.once || all.all_over()) break;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_s));
    if (const base::Status next = all.look(); !next.ok()) return report(next.error());
  }
  return all.any_died() ? static_cast<int>(base::ErrorCode::kIncomplete) : 0;
}

Result<online::Keep> keep_of(const LiveOptions& options) {
  if (options.to.empty() && !options.keep.empty())
    return base::usage("--keep needs --to: the format, such as otf2");
  return online::parse_keep(options.keep, options.to);
}

online::PluginOptions plugins_of(const LiveOptions& options) {
  online::PluginOptions how = options.plugins;
  how.most_ns = static_cast<uint64_t>(options.plugin_time_s * 1e9);
  return how;
}

Status check(const LiveOptions& options, const Command& verb, LiveForm form) {
  if (options.interval_s <= 0 || options.stuck_after_s <= 0)
    return base::usage("a time of 0 is no interval: at least 100ms",
                       options.interval_s <= 0 ? "--interval" : "--stuck-after");
  return check_useless(verb, form);
}

int serve_jobs(const LiveOptions& options, const Command& verb) {
  const std::string& from = options.analyze.from;
  const bool is_listening = options.serve.broker.listen.has_value();
  if ((options.serve.folder.empty() ? 0 : 1) + (from.empty() ? 0 : 1) + (is_listening ? 1 : 0) != 1)
    return report(
        base::usage("serve needs one of --dir (the folder of `record --live-dir`), --from "
                    "nats://HOST:4222, and --listen PORT"));
  if (!from.empty() && !online::is_broker_url(from))
    return report(base::usage("serve takes --from nats://HOST:PORT or tls://HOST:PORT", from));
  const LiveForm form = is_listening   ? LiveForm::kServeOwnBroker
                        : from.empty() ? LiveForm::kServeFolder
                                       : LiveForm::kServeBroker;
  if (const Status good = check(options, verb, form); !good.ok()) return report(good.error());
  if (const Status good = may_replace(options.serve.output, {}); !good.ok())
    return report(good.error());
  const auto keep = keep_of(options);
  if (!keep.ok()) return report(keep.error());
  ServeOptions how = options.serve;
  how.url = from;
  how.leave = {*keep, *report::verbosity_of(options.verbosity)};
  how.plugins = plugins_of(options);
  how.interval_s = options.interval_s;
  how.stuck_after_s = options.stuck_after_s;
  how.top = options.top;
  how.viewers = options.viewers.value_or(kViewers);
  return live_serve(how);
}

int feed(const LiveOptions& options, const Command& verb) {
  if (options.serve.folder.empty() || !online::is_broker_url(options.to) || !options.keep.empty())
    return report(base::usage(
        "feed takes --dir (the folder of `record --live-dir`) and --to nats://HOST:4222"));
  if (const Status good = check(options, verb, LiveForm::kFeed); !good.ok())
    return report(good.error());
  FeedOptions how{options.serve.folder, options.serve.broker.options, options.interval_s};
  how.broker.url = options.to;
  return live_feed(how);
}

std::string mpi_of_job(const MpiChoice& choice) {
  return choice.name(
      find_launcher([](const char* name) -> const char* { return std::getenv(name); }));
}

Result<AnalyzeOptions> analyze_options(const LiveOptions& options, const Command& verb,
                                       LiveForm form) {
  if (const Status good = check(options, verb, form); !good.ok()) return good.error();
  if (const Status good = may_replace(options.serve.output, {}); !good.ok()) return good.error();
  const auto keep = keep_of(options);
  if (!keep.ok()) return keep.error();
  AnalyzeOptions how = options.analyze;
  how.leave = {*keep, *report::verbosity_of(options.verbosity)};
  how.plugins = plugins_of(options);
  how.output = options.serve.output;
  how.port = options.serve.port;
  how.interval_s = options.interval_s;
  how.stuck_after_s = options.stuck_after_s;
  how.top = options.top;
  how.viewers = options.viewers.value_or(kViewers);
  return how;
}

int analyze(const LiveOptions& options, const Command& verb) {
  const bool is_recorded = !options.analyze.from.empty();
  const std::string mpi = is_recorded ? std::string() : mpi_of_job(options.mpi);
  if (!is_recorded && mpi.empty())
    return report(base::usage(
        "analyze needs --from TRACE, which is received as if it ran now, or a place in a job: "
        "mpiexec -n 4 refrain record --live ./app : -n 1 refrain live analyze -o live"));
  const auto how =
      analyze_options(options, verb, is_recorded ? LiveForm::kRecorded : LiveForm::kInJob);
  if (is_recorded) return how.ok() ? live_analyze(*how) : report(how.error());
  return how.ok() ? live_join(*how, options.mpi, mpi)
                  : refuse_in_job(how.error(), options.mpi, mpi);
}

int run(const LiveOptions& options, const Command& verb) {
  if (options.what == "serve") return serve_jobs(options, verb);
  if (options.what == "feed") return feed(options, verb);
  if (options.what == "analyze") return analyze(options, verb);
  if (const Status good = check(options, verb, LiveForm::kWatch); !good.ok())
    return report(good.error());
  return watch(options);
}

void add_keep(Command& verb, LiveOptions& options) {
  verb.add_option("--keep", options.keep,
                  "With serve and analyze: what of a job that has ended is kept in the format of "
                  "--to: 'ranks 0-3,8, 10s..20s' [all]")
      ->type_name("PART");
  std::vector<std::string> formats;
  for (const convert::Target& target : convert::targets()) formats.emplace_back(target.name);
  verb.add_option("--to", options.to,
                  "The format of --keep, as of `refrain convert`; with feed: nats://HOST:4222")
      ->check({[known = one_of(formats)](std::string& word) {
                 if (online::is_broker_url(word)) return std::string();
                 if (word.find("://") != std::string::npos)
                   return "'" + word + "' is no broker: nats://HOST:4222 or tls://HOST:4222";
                 return known.check(word);
               },
               one_of(formats).range});
}

void add_from(Command& verb, LiveOptions& options) {
  verb.add_option("--from", options.analyze.from,
                  "With analyze: the trace of the run; with serve: the broker of `live feed`, "
                  "nats://HOST:4222 or tls://")
      ->type_name("TRACE");
  verb.add_option("--speed", options.analyze.speed, "With analyze: times as fast as the run was")
      ->check(real_number(1e-3, 1e9))
      ->type_name("FACTOR")
      ->capture_default_str();
}

void add_plugins(Command& verb, LiveOptions& options) {
  verb.add_option("--plugin", options.plugins.paths,
                  "With serve and analyze: a shared object whose knowledge sources get each look "
                  "(refrain/blackboard.h), in a process of its own; several are allowed")
      ->type_name("FILE");
  verb.add_option("--plugin-time", options.plugin_time_s,
                  "A plug-in that works longer on one look is disabled")
      ->transform(seconds_with_unit(0.1, 3600))
      ->type_name("TIME")
      ->capture_default_str();
  verb.add_option("--plugin-memory", options.plugins.most_bytes,
                  "Address space that a plug-in may have [1G]")
      ->transform(bytes_with_unit(uint64_t{64} << 20, uint64_t{1} << 40))
      ->type_name("SIZE");
}

}  // namespace

void add_live(Command& app, int& exit_status) {
  auto options = std::make_shared<LiveOptions>();
  Command* verb = app.add_subcommand(
      "live", "Jobs while they run: calls, time in MPI, who is stuck; on a terminal or as a page");
  verb->add_option("what", options->what,
                   "watch: look at jobs of this machine from outside\n"
                   "serve: a page of jobs that come and go, and what they leave when they end\n"
                   "feed: jobs of this host for a `serve` elsewhere, through a NATS broker\n"
                   "analyze: programs of the same launch that were started by `record --live`, or "
                   "(--from) a\n"
                   "recorded run as if it ran now; and what they leave")
      ->check(one_of({"watch", "serve", "feed", "analyze"}))
      ->required();
  verb->add_option("spool", options->spools,
                   "Spools of jobs that `record` started: run.rfn.spool [all that are here]");
  verb->add_format(options->format, {"text", "json"}, "text, or json: a line for each look");
  verb->add_option("--interval", options->interval_s, "Seconds between two looks")
      ->transform(seconds_with_unit(0.1, 3600))
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--stuck-after", options->stuck_after_s,
                   "A rank that is in one call for so long is stuck")
      ->transform(seconds_with_unit(0.1, 86400))
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--top", options->top, "Functions and ranks that are shown of each job")
      ->check(whole_number(1, 100000))
      ->type_name("COUNT")
      ->capture_default_str();
  verb->add_flag("--once", options->once, "Look once, and end");
  verb->add_option("--serve", options->port,
                   "Show a page in a browser, on this machine only; 0: any free port. Prints its "
                   "address on stderr")
      ->check(whole_number(0, 65535))
      ->type_name("PORT");
  verb->add_option("--viewers", options->viewers,
                   "Browsers that the page is sent to at a time [32]")
      ->check(whole_number(1, 1000))
      ->type_name("COUNT");
  verb->add_option("--dir", options->serve.folder,
                   "With serve and feed: the folder in which `record --live-dir` tells of jobs")
      ->type_name("FOLDER");
  verb->add_option("-o,--output", options->serve.output,
                   "With serve and analyze: the folder for traces, answers and reports of jobs "
                   "that have ended")
      ->type_name("FOLDER")
      ->capture_default_str();
  verb->add_option(
          "--port", options->serve.port,
          "With serve and analyze: the port of the page; 0: any [serve: the one of last time]")
      ->check(whole_number(0, 65535))
      ->type_name("PORT");
  add_from(*verb, *options);
  options->serve.broker.add_to(*verb);
  add_keep(*verb, *options);
  add_verbosity(*verb, options->verbosity, "With serve and analyze: ");
  add_plugins(*verb, *options);
  options->mpi.add_to(*verb);
  add_display(*verb, options->display);
  verb->footer(
      "The jobs do not know that they are watched. `watch` ends when all of them have: 0, or 4 "
      "when one\ndied. For a job that died, `refrain recover` makes the trace.\n"
      "`serve` and `feed` go on until they are told to stop (SIGINT, SIGTERM), and go on where "
      "they were.");
  verb->callback([options, verb, &exit_status] { exit_status = run(*options, *verb); });
}

}  // namespace refrain::cli
