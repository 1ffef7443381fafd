// refrain recover: the trace of a job that did not come to its end, from the spool files of its
// ranks.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/spool/job_files.h"
#include "format/spool/post_mortem.h"
#include "format/spool/read.h"
#include "online/recovered_trace.h"
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
  const base::Status good = may_write(output, options.force);
  if (good.ok()) return good;
  const Result<Trace> there = Trace::open(output);
  return there.ok() && !there->info().complete ? base::Done{} : good;
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

// What is given instead of a folder.
base::Status check_folders(const std::vector<std::string>& folders) {
  std::error_code ignored;
  for (const std::string& folder : folders) {
    if (!fs::is_regular_file(folder, ignored)) continue;
    if (Trace::open(folder).ok())
      return base::usage("is a trace, and needs no recovery; `refrain info` says what it has",
                         folder);
    return base::usage("is a file; give the folder with the spool files of a job", folder);
  }
  return base::Done{};
}

int run(const RecoverArguments& options) {
  if (const auto good = check_folders(options.folders); !good.ok()) return report(good.error());
  const std::string output =
      options.output.empty() ? default_output(options.folders[0]) : options.output;
  std::error_code ignored;
  if (!fs::exists(options.folders[0], ignored)) {
    if (output.empty() || !fs::exists(output, ignored))
      return report(base::fail("no such folder: a job that died leaves one, as in run.rfn.spool",
                               options.folders[0]));
    return report(base::usage("the spool is gone, because its trace was written: " + output,
                              options.folders[0]));
  }
  if (output.empty()) return report(base::usage("name the output with -o", options.folders[0]));
  const Result<spool::JobFiles> found = look(options.folders);
  if (!found.ok()) return report(found.error());
  const std::vector<spool::JobFile> files = spool::newest_run(*found);
  if (files.empty()) return report(base::fail("the folder has no spool file", options.folders[0]));
  if (const auto good = check_output(options, output); !good.ok()) return report(good.error());
  if (found->runs.size() > 1)
    std::fprintf(stderr, "refrain: %zu runs left their spool here; the latest one is recovered\n",
                 found->runs.size());

  spool::PostMortem dead;
  online::RecoveredTimes timed;
  // A rank's times are read when their turn has come to be written.
  timed.of_rank = [&files](uint64_t number) -> Result<std::vector<spool::ThreadTimes>> {
    for (const spool::JobFile& f : files) {
      if (static_cast<uint64_t>(f.header.rank) != number) continue;
      const auto bytes = spool::read_file(f.path, UINT64_MAX);
      auto rank = bytes.ok() ? spool::read(*bytes) : Result<spool::RankSpool>(bytes.error());
      if (!rank.ok()) return rank.error();
      return std::move(rank->times);
    }
    return base::fail("no such rank");
  };
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
      online::RecoveredTimes::OfRank times = online::RecoveredTimes::of(*rank);
      added = dead.add(std::move(*rank));
      if (added.ok()) timed.add(std::move(times));
    }
    if (added.ok()) continue;
    removable = false;
    report({added.error().code, added.error().message + ": left out", f.path});
  }
  auto trace = dead.finish();
  if (!trace.ok()) return report(trace.error());
  const auto complain = [](const base::Error& error) { report(error); };
  if (const auto written = online::write_recovered(output, *trace, timed, complain); !written.ok())
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
