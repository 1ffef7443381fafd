// Where what is known of a job that runs comes from: its ranks, one by one. Those of this host are
// read from their spools (rank_feed.h), those of others come as messages (remote/remote_jobs.h).
//
// Not thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/live/decode/receiver.h"
#include "format/live/layout.h"
#include "format/spool/read.h"
#include "online/job_now.h"

namespace refrain::online {

enum class Life : uint8_t {
  kLives,
  kDone,  // its trace is written
  kDead,  // its process ended without MPI_Finalize
};

class RankSource {
 public:
  virtual ~RankSource() = default;
  // Everything until now but times of single calls. Fails where it cannot be read any more, or what
  // is there contradicts itself.
  virtual base::Result<format::spool::RankSpool> look() = 0;
  // The same after the process has ended, with times; once.
  virtual base::Result<format::spool::RankSpool> finish(format::live::EndReason reason) = 0;

  // What has come of its stream, where there is one; as of the last look, and good until the next
  // one.
  virtual const format::live::Receiver* receiver() const { return nullptr; }

  // By what the last look found.
  virtual Life life() const = 0;
  virtual uint64_t stream_bytes() const = 0;
  virtual uint64_t stored_bytes() const = 0;  // on disk, of its spool
  // How long it waited for its analyser.
  virtual uint64_t waited_ns() const { return 0; }
  // Of the job's analyser: tells the rank that everything until the last look has been taken.
  virtual void tell_taken() {}
  // Of a job that left its trace to its analyser, when that is written: removes the rank's spool.
  virtual void remove() {}
  // What must be added to its times of day to get ours.
  virtual int64_t clock_offset_ns() const { return 0; }
  // How old what it says was at the last look, beside what the look took.
  virtual uint64_t lag_ns() const { return 0; }
};

struct FoundRank {
  format::spool::Header header;
  std::unique_ptr<RankSource> source;
};

class JobSource {
 public:
  virtual ~JobSource() = default;
  // Those that have come since the last time.
  virtual std::vector<FoundRank> new_ranks() = 0;
  // Whether no rank will come that is not known yet.
  virtual bool is_settled() const = 0;
  // The file of the trace that the job wrote; empty: it is not here.
  virtual std::string trace_file() const = 0;
  virtual std::vector<HostNow> hosts() const = 0;
};

}  // namespace refrain::online
