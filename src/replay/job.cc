#include "replay/job.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/call_meaning.h"
#include "replay/plan/look.h"
#include "replay/quiet.h"
#include "replay/reissue.h"
#include "replay/stall.h"

namespace refrain::replay {
namespace {

using Clock = std::chrono::steady_clock;

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

uint64_t sum_over_ranks(uint64_t mine, bool is_max) {
  uint64_t all = mine;
  REFRAIN_QUIET(MPI_Allreduce)
  (&mine, &all, 1, MPI_UINT64_T, is_max ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
  return all;
}

}  // namespace

bool read_words(int argc, char** argv, JobOptions& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--trace") options.trace = value;
    if (name == "--rank") options.rank = std::strtoll(value.c_str(), nullptr, 10);
    if (name == "--format") options.json = value == "json";
    if (name == "--stall") options.stall_s = std::strtod(value.c_str(), nullptr);
    if (name == "--scratch") options.engine.scratch = value;
    if (name == "--seed") options.engine.seed = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--scale") options.engine.pace.scale = std::strtod(value.c_str(), nullptr);
    if (name == "--compute")
      options.engine.pace.compute = value == "none"   ? Compute::kNone
                                    : value == "spin" ? Compute::kSpin
                                                      : Compute::kSleep;
    if (name == "--skip")
      if (const mpi::CallInfo* const info = mpi::find_call(value))
        options.engine.skipped.push_back(info->id);
  }
  return !options.trace.empty();
}

int run_job(const JobOptions& options) {
  auto trace = Trace::open(options.trace);
  if (!trace.ok()) return options.rank == 0 ? report(trace.error()) : 5;
  EngineOptions engine_options = options.engine;
  engine_options.limit_bytes = memory_for_one();
  plan::LookOptions look;
  look.skipped = engine_options.skipped;
  look.is_there = [](CallId call) { return served(call) != Served::kNot; };
  const plan::Refusals refused = plan::look(*trace, look);
  if (!refused.empty()) {
    if (options.rank == 0) std::fputs(plan::refusal_lines(*trace, refused).c_str(), stderr);
    return static_cast<int>(base::ErrorCode::kUnsupported);
  }
  Progress progress;
  Engine engine(*trace, options.rank, engine_options, progress);
  StallWatch watch(progress, options.rank, options.stall_s);
  const auto begin = Clock::now();
  const base::Status good = engine.run();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  watch.end();
  if (!good.ok()) {
    const int status = report(good.error());
    std::fflush(nullptr);
    int is_initialized = 0, is_finalized = 0;
    REFRAIN_QUIET(MPI_Initialized)(&is_initialized);
    REFRAIN_QUIET(MPI_Finalized)(&is_finalized);
    if (is_initialized != 0 && is_finalized == 0)
      REFRAIN_QUIET(MPI_Abort)(MPI_COMM_WORLD, status);
    return status;
  }
  if (options.rank == 0 && options.json)
    std::printf("{\"replay_s\": %.9f, \"app_s\": %.9f}\n", seconds,
                static_cast<double>(trace->info().duration_ns) / 1e9);
  (void)sum_over_ranks;
  return 0;
}

}  // namespace refrain::replay
