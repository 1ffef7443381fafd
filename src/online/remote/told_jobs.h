// The folder in which `record --live-dir` tells of jobs (format/spool/live_job.h), for those who
// look at them: `live serve`, `live feed`. Only plain files of this user are believed (of anybody,
// for root). Thread safe.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/spool/live_job.h"

namespace refrain::online {

// Takes the folder for this process alone: a descriptor that holds the lock. Fails with
// ErrorCode::kUsage where it is none, others may write to it, or somebody has it already.
base::Result<int> lock_job_folder(const std::string& folder);

struct ToldJob {
  std::string path, file, run;  // "DIR/RUN.job", "RUN.job", "RUN"
  time_t told = 0;
  std::optional<format::spool::LiveJob> what;  // nothing: it tells of no job
  std::string why;                             // of that
};
// Those that are not in `known`, a container of `file`s, and are not being written just now.
template <typename Known>
base::Status find_told_jobs(const std::string& folder, const Known& known,
                            std::vector<ToldJob>& found);

// Before so long a job may have told of itself and not have a spool yet, or no trace any more.
inline constexpr time_t kPatienceSeconds = 30;

// One of the files; nothing where it is being written just now.
std::optional<ToldJob> read_told_job(const std::string& path);
base::Result<std::vector<std::string>> told_job_files(const std::string& folder);

template <typename Known>
base::Status find_told_jobs(const std::string& folder, const Known& known,
                            std::vector<ToldJob>& found) {
  const auto files = told_job_files(folder);
  if (!files.ok()) return files.error();
  for (const std::string& file : *files) {
    if (known.contains(file)) continue;
    if (auto job = read_told_job(folder + "/" + file)) found.push_back(std::move(*job));
  }
  return base::Done{};
}

}  // namespace refrain::online
