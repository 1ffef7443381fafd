// Sends the times of all ranks to the rank that writes the trace, a piece at a time, so that no
// rank holds the times of another one.
//
//   rank 0   asks the ranks in turn, kAhead of them at a time --> TraceFileWriter
//   others   send their clock points; then, as often as asked, piece by piece what their spool has
//
// Ranks without a communicator (sessions) write the same data into a file.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/segments/reduced.h"
#include "format/time/data.h"
#include "format/trace_data.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

class Process;

// What whoever writes the trace knows of the times.
class TimeSource {
 public:
  // False: no more is wanted.
  using Take = std::function<bool(format::TimeChunk, std::string_view)>;

  virtual ~TimeSource() = default;
  // By rank; empty: their clocks are one.
  virtual std::vector<std::vector<format::ClockPoint>> clocks() = 0;
  // Of these ranks alone, by rank; empty: of all, as in the beginning. Others are not asked.
  virtual void only(std::vector<bool> ranks) { only_ = std::move(ranks); }
  // All pieces of all ranks, or of those.
  virtual void each(TimeLog::Which which, const Take& take) = 0;
  // Once, before each(kSegments): the ranks match their segments.
  virtual base::Result<format::ReducedTimes> reduce(const format::TraceData&) {
    return base::fail("no way to match segments without a communicator of all ranks");
  }

 protected:
  bool is_wanted(int rank) const {
    return only_.empty() ||
           (static_cast<size_t>(rank) < only_.size() && only_[static_cast<size_t>(rank)]);
  }

 private:
  std::vector<bool> only_;
};

// Collective over Process::comm. Rank 0 calls `write` with what there is to take, the others hand
// over theirs meanwhile; whether it takes any, or fails, is all one to them.
void hand_times_over(Process& process, const std::function<void(TimeSource&)>& write);

// The times of this rank for a file, and those of all ranks out of their files' bytes.
std::string times_to_bytes(Process& process);
class TimesOfFiles final : public TimeSource {
 public:
  // `read` gives the bytes of a rank, empty when there are none.
  TimesOfFiles(int ranks, std::function<std::string(int)> read);
  std::vector<std::vector<format::ClockPoint>> clocks() override { return clocks_; }
  // There is no exact copy of them.
  void each(TimeLog::Which which, const Take& take) override;

 private:
  const int ranks_;
  const std::function<std::string(int)> read_;
  std::vector<std::vector<format::ClockPoint>> clocks_;
};

}  // namespace refrain::tracer
