// RecordedJob: a trace as if its job still ran, received rank by rank as streams. For `live analyze
// --from`, and to try whatever is shown of running jobs on runs that are known.
//
// Not thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/live/decode/receiver.h"
#include "online/job_now.h"
#include "online/live_waits.h"
#include "online/recorded_rank.h"

namespace refrain::online {

class RecordedJob {
 public:
  // Fails where there is no such trace, or where its ranks stand for others.
  static base::Result<std::unique_ptr<RecordedJob>> open(const std::string& path);

  // The job when it was so old; ages ascend. Once it is as old as its run, it has finished.
  base::Result<JobNow> look(uint64_t age_ns);
  // The trace as it was received; once, after that.
  base::Status write(const std::string& output);
  uint64_t stream_bytes() const;
  std::shared_ptr<const Maps> maps() const { return maps_.now(); }

 private:
  struct Rank {
    RecordedRank sender;
    std::unique_ptr<format::live::Receiver> receiver;
  };
  explicit RecordedJob(RecordedRun run) : run_(std::move(run)) {}
  base::Status open_ranks();

  RecordedRun run_;
  std::vector<Rank> ranks_;
  MapLog maps_;
  LiveWaits waits_;
  bool is_over_ = false;
  uint64_t last_calls_ = 0, last_age_ns_ = 0;
};

}  // namespace refrain::online
