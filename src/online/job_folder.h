// JobFolder: jobs that come and go, as the files that `record --live-dir` leaves in a folder tell
// of them (format/spool/live_job.h); and what they leave when they have ended.
//
//   DIR/RUN.job         written by a job; removed when all of the following is there
//   OUT/NAME.rfn        its trace, as it was received
//   OUT/NAME/*.json     what `refrain profile`, `matrix` and `waits` say of it, its topology, its
//   maps OUT/NAME.html       its report; OUT/index.html leads to those of all jobs OUT/names/RUN
//   NAME, from the first look on
//
// Everything that must survive is in these files, so whoever is killed at any moment goes on where
// he was: spools are read again from their beginning. Only plain files of this user are believed
// (of anybody, for root); a file that is no job's, and a job that contradicts itself, touch no
// other job.
//
// Ownership: holds a lock on DIR, and the spools of living jobs open. Not thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/spool/live_job.h"
#include "online/ended_jobs.h"
#include "online/job_now.h"
#include "online/remote/remote_jobs.h"
#include "online/watched_job.h"

namespace refrain::online {

class JobFolder {
 public:
  // Fails with ErrorCode::kUsage where `folder` is none, others may write to it, or somebody serves
  // it already; else where `output` cannot be made.
  static base::Result<std::unique_ptr<JobFolder>> open(const std::string& folder,
                                                       const std::string& output,
                                                       const WatchOptions& options,
                                                       const LeaveOptions& leave);
  // Jobs of other hosts; what is in DIR otherwise is in OUT then.
  static base::Result<std::unique_ptr<JobFolder>> open(std::unique_ptr<RemoteJobs> remote,
                                                       const std::string& output,
                                                       const WatchOptions& options,
                                                       const LeaveOptions& leave);
  ~JobFolder();
  JobFolder(const JobFolder&) = delete;
  JobFolder& operator=(const JobFolder&) = delete;

  // All jobs as they are; writes what those that have ended leave. An error concerns one job, and
  // is for the log: the others are as they should be.
  std::vector<base::Error> look();
  // Those of the last look, in the order in which they came: also those of earlier, of which the
  // traces are in OUT, but for the oldest where there are more than 100 that have ended.
  std::vector<JobNow> now() const;
  // Until something happens in the folder, or so long. Takes what other hosts send; when nothing
  // can come, the next look says so.
  void wait(uint64_t most_ns);

  // A word that only this user can read, the same whenever the folder is served; and a place where
  // the address is written for him.
  const std::string& token() const { return token_; }
  std::string address_file() const { return folder_ + "/serve.address"; }

 private:
  struct Job;
  JobFolder(std::string folder, std::string output, WatchOptions options, LeaveOptions leave);
  base::Status prepare();
  base::Status read_token();
  void find_jobs(std::vector<base::Error>& errors);
  void find_remote_jobs(std::vector<base::Error>& errors);
  void forget(const Job& job);
  void look_at(Job& job, std::vector<base::Error>& errors);
  base::Status end(Job& job);
  base::Result<std::string> name_of(const std::string& run, const std::string& stem) const;
  void find_ended();
  void forget_oldest();

  const std::string folder_, output_;
  const WatchOptions options_;
  std::unique_ptr<RemoteJobs> remote_;  // null: jobs of the folder
  std::string trouble_, told_trouble_;  // with what they send
  int lock_ = -1, events_ = -1;
  std::string token_;
  std::map<std::string, std::unique_ptr<Job>> jobs_;  // by file name
  EndedJobs ended_;
  std::map<std::string, JobNow> was_;  // those that have ended, by name
  std::vector<std::string> order_;     // names, as jobs came: the page and /job/N count by it
};

}  // namespace refrain::online
