#include "cli/live/join.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "cli/live/plugins.h"
#include "cli/live/supervisor.h"
#include "cli/output/common.h"
#include "text/escape.h"

namespace refrain::cli {
namespace {

namespace fs = std::filesystem;

// Absolute, as programs may work in other folders.
Result<std::string> make_folder(const std::string& output) {
  std::error_code error;
  fs::create_directories(output, error);
  const std::string folder = fs::absolute(output + "/jobs", error).lexically_normal().string();
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return folder;
  return base::fail(std::string("cannot make the folder (") + std::strerror(errno) + ")", folder);
}

}  // namespace

int refuse_in_job(const base::Error& error, const MpiChoice& choice, const std::string& mpi) {
  const std::string line = text::printable(error.to_string());
  (void)become_companion("refrain-relay", mpi, choice,
                         {"--end", std::to_string(static_cast<int>(error.code)), line});
  return report(error);
}

int refuse_words(const base::Error& error, const Words& words) {
  const auto is_from = [](const std::string& word) { return word.starts_with("--from"); };
  const std::string mpi = MpiChoice().name(
      find_launcher([](const char* name) -> const char* { return std::getenv(name); }));
  if (words.size() < 2 || words[0] != "live" || words[1] != "analyze" || mpi.empty() ||
      std::any_of(words.begin(), words.end(), is_from))
    return report(error);
  return refuse_in_job(error, {}, mpi);
}

int live_join(const AnalyzeOptions& options, const MpiChoice& choice, const std::string& mpi) {
  const auto refuse = [&](const base::Error& error) { return refuse_in_job(error, choice, mpi); };
  // Whether they can be loaded is said before the programs begin.
  if (const auto plugins = LivePlugins::start(options.plugins, options.output); !plugins.ok())
    return refuse(plugins.error());
  const auto folder = make_folder(options.output);
  if (!folder.ok()) return refuse(folder.error());
  int ends[2];
  if (pipe(ends) != 0)
    return refuse(base::fail(std::string("cannot make a pipe: ") + std::strerror(errno)));
  const pid_t worker = fork();
  if (worker < 0)
    return refuse(base::fail(std::string("cannot start a process: ") + std::strerror(errno)));
  if (worker == 0) {
    close(ends[1]);
    supervise(*folder, options, ends[0]);
  }
  close(ends[0]);
  return report(become_companion("refrain-relay", mpi, choice,
                                 {*folder, std::to_string(ends[1]), std::to_string(worker)}));
}

}  // namespace refrain::cli
