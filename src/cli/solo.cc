// refrain solo: checks its options, the trace and the message log, and becomes the program, with
// the library preloaded that stands in for its MPI (src/replay/solo).

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/launcher_words.h"
#include "cli/launch/find_mpi.h"
#include "cli/launch/launch_line.h"
#include "cli/launch/solo_runs.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/messages/decode/log_reader.h"

namespace refrain::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  mpiexec -n 4 refrain record --messages all ./app input    records, with message logs\n"
    "  refrain solo run.rfn --rank 2 -- ./app input              rank 2 alone, without a launcher\n"
    "  refrain solo run.rfn --rank 2 --repeat 7 --times run.rfv -- ./app input\n"
    "  mpiexec -n 4 refrain solo run.rfn --group 16-19 -- ./app input   ranks 16 to 19 together\n"
    "  refrain similarity run.rfn --times run.rfv";

std::string messages_folder(const std::string& trace) { return trace + ".messages"; }

// "0-3, 7": the ranks that have a log.
std::string logged_ranks(const std::string& trace) {
  std::vector<Rank> ranks;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(messages_folder(trace), error)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("rank-") && name.ends_with(".rfm"))
      ranks.push_back(std::strtoll(name.c_str() + 5, nullptr, 10));
  }
  std::sort(ranks.begin(), ranks.end());
  std::string text;
  for (size_t i = 0; i < ranks.size(); ++i) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last;
  }
  return text;
}

// The log is of this rank and run. The trace's text `messages` begins with the number of the run.
base::Status check_log(const Trace& trace, const SoloArguments& options, Rank rank) {
  const std::string path =
      messages_folder(options.trace) + "/rank-" + std::to_string(rank) + ".rfm";
  if (access(path.c_str(), F_OK) != 0) {
    const std::string logged = logged_ranks(options.trace);
    if (logged.empty())
      return base::unsupported("no rank has a message log: record with --messages all",
                               options.trace);
    return base::fail(
        "rank " + std::to_string(rank) + " has no message log; those that have: " + logged,
        options.trace);
  }
  const auto log = format::messages::LogReader::open_file(path);
  if (!log.ok()) return log.error();
  const format::messages::Header& header = log->header();
  const std::string run(trace.info().text_of("messages"));
  char own[32];
  std::snprintf(own, sizeof(own), "%016llx", static_cast<unsigned long long>(header.run));
  const bool is_other_run = !run.empty() && run.find(own) == std::string::npos;
  if (is_other_run || header.rank != rank || static_cast<Rank>(header.ranks) != trace.rank_count())
    return base::fail("the log is of another run: rank " + std::to_string(header.rank) + " of " +
                          std::to_string(header.ranks) + ", run " + own,
                      path);
  // What its own group sent it may be left out: then the group is to be there.
  if (options.last >= 0)
    for (const format::messages::RankRun& run_of_ranks : header.group)
      if (run_of_ranks.first < options.first ||
          Rank{run_of_ranks.first} + run_of_ranks.count - 1 > options.last)
        return base::usage("the log leaves out what rank " + std::to_string(run_of_ranks.first) +
                               " sent: --group has to have the ranks of its node",
                           path);
  return base::Done{};
}

// The number that a launcher has given this process; -1: there is none.
Rank number_of_process() {
  const char* const text = base::told_rank(std::getenv);
  return text == nullptr ? -1 : std::strtoll(text, nullptr, 10);
}

// --group: which of its ranks this process is.
base::Status choose_rank(const Trace& trace, SoloArguments& options) {
  if (options.group.empty()) {
    if (options.rank < 0) return base::usage("which rank? Write --rank R, or --group R0-R1");
    return check_rank(trace, options.rank);
  }
  char dash = 0, more = 0;
  long long first = -1, last = -1;
  if (std::sscanf(options.group.c_str(), "%lld%c%lld%c", &first, &dash, &last, &more) != 3 ||
      dash != '-' || first < 0 || last < first)
    return base::usage("--group takes two ranks, as in 16-19", options.group);
  if (options.rank >= 0 || options.repeats > 1 || !options.times.empty() || options.concurrent)
    return base::usage("--group goes with none of --rank, --repeat, --times and --concurrent");
  if (auto good = check_rank(trace, last); !good.ok()) return good;
  const Rank number = number_of_process();
  if (number < 0 || number > last - first)
    return base::usage("--group " + options.group + " needs a launcher: write mpiexec -n " +
                       std::to_string(last - first + 1) + " refrain solo ...");
  options.first = first;
  options.last = last;
  options.rank = first + number;
  return base::Done{};
}

// The MPI that the trace was recorded with, as a word of --mpi.
std::string recorded_mpi(const Trace& trace) {
  const std::string word(trace.info().text_of("mpi"));
  if (word != mpi_word(Mpi::kAbi)) return word;
  const std::string behind = mpi_named_in(trace.info().text_of("mpi_version"));
  return behind.empty() ? word : behind;
}

base::Status check_mpi(const Trace& trace, const SoloArguments& options, const std::string& mpi) {
  const std::string recorded = recorded_mpi(trace);
  if (recorded == "smpi" || mpi == "smpi")
    return base::unsupported(
        "ranks under SMPI are threads of one process: none of them can run alone", options.trace);
  if (recorded != mpi)
    return base::unsupported(
        "the program uses " + mpi + ", the trace was recorded with " + recorded,
        options.program.front());
  return base::Done{};
}

base::Result<std::string> find_program_file(const std::string& word) {
  const char* const path = std::getenv("PATH");
  return look_for_program(word, path == nullptr ? "" : path);
}

// Nothing where the program does not say it: it loads its MPI while it runs, for instance.
base::Result<std::string> mpi_of_program(const SoloArguments& options, const std::string& file) {
  if (!options.mpi.empty()) return options.mpi;
  const char* const folders = std::getenv("LD_LIBRARY_PATH");
  const LibrarySearch search(folders == nullptr ? "" : folders);
  const auto found = find_mpi(file, search);
  if (!found.ok()) return found.error();
  if (found->mpi != Mpi::kNone) return mpi_word(found->mpi);
  const Environment environment = [](const char* name) -> const char* { return std::getenv(name); };
  const ProgramMpi python = find_mpi4py(file, environment, search);
  if (python.mpi != Mpi::kNone) return mpi_word(python.mpi);
  return std::string();
}

int run(SoloArguments& options) {
  if (options.program.empty())
    return report(base::usage("no program: write refrain solo " + options.trace +
                              " --rank R -- ./app arguments"));
  const auto trace = Trace::open(options.trace);
  if (!trace.ok()) return report(trace.error());
  if (const auto good = choose_rank(*trace, options); !good.ok()) return report(good.error());
  if (!trace->info().text_of("filter").empty())
    return report(base::unsupported(
        "calls were left out when it was recorded: one rank alone needs all of them",
        options.trace));
  const auto file = find_program_file(options.program.front());
  if (!file.ok()) return report(file.error());
  auto mpi = mpi_of_program(options, *file);
  if (!mpi.ok()) return report(mpi.error());
  if (mpi->empty()) *mpi = recorded_mpi(*trace);
  if (const auto good = check_mpi(*trace, options, *mpi); !good.ok()) return report(good.error());
  std::vector<Rank> ranks = {options.rank};
  if (options.concurrent) ranks = ranks_of_node(*trace, options.rank);
  for (const Rank rank : ranks)
    if (const auto good = check_log(*trace, options, rank); !good.ok()) return report(good.error());
  const auto library = find_solo_library(*mpi);
  if (!library.ok()) return report(library.error());
  return run_solo(*trace, options, ranks, *file, *library);
}

}  // namespace

void add_solo(Command& app, int& exit_status) {
  auto options = std::make_shared<SoloArguments>();
  Command* verb = app.add_subcommand(
      "solo", "Run one rank of a program alone: refrain solo run.rfn --rank 2 -- ./app");
  verb->add_option("trace", options->trace, "Trace file (.rfn), with message logs beside it")
      ->required();
  verb->add_option("--rank", options->rank, "The rank that runs");
  verb->add_option("--group", options->group,
                   "Ranks R0-R1 that run together, a process each, with messages among them");
  verb->add_option("--repeat", options->repeats,
                   "How often it runs, for minimum, median and spread of the times")
      ->check(whole_number(1, 10000))
      ->capture_default_str();
  verb->add_option("--times", options->times,
                   "File (.rfv) for the times between calls; of other ranks in it stay");
  verb->add_option("--scratch", options->scratch,
                   "Folder for the files that the program itself opens for writing [a new one]");
  verb->add_flag("--write-files", options->write_files, "Write these files where they are");
  verb->add_flag("--concurrent", options->concurrent,
                 "Run all ranks of that rank's node at the same time, a core each");
  verb->add_option("--mpi", options->mpi, "The program's MPI [found from its file]")
      ->check(one_of(launched_mpi_words()));
  verb->add_option("PROGRAM", options->program, "Behind --: the program and its own arguments");
  verb->footer(kExamples);
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
