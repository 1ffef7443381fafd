#include "replay/job.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/last_words.h"
#include "base/launcher_words.h"
#include "mpi/call_meaning.h"
#include "replay/pace/gap_means.h"
#include "replay/pace/run_time.h"
#include "replay/plan/look.h"
#include "replay/plan/started.h"
#include "replay/quiet.h"
#include "replay/reissue.h"
#include "replay/scratch.h"
#include "replay/stall.h"

namespace refrain::replay {
namespace {

struct Summary {
  double app_s = 0, replay_s = 0, ci95_s = 0, compute_error = 0;
  uint64_t repeats = 0;
  std::string_view compute_from;
  Counts counts;  // of all ranks
};

int report(const base::Error& error) {
  const std::string place = error.place.empty() ? "" : error.place + ": ";
  std::fprintf(stderr, "refrain: %s%s\n", place.c_str(), error.message.c_str());
  return static_cast<int>(error.code);
}

uint64_t memory_for_one() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return uint64_t{1} << 32;
  return static_cast<uint64_t>(pages) / 2 * static_cast<uint64_t>(size);
}

// As the launcher tells; where it does not, what is known from this rank's number.
int64_t ranks_of_job(Rank rank) {
  const char* const text = base::told_size(std::getenv);
  return text == nullptr ? -(rank + 1) : std::strtoll(text, nullptr, 10);
}

Rank rank_of_environment() {
  const char* const text = base::told_rank_or_task(std::getenv);
  return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

// What a job that this one starts is told as well; its rank it finds out by itself.
void keep_for_started(std::string_view name, const std::string& value, JobOptions& options) {
  if (name == "--trace") options.engine.trace_path = std::filesystem::absolute(value).string();
  for (const std::string_view own : {"--trace", "--rank", "--repeats", "--end", "--format"})
    if (name == own) return;
  if (value.empty()) return;
  options.engine.words_of_started.insert(
      options.engine.words_of_started.end(),
      {std::string(name), name == "--scratch" ? std::filesystem::absolute(value).string() : value});
}

bool wrong_size(const Trace& trace, int64_t size) {
  return size > 0 ? size != trace.rank_count() : -size > trace.rank_count();
}

template <class T>
T over_ranks(T mine, MPI_Datatype type, MPI_Op op, MPI_Comm job) {
  T all = mine;
  REFRAIN_QUIET(MPI_Allreduce)(&mine, &all, 1, type, op, job);
  return all;
}

// Collective over all ranks.
Summary summary_of(const Engine& engine, double app_s) {
  Summary out;
  // What is replayed, where the trace tells it; else all of the run.
  const MPI_Comm job = engine.job();
  const double recorded = over_ranks(engine.recorded_seconds(), MPI_DOUBLE, MPI_MAX, job);
  out.app_s = recorded > 0 ? recorded : app_s;
  out.repeats = engine.seconds().size();
  std::vector<double> seconds;
  for (const double mine : engine.seconds())
    seconds.push_back(over_ranks(mine, MPI_DOUBLE, MPI_MAX, job));
  for (const double s : seconds) out.replay_s += s / static_cast<double>(seconds.size());
  double squares = 0;
  for (const double s : seconds) squares += (s - out.replay_s) * (s - out.replay_s);
  const auto n = static_cast<double>(seconds.size());
  if (n > 1) out.ci95_s = 1.96 * std::sqrt(squares / (n - 1) / n);
  const auto wanted = over_ranks(static_cast<double>(engine.wanted_ns()), MPI_DOUBLE, MPI_SUM, job);
  const auto spent = over_ranks(static_cast<double>(engine.spent_ns()), MPI_DOUBLE, MPI_SUM, job);
  out.compute_error = wanted > 0 ? spent / wanted - 1 : 0;
  const auto sum = [job](uint64_t mine) { return over_ranks(mine, MPI_UINT64_T, MPI_SUM, job); };
  const Counts& counts = engine.counts();
  out.counts = {sum(counts.calls),      sum(counts.skipped), sum(counts.left_out),
                sum(counts.by_another), sum(counts.masked),  sum(counts.infos),
                sum(counts.tags),       sum(counts.types)};
  return out;
}

void print_summary(const Summary& s, bool json) {
  const auto n = [](uint64_t v) { return static_cast<unsigned long long>(v); };
  if (json) {
    std::printf(
        "{\n  \"app_s\": %.9f,\n  \"replay_s\": %.9f,\n  \"compute_error\": %.6f,\n"
        "  \"compute_from\": \"%s\",\n"
        "  \"repeats\": %llu,\n  \"ci95\": %.9f,\n  \"calls\": %llu,\n  \"skipped\": %llu,\n"
        "  \"left_out\": %llu,\n  \"by_another_function\": %llu,\n  \"masked\": %llu,\n"
        "  \"infos_dropped\": %llu,\n  \"tags_replaced\": %llu,\n  \"types_replaced\": %llu\n}\n",
        s.app_s, s.replay_s, s.compute_error, std::string(s.compute_from).c_str(), n(s.repeats),
        s.ci95_s, n(s.counts.calls), n(s.counts.skipped), n(s.counts.left_out),
        n(s.counts.by_another), n(s.counts.masked), n(s.counts.infos), n(s.counts.tags),
        n(s.counts.types));
  } else {
    std::printf("replayed %llu calls in %.6f s (recorded: %.6f s)\n", n(s.counts.calls), s.replay_s,
                s.app_s);
    if (s.counts.skipped > 0) std::printf("  %llu calls skipped\n", n(s.counts.skipped));
    if (s.counts.left_out > 0)
      std::printf(
          "  %llu calls left out that ask only, failed to start a job, or are about communicators "
          "of MPI's own\n",
          n(s.counts.left_out));
    if (s.counts.tags + s.counts.types > 0)
      std::printf("  %llu tags and %llu datatypes that this MPI lacks replaced\n", n(s.counts.tags),
                  n(s.counts.types));
    if (s.counts.by_another > 0)
      std::printf("  %llu calls made by an equal function\n", n(s.counts.by_another));
  }
}

// What of a trace is replayed whose ranks do not all reach MPI_Finalize.
base::Status plan_early_end(const Trace& trace, Rank rank, EngineOptions& options) {
  const auto refuse = [&](const std::string& why) {
    return base::Error{base::ErrorCode::kIncomplete, why, trace.name()};
  };
  for (Rank r = 0; r < trace.rank_count(); ++r) {
    const size_t threads = trace.locations(r).size();
    const std::string who = "rank " + std::to_string(r);
    if (threads > 1)
      return refuse("the calls of " + who + " end before MPI_Finalize, and are of " +
                    std::to_string(threads) + " threads: such a trace is not replayed");
    if (threads == 0) return refuse(who + " has no calls, so no other rank can get past MPI_Init");
  }
  if (options.repeats > 1)
    return refuse("a trace that ends before MPI_Finalize is replayed once: leave out --repeats");
  Prefix prefix = consistent_prefix(trace);
  uint64_t calls = 0;
  for (const uint64_t of_rank : prefix.calls) calls += of_rank;
  if (rank == 0)
    std::fprintf(
        stderr,
        "refrain: %s: ends before MPI_Finalize: its first %llu calls of %llu are replayed\n",
        trace.name().c_str(), static_cast<unsigned long long>(calls),
        static_cast<unsigned long long>(trace.call_count()));
  options.most_calls = prefix.calls[static_cast<size_t>(rank)];
  for (const Prefix::Message& message : prefix.in_transit)
    if (message.to == rank) options.in_transit.push_back(message);
  options.arriving = std::move(prefix.arriving[static_cast<size_t>(rank)]);
  return base::Done{};
}

// Returns where there is no job to end.
int end_job(const Trace& trace, const JobOptions& options, const base::Error& error) {
  int status = 0;
  {
    const FailureMark mark(options.engine.scratch);
    if (!mark.is_first()) std::this_thread::sleep_for(base::kUntilEndedByAnother);
    status = report(error);
    remove_scratch(trace, options.engine.scratch);
    if (!options.engine.scratch.empty())  // others that fail now see the mark
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  leave_job(status);  // of a simulation: MPI_Abort would end this rank alone
  std::fflush(nullptr);
  int is_initialized = 0, is_finalized = 0;
  REFRAIN_QUIET(MPI_Initialized)(&is_initialized);
  REFRAIN_QUIET(MPI_Finalized)(&is_finalized);
  if (is_initialized != 0 && is_finalized == 0) REFRAIN_QUIET(MPI_Abort)(MPI_COMM_WORLD, status);
  return status;
}

int run(const JobOptions& options);

}  // namespace

bool read_words(int argc, char** argv, JobOptions& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = argv[i + 1];
    keep_for_started(name, value, options);
    if (name == "--trace") options.trace = value;
    if (name == "--rank") options.rank = std::strtoll(value.c_str(), nullptr, 10);
    if (name == "--started") options.is_started = true;
    if (name == "--format") options.json = value == "json";
    if (name == "--end") options.ending = static_cast<int>(std::strtol(value.c_str(), nullptr, 10));
    if (name == "--stall") options.stall_s = std::strtod(value.c_str(), nullptr);
    if (name == "--scratch") options.engine.scratch = value;
    if (name == "--repeats") options.engine.repeats = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--jitter") options.engine.jitter_ns = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--seed") options.engine.seed = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--scale") options.engine.pace.scale = std::strtod(value.c_str(), nullptr);
    if (name == "--gaps")
      options.engine.pace.gaps = value == "histogram" ? Gaps::kHistogram : Gaps::kMean;
    if (name == "--compute")
      options.engine.pace.compute = value == "none"   ? Compute::kNone
                                    : value == "spin" ? Compute::kSpin
                                                      : Compute::kSleep;
    if (name == "--skip")
      if (const mpi::CallInfo* const info = mpi::find_call(value))
        options.engine.skipped.push_back(info->id);
  }
  if (!options.is_started)
    options.engine.words_of_started.insert(options.engine.words_of_started.end(),
                                           {"--started", "1"});
  if (const Rank rank = rank_in_job(); rank >= 0) options.rank = rank;
  if (options.rank < 0) options.rank = rank_of_environment();
  return !options.trace.empty();
}

int run_job(const JobOptions& options) {
  const int status = run(options);
  if (status != 0) leave_job(status);
  return status;
}

namespace {

#ifdef OPEN_MPI
constexpr bool kFirstFailureEndsJob = true;
#else
constexpr bool kFirstFailureEndsJob = false;
#endif

// What all ranks find, and none has begun: rank 0 says it.
int refuse_on_all(Rank rank, int status) {
  if (rank != 0 && !ranks_are_one_process())
    std::this_thread::sleep_for(base::before_silent_failure(kFirstFailureEndsJob));
  return status;
}

int refuse_on_all(Rank rank, const base::Error& error) {
  return refuse_on_all(rank, rank == 0 ? report(error) : static_cast<int>(error.code));
}

// What a process has once.
struct OfProcess {
  Trace trace;
  std::shared_ptr<FixedPages> pages = std::make_shared<FixedPages>();
};

// The trace, once it is known that it can be replayed here: 0, or the exit status. Where the ranks
// are one process, the first one opens it for all.
int open_for_all(const JobOptions& options, std::optional<OfProcess>& out) {
  const auto refuse = [&](const base::Error& error) { return refuse_on_all(options.rank, error); };
  if (const void* const shared = shared_by_ranks(); shared != nullptr) {
    out = *static_cast<const OfProcess*>(shared);
    return 0;
  }
  auto trace = Trace::open(options.trace);
  if (!trace.ok()) return refuse(trace.error());
  if (const int64_t size = ranks_of_job(options.rank); wrong_size(*trace, size))
    return refuse(base::usage("the trace has " + std::to_string(trace->rank_count()) +
                                  " ranks, the job has " + std::to_string(size < 0 ? -size : size) +
                                  ": start it with as many as the trace has",
                              options.trace));
  if (const auto ends = plan::check_ends(*trace); !ends.ok()) return refuse(ends.error());
  const base::Status words = check_words(*trace, options.engine.pace.compute != Compute::kNone,
                                         options.engine.scratch, options.engine.skipped);
  if (!words.ok()) return refuse(words.error());
  if (const auto paired = plan::pair_messages(*trace, options.rank == 0 ? stderr : nullptr);
      !paired.ok())
    return refuse(paired.error());
  plan::LookOptions look;
  look.skipped = options.engine.skipped;
  look.is_there = [](CallId call) {
    return served(call) != Served::kNot || (plan::starts_job(call) && !ranks_are_one_process());
  };
  const plan::Refusals refused = plan::look(*trace, look);
  if (!refused.empty()) {
    if (options.rank == 0 && options.ending == 0)
      std::fputs(plan::refusal_lines(*trace, refused).c_str(), stderr);
    return refuse_on_all(options.rank, static_cast<int>(base::ErrorCode::kUnsupported));
  }
  out = OfProcess{std::move(*trace)};
  if (ranks_are_one_process()) share_by_ranks(new OfProcess(*out));  // until the process ends
  return 0;
}

int run(const JobOptions& options) {
  std::optional<OfProcess> of_process;
  if (const int status = open_for_all(options, of_process); status != 0) return status;
  const Trace* const trace = &of_process->trace;
  EngineOptions engine_options = options.engine;
  engine_options.limit_bytes = memory_for_one();
  engine_options.pages = of_process->pages;
  // The other ranks do not know it, and wait in MPI_Init.
  if (options.ending != 0) {
    REFRAIN_QUIET(MPI_Init)(nullptr, nullptr);
    REFRAIN_QUIET(MPI_Abort)(MPI_COMM_WORLD, options.ending);
    return options.ending;
  }
  if (ends_early(*trace))
    if (const auto good = plan_early_end(*trace, options.rank, engine_options); !good.ok())
      return refuse_on_all(options.rank, good.error());
  Progress progress(std::max<size_t>(trace->locations(options.rank).size(), 1));
  const double app_s = static_cast<double>(trace->info().duration_ns) / 1e9;
  Summary summary;
  engine_options.at_end = [&](const Engine& engine) { summary = summary_of(engine, app_s); };
  std::atomic<bool> is_ending{false};  // one of several threads says why
  engine_options.on_failure = [&](const base::Error& error) {
    if (!is_ending.exchange(true)) end_job(*trace, options, error);
  };
  Engine engine(*trace, options.rank, engine_options, progress);
  StallWatch watch(progress, options.rank, can_watch() ? options.stall_s : 0);
  const base::Status good = engine.run();
  watch.end();
  if (!good.ok()) {
    if (!is_ending.exchange(true)) return end_job(*trace, options, good.error());
    std::this_thread::sleep_for(base::kUntilEndedByAnother);
    return static_cast<int>(good.error().code);
  }
  remove_scratch(*trace, options.engine.scratch);
  summary.compute_from = compute_from(*trace, engine_options.pace);
  if (options.rank == 0 && !options.is_started) print_summary(summary, options.json);
  return trace->info().complete ? 0 : static_cast<int>(base::ErrorCode::kIncomplete);
}

}  // namespace

}  // namespace refrain::replay
