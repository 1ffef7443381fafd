// RankFeed: a rank that still runs, by its spool file: the feeder that makes its stream, and the
// receiver of this stream. What is shown of jobs on this host comes the same way as what another
// host would send.
//
// Not thread safe. Ownership: holds the file open, so that the last state of a process that has
// removed it can be read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "format/live/decode/receiver.h"
#include "format/live/encode/feeder.h"

namespace refrain::online {

class RankFeed {
 public:
  // `job`: name of the trace that the job will write. Fails where the file is none of a rank.
  static base::Result<RankFeed> open(const std::string& path, const std::string& job);

  // Everything until now but times of single calls. Fails where the file cannot be read any more,
  // or what is in it contradicts itself.
  base::Result<format::spool::RankSpool> look();
  // The same after the process has ended, with times; once.
  base::Result<format::spool::RankSpool> finish(format::live::EndReason reason);

  void tell_taken() { feeder_.tell_taken(); }

  const format::spool::Cursor& cursor() const { return feeder_.cursor(); }
  uint64_t stream_bytes() const { return feeder_.bytes(); }

 private:
  explicit RankFeed(format::live::Feeder feeder)
      : feeder_(std::move(feeder)), receiver_(std::make_unique<format::live::Receiver>()) {}
  void add_damage(format::spool::RankSpool& rank) const;

  format::live::Feeder feeder_;
  std::unique_ptr<format::live::Receiver> receiver_;
};

}  // namespace refrain::online
