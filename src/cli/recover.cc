// refrain recover: the trace of a job that did not come to its end, from the spool files of its
// ranks.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/reduce/reduce.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/encode/encode.h"
#include "format/encode/trace_file_writer.h"
#include "format/segments/reduced.h"
#include "format/spool/job_files.h"
#include "format/spool/post_mortem.h"
#include "format/spool/read.h"
#include "format/time/clocks.h"
#include "reader/internal.h"
#include "reader/trace_file.h"
#include "text/escape.h"

namespace refrain::cli {

namespace {

namespace fs = std::filesystem;
namespace spool = format::spool;

struct RecoverArguments {
  std::vector<std::string> folders;
  std::string output;  // empty: beside the first folder
  bool keep = false;
  bool force = false;
};

// Files that cannot be read are named, and left out.
Result<spool::JobFiles> look(const std::vector<std::string>& folders) {
  auto found = spool::look_for_files(folders);
  if (!found.ok()) return found;
  for (const auto& [path, error] : found->unreadable)
    report({error.code, error.message + ": left out", path});
  return found;
}

std::string default_output(const std::string& folder) {
  std::string path = folder;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  constexpr std::string_view kEnding = ".spool";
  if (path.size() > kEnding.size() && path.ends_with(kEnding))
    return path.substr(0, path.size() - kEnding.size());
  return {};
}

// A trace that is whole is worth more than what a spool can give.
base::Status check_output(const RecoverArguments& options, const std::string& output) {
  std::error_code ignored;
  if (options.force || !fs::exists(output, ignored)) return base::Done{};
  const Result<Trace> there = Trace::open(output);
  if (there.ok() && !there->info().complete) return base::Done{};
  return base::usage("already exists; choose another name with -o, or use --force", output);
}

int summary(const std::string& output, const spool::PostMortem& dead, uint64_t world_size) {
  const std::string text = output + ": " + std::to_string(dead.ranks_found()) + " of " +
                           std::to_string(world_size) + " ranks recovered; " + dead.story();
  const int status = print(refrain::text::printable(text) + "\n");
  if (status != 0 || dead.whole()) return status;
  return report({base::ErrorCode::kIncomplete,
                 "not all calls could be recovered; `refrain info` lists what is missing", output});
}

void clean_up(const std::vector<spool::JobFile>& files, const spool::JobFiles& found,
              const RecoverArguments& options) {
  for (const spool::JobFile& f : files)
    if (spool::is_alive(f.header)) return;
  for (const spool::JobFile& f : files) unlink(f.path.c_str());
  for (const std::string& mark : found.marks) unlink(mark.c_str());
  for (const std::string& folder : options.folders) rmdir(folder.c_str());
}

using Clocks = std::vector<std::vector<format::ClockPoint>>;

// Which files have times of calls: a rank's are read when their turn has come to be written.
class TimedSpools {
 public:
  void add(const spool::JobFile& file, const format::TimeSpec& timing,
           const std::vector<format::ClockPoint>& clock) {
    const auto rank = static_cast<uint64_t>(file.header.rank);
    spec = timing;
    clocks.resize(file.header.world_size);
    clocks[rank] = clock;
    paths.emplace_back(rank, file.path);
  }

  format::TimeSpec spec;
  Clocks clocks;
  std::vector<std::pair<uint64_t, std::string>> paths;
  bool matched = false;  // some times are those of what stands for segments
};

base::Status write_times(const std::string& output, const format::TraceData& trace,
                         const format::TimeSpec& spec, const TimedSpools& timed) {
  auto writer =
      format::TraceFileWriter::create(output, trace, spec, format::from_zero(timed.clocks));
  if (!writer.ok()) return writer.error();
  for (const auto& [number, path] : timed.paths) {
    const auto bytes = spool::read_file(path, UINT64_MAX);
    auto rank = bytes.ok() ? spool::read(*bytes) : Result<spool::RankSpool>(bytes.error());
    if (!rank.ok()) return rank.error();
    for (const spool::ThreadTimes& t : rank->times) {
      base::Status added = base::Done{};
      const auto append = [&, world_rank = number](std::vector<format::TimeBlock> blocks,
                                                   std::string_view coded) {
        added = writer->append({world_rank, t.thread, std::move(blocks)}, coded);
        return added.ok();
      };
      if (!spool::for_each_run(t, append)) return added;
    }
  }
  return writer->finish();
}

// What MPI_Finalize would have made of the exact times that are in the spool, or of what stands for
// them where segments were matched already.
base::Status reduce_to(const std::string& output, const std::string& exact,
                       const std::string& method) {
  const auto trace = Trace::open(exact);
  if (!trace.ok()) return trace.error();
  const auto word = [&trace](const char* key) {
    const auto& text = reader::data_of(*trace).meta.text;
    const auto it = text.find(key);
    return it == text.end() ? std::string() : it->second;
  };
  analysis::reduce::ReduceOptions how;
  const auto spec = similarity::parse_method(method);
  if (!spec.ok()) return spec.error();
  how.method = *spec;
  how.source = format::source_of(word("segments")).value_or(how.source);
  how.across = format::across_of(word("across_ranks")).value_or(how.across);
  const auto reduction = analysis::reduce::reduce(*trace, how);
  if (!reduction.ok()) return reduction.error();
  const auto bytes = encode(*trace, *reduction);
  return bytes.ok() ? format::write_file_atomically(output, *bytes) : bytes.error();
}

base::Status write(const std::string& output, format::TraceData& trace, const TimedSpools& timed) {
  if (timed.paths.empty()) {
    const auto bytes = format::encode(trace);
    return bytes.ok() ? format::write_file_atomically(output, *bytes) : bytes.error();
  }
  if (timed.spec.mode != format::TimeMode::kSegments)
    return write_times(output, trace, timed.spec, timed);
  format::TimeSpec exact;
  exact.mode = format::TimeMode::kExact;
  trace.meta.text["timing"] = exact.to_string();
  const std::string path = output + ".exact." + std::to_string(getpid());
  if (const auto written = write_times(path, trace, exact, timed); !written.ok()) return written;
  const auto reduced = reduce_to(output, path, timed.spec.method);
  if (reduced.ok()) {
    unlink(path.c_str());
    return reduced;
  }
  if (timed.matched) {
    unlink(path.c_str());
    report({reduced.error().code, "no times of calls: " + reduced.error().message, output});
    trace.meta.text["timing"] = "stats";
    return write(output, trace, {});
  }
  report({reduced.error().code,
          "no segments, but the times of all calls: " + reduced.error().message, output});
  if (rename(path.c_str(), output.c_str()) == 0) return base::Done{};
  return base::fail(std::strerror(errno), output);
}

int run(const RecoverArguments& options) {
  const std::string output =
      options.output.empty() ? default_output(options.folders[0]) : options.output;
  if (output.empty()) return report(base::usage("name the output with -o", options.folders[0]));
  std::error_code ignored;
  if (!fs::exists(options.folders[0], ignored) && fs::exists(output, ignored))
    return report(base::usage("the spool is gone, because its trace was written: " + output,
                              options.folders[0]));
  const Result<spool::JobFiles> found = look(options.folders);
  if (!found.ok()) return report(found.error());
  const std::vector<spool::JobFile> files = spool::newest_run(*found);
  if (files.empty()) return report(base::fail("the folder has no spool file", options.folders[0]));
  if (const auto good = check_output(options, output); !good.ok()) return report(good.error());
  if (found->runs.size() > 1)
    std::fprintf(stderr, "refrain: %zu runs left their spool here; the latest one is recovered\n",
                 found->runs.size());

  spool::PostMortem dead;
  TimedSpools timed;
  bool removable = true;
  for (const auto& [path, error] : found->unreadable)
    if (const int64_t rank = spool::rank_in_name(path); rank >= 0)
      dead.add_missing(static_cast<uint64_t>(rank), "the spool file is damaged");
  for (const spool::JobFile& f : files) {
    const auto bytes = spool::read_file(f.path, UINT64_MAX);
    auto rank = bytes.ok() ? spool::read(*bytes) : Result<spool::RankSpool>(bytes.error());
    base::Status added = base::Done{};
    if (!rank.ok()) {
      dead.add_missing(static_cast<uint64_t>(f.header.rank), rank.error().message);
      added = rank.error();
    } else {
      removable = removable && rank->damage.empty();
      const format::TimeSpec timing = rank->timing;
      const auto clock = rank->clock;
      for (const spool::ThreadTimes& t : rank->times)
        timed.matched = timed.matched || spool::has_matched(t);
      added = dead.add(std::move(*rank));
      if (added.ok() && timing.has_times()) timed.add(f, timing, clock);
    }
    if (added.ok()) continue;
    removable = false;
    report({added.error().code, added.error().message + ": left out", f.path});
  }
  auto trace = dead.finish();
  if (!trace.ok()) return report(trace.error());
  if (const auto written = write(output, *trace, timed); !written.ok())
    return report(written.error());
  if (!options.keep && removable) clean_up(files, *found, options);
  return summary(output, dead, files.front().header.world_size);
}

}  // namespace

void add_recover(Command& app, int& exit_status) {
  auto options = std::make_shared<RecoverArguments>();
  Command* verb = app.add_subcommand(
      "recover", "Make a trace of a job that died: every call that each rank made until then");
  verb->add_option("spool", options->folders,
                   "Spool of the job: run.rfn.spool; several if each node has its own")
      ->required();
  verb->add_option("-o,--output", options->output,
                   "Trace file to write [run.rfn for run.rfn.spool]");
  verb->add_flag("--keep", options->keep, "Keep the spool after the trace is written");
  verb->add_flag("--force", options->force, "Overwrite a complete trace");
  verb->footer("Damaged spool files are never removed, nor those of processes that still run.");
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
