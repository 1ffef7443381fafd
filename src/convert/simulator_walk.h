// SimulatorWalk: what the formats for simulators (ti, goal) have in common: all ranks' operations,
// one rank after the other, with messages whose both ends are in the conversion.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "convert/job.h"
#include "convert/output_files.h"
#include "events/by_rank/skeleton.h"

namespace refrain::convert {

class SimulatorWalk {
 public:
  explicit SimulatorWalk(Job& job)
      : job_(job),
        world_(job.trace),
        survey_(job, world_),
        tags_(job.folder(), job.sort_bytes(), job.sort_bytes()) {}

  // Calls `write` for all ranks, once before without a file if tags need that.
  Status run(const std::function<Status(bool writes)>& write);

  // Tells `sink` what `rank` does. The sink appends its text to what `text` gives for `file`.
  Status rank(Rank rank, events::SkeletonSink& sink, events::Threads threads, BufferedFile* file);

  // Without a file: a text that is thrown away after each call.
  std::string& text(BufferedFile* file) { return file != nullptr ? file->buffer() : nowhere_; }

  // The messages that stand for the `number`-th collective call of a communicator. Those of one
  // phase go on together; the next begins when they are done.
  std::vector<std::vector<events::SkeletonEnd>> messages(const events::Op& op,
                                                         const Signature& call, uint64_t number);

 private:
  Job& job_;
  events::World world_;
  events::Survey survey_;
  events::Tags tags_;
  std::string nowhere_;
};

}  // namespace refrain::convert
