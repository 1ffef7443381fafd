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
#include "online/rank_source.h"

namespace refrain::online {

class RankFeed : public RankSource {
 public:
  // `job`: name of the trace that the job will write. Fails where the file is none of a rank.
  static base::Result<RankFeed> open(const std::string& path, const std::string& job);

  base::Result<format::spool::RankSpool> look() override;
  base::Result<format::spool::RankSpool> finish(format::live::EndReason reason) override;
  const format::live::Receiver* receiver() const override { return receiver_.get(); }
  Life life() const override { return life_of(cursor()); }
  uint64_t stream_bytes() const override { return feeder_.bytes(); }
  uint64_t stored_bytes() const override { return cursor().file().stored_bytes(); }

  uint64_t waited_ns() const override { return cursor().header().waited_ns; }
  void tell_taken() override { feeder_.tell_taken(); }
  void remove() override;

  // Of the process whose spool is read.
  static Life life_of(const format::spool::Cursor& cursor);
  const format::spool::Cursor& cursor() const { return feeder_.cursor(); }

 private:
  explicit RankFeed(format::live::Feeder feeder)
      : feeder_(std::move(feeder)), receiver_(std::make_unique<format::live::Receiver>()) {}
  void add_damage(format::spool::RankSpool& rank) const;

  format::live::Feeder feeder_;
  std::unique_ptr<format::live::Receiver> receiver_;
};

}  // namespace refrain::online
