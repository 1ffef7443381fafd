// refrain replay: checks its options, looks at the trace, and becomes the engine of the launcher's
// MPI (src/replay).

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/launcher_words.h"
#include "cli/launch/companion.h"
#include "cli/launch/find_mpi.h"
#include "cli/launch/refuse.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "mpi/call_meaning.h"
#include "replay/plan/dry_run.h"
#include "replay/scratch.h"
#include "text/display.h"
#include "text/escape.h"

namespace refrain::cli {
namespace {

struct ReplayArguments {
  std::string trace, compute = "sleep", gaps = "mean", format = "text", scratch;
  MpiChoice mpi;
  double scale = 1, stall_s = 60;
  uint64_t seed = 1, repeats = 1;
  std::string jitter_ns = "0";
  std::vector<std::string> skipped;
  bool dry_run = false;
  int ending = 0;  // the status with which rank 0 ends the job before it has begun
};

constexpr const char* kExamples =
    "Examples:\n"
    "  mpiexec -n 4 refrain replay run.rfn                 as fast as the program was\n"
    "  mpiexec -n 4 refrain replay --compute none run.rfn  communication alone\n"
    "  refrain replay --dry-run run.rfn                    what could not be replayed, without "
    "MPI\n"
    "  mpiexec -n 4 refrain record -o again.rfn refrain replay run.rfn\n"
    "  refrain check again.rfn --replays run.rfn           the same calls?\n"
    "  smpirun -np 4 -platform p.xml -hostfile hosts --cfg=smpi/privatization:mmap \\\n"
    "          -wrapper \"refrain replay\" run.rfn            in simulated time";

const char* getenv_of(const char* name) { return std::getenv(name); }

Result<replay::plan::LookOptions> look_options(const ReplayArguments& options) {
  replay::plan::LookOptions look;
  for (const std::string& name : options.skipped) {
    const mpi::CallInfo* const info = mpi::find_call(name);
    if (info == nullptr) return base::usage("--skip " + name + ": no such function of MPI");
    if (info->name == "MPI_Init" || info->name == "MPI_Init_thread" || info->name == "MPI_Finalize")
      return base::usage("--skip " + name + ": there is no replay without it");
    look.skipped.push_back(info->id);
  }
  return look;
}

int dry_run(const Trace& trace, const replay::plan::LookOptions& look, bool json) {
  const replay::plan::DryRun found = replay::plan::dry_run(trace, look);
  constexpr size_t kValues = 13;  // where they begin
  if (!json) use_display({});
  const int status =
      print(json ? replay::plan::dry_run_json(trace, found)
                 : text::paragraph(replay::plan::dry_run_text(trace, found), kValues));
  if (status != 0) return status;
  if (!found.can_be_replayed()) return static_cast<int>(base::ErrorCode::kUnsupported);
  return status_of(trace);
}

// Of rank 0, before a replay: the exit status where it cannot begin, else 0.
int look_before(const Trace& trace, const replay::plan::LookOptions& look) {
  replay::plan::UnbufferedOptions limits;
  limits.most_calls = 2000000;  // the other ranks wait
  const replay::plan::DryRun found = replay::plan::dry_run(trace, look, limits);
  for (const std::string& warning : replay::plan::warnings(trace, found))
    std::fprintf(stderr, "refrain: %s: warning: %s\n", text::printable(trace.name()).c_str(),
                 warning.c_str());
  if (found.can_be_replayed()) return 0;
  std::fputs(replay::plan::refused_lines(trace, found).c_str(), stderr);
  return static_cast<int>(base::ErrorCode::kUnsupported);
}

std::vector<std::string> engine_words(const ReplayArguments& options, int rank) {
  std::vector<std::string> words = {"--jitter",  options.jitter_ns,
                                    "--trace",   options.trace,
                                    "--rank",    std::to_string(rank),
                                    "--compute", options.compute,
                                    "--gaps",    options.gaps,
                                    "--scale",   std::to_string(options.scale),
                                    "--stall",   std::to_string(options.stall_s),
                                    "--seed",    std::to_string(options.seed),
                                    "--repeats", std::to_string(options.repeats),
                                    "--scratch", options.scratch,
                                    "--format",  options.format};
  for (const std::string& name : options.skipped) words.insert(words.end(), {"--skip", name});
  if (options.ending != 0) words.insert(words.end(), {"--end", std::to_string(options.ending)});
  return words;
}

// Whether the launcher says that the job has another number of ranks. All ranks find that out, and
// nothing is looked at before: else rank 0 would end with another status than the others.
bool has_other_ranks(const Trace& trace) {
  const char* const size = base::told_size(getenv_of);
  return size != nullptr && size != std::to_string(trace.rank_count());
}

int run(const ReplayArguments& options) {
  const Launcher launcher = find_launcher(getenv_of);
  const auto refuse = [&](const base::Error& error) { return cli::refuse(error, launcher); };
  const auto look = look_options(options);
  if (!look.ok()) return refuse(look.error());
  ReplayArguments engine = options;
  const auto become_engine = [&](const std::string& mpi) {
    return refuse(
        become_companion("refrain-replay", mpi, options.mpi, engine_words(engine, launcher.rank)));
  };
  if (options.dry_run || launcher.rank == 0) {
    auto trace = Trace::open(options.trace);
    if (!trace.ok()) return refuse(trace.error());
    if (const std::string mpi = options.mpi.name(launcher);
        !options.dry_run && !mpi.empty() && has_other_ranks(*trace))
      return become_engine(mpi);
    const Status times = trace->check_times();
    const bool is_alone = options.dry_run || options.mpi.name(launcher).empty();
    if (!times.ok() && is_alone) return refuse(times.error());
    if (const auto ends = replay::plan::check_ends(*trace); !ends.ok()) return refuse(ends.error());
    // The engine says it, too.
    if (const auto paired = replay::plan::pair_messages(*trace, options.dry_run ? stderr : nullptr);
        !paired.ok())
      return refuse(paired.error());
    if (options.dry_run) return dry_run(*trace, *look, options.format == "json");
    const base::Status good =
        replay::check_words(*trace, options.compute != "none", options.scratch, look->skipped);
    if (!good.ok()) return refuse(good.error());
    // Of damaged times other ranks know nothing, as each reads its own alone.
    engine.ending = times.ok() ? look_before(*trace, *look) : report(times.error());
  }
  if (options.mpi.is_simulated() && engine.ending != 0) return engine.ending;  // none has begun
  const std::string mpi = options.mpi.name(launcher);
  if (mpi.empty())
    return refuse(
        base::usage("no launcher of an MPI has started this: write mpiexec -n P "
                    "refrain replay " +
                    options.trace + ", or use --dry-run"));
  return become_engine(mpi);
}

}  // namespace

void add_replay(Command& app, int& exit_status) {
  auto options = std::make_shared<ReplayArguments>();
  Command* verb = app.add_subcommand(
      "replay", "Make the calls of a trace again: mpiexec -n 4 refrain replay run.rfn");
  verb->add_trace(options->trace);
  verb->add_flag("--dry-run", options->dry_run,
                 "Only say what cannot be replayed, what must be buffered, and what is needed of "
                 "memory and files; needs no MPI");
  verb->add_option("--compute", options->compute,
                   "What stands for the time between calls: sleep, spin or none")
      ->check(one_of({"sleep", "spin", "none"}))
      ->capture_default_str();
  verb->add_option("--gaps", options->gaps,
                   "Of a trace of record --gaps, what each call waits for: the mean of its "
                   "signature, or a value of its histogram")
      ->check(one_of({"mean", "histogram"}))
      ->capture_default_str();
  verb->add_option("--scale", options->scale, "Factor of the time between calls")
      ->check(real_number(0, 1e6))
      ->capture_default_str();
  verb->add_option(
      "--skip", options->skipped,
      "A function whose calls are left out on all ranks, with both ends of its messages; "
      "once or more");
  verb->add_option("--scratch", options->scratch,
                   "Folder for files that the trace opens; no recorded path is used");
  verb->add_option("--stall", options->stall_s,
                   "Seconds without a new call after which all ranks say where they are, and end; "
                   "0: never")
      ->check(real_number(0, 1e9))
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "What the contents of messages are made from")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_option(
          "--repeats", options->repeats,
          "How often all between MPI_Init and MPI_Finalize is made, for the spread of times")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  verb->add_option("--jitter", options->jitter_ns,
                   "Before each call, wait for a random time up to this: other orders of events "
                   "than recorded")
      ->transform(time_with_unit(0, 10000000000))
      ->type_name("TIME");
  options->mpi.add_to(*verb);
  verb->add_format(options->format, {"text", "json"});
  verb->footer(kExamples);
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
