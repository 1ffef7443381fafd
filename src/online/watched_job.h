// A job that is watched from outside, by the spool files of its ranks. The job does not know of it:
// nothing is sent, locked or signalled, and a job that was started before the watcher is as good.
// The idea of an analysis that goes on beside the program is that of the online-coupling paper
// (§II); there, the program sends its events, here they are where the recorder keeps them anyway.
//
// Costs the reader: per look, what is new in the spools, and a merge of the ranks' records as in
// MPI_Finalize. Ownership: holds the files of all ranks open, and what they have recorded so far.
// Not thread safe; several objects may watch one job.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "format/spool/post_mortem.h"
#include "online/job_now.h"
#include "online/live_waits.h"
#include "online/rank_source.h"

namespace refrain::online {

struct WatchOptions {
  uint64_t stuck_after_ns = 10'000'000'000;
  bool is_analyser = false;  // ranks that do not let their analyser be late are told how far we are
};

class WatchedJob {
 public:
  // `folder`: run.rfn.spool.
  WatchedJob(std::string folder, WatchOptions options);
  // One run of those that may have left files there, and its trace. 0: the newest.
  WatchedJob(std::string folder, uint64_t run, std::string trace, WatchOptions options);
  // One that is fed from elsewhere; `trace` is its trace there.
  WatchedJob(std::unique_ptr<JobSource> source, std::string trace, WatchOptions options);

  // The job as it is. Fails where there is no job: no folder, or nothing of a recorder in it.
  base::Result<JobNow> look();

  // Of a job that is over: its trace as it was received, with times of single calls, once. Where a
  // rank ended before anybody looked at it, the job's own trace is copied.
  base::Status write(const std::string& output);
  // Behind write(): of ranks that have left their trace to us (`record --live-only`).
  void remove_spool();

 private:
  struct Rank {
    std::unique_ptr<RankSource> source;
    format::spool::Header header;
    RankNow now;
  };
  base::Status find_ranks();
  void add_rank(const format::spool::Header& header, std::unique_ptr<RankSource> source);
  std::string trace_file() const;
  base::Result<JobNow> finished();
  bool is_left_to_us() const;
  void update(Rank& rank, const format::spool::RankSpool& read, JobNow& job);
  void add_speed(JobNow& job);
  void take_waits(const Rank& rank, const format::spool::RankSpool& read);
  void take_last_waits();

  std::unique_ptr<JobSource> source_;  // null: the spool here
  std::string folder_, trace_;
  WatchOptions options_;
  MapLog maps_;
  bool has_last_maps_ = false;  // maps_ has what the job's own trace says
  LiveWaits waits_;
  uint64_t run_ = 0;
  std::map<uint64_t, Rank> ranks_;
  uint64_t last_calls_ = 0, last_time_ns_ = 0;
};

}  // namespace refrain::online
