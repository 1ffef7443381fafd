#include "convert/simulator_walk.h"

#include <algorithm>

#include "sim/lower/schedule.h"

namespace refrain::convert {

Status SimulatorWalk::run(const std::function<Status(bool writes)>& write) {
  job_.expect_passes(2);
  if (const Status done = survey_.run(); !done.ok()) return done;
  return events::with_tags(job_, survey_, tags_, write);
}

Status SimulatorWalk::rank(Rank rank, events::SkeletonSink& sink, events::Threads threads,
                           BufferedFile* file) {
  events::Skeleton skeleton(job_, survey_, tags_, sink, threads);
  events::RankEvents events(job_, world_, rank);
  while (const events::Event* event = events.next()) {
    skeleton.add(*event);
    nowhere_.clear();
    if (file == nullptr) continue;
    if (const Status done = file->flush_if_full(); !done.ok()) return done;
  }
  skeleton.finish();
  events.report();
  return base::Done{};
}

std::vector<std::vector<events::SkeletonEnd>> SimulatorWalk::messages(const events::Op& op,
                                                                      const Signature& call,
                                                                      uint64_t number) {
  const uint32_t tag = tags_.of_collective(op.comm.key, number);
  std::vector<std::vector<events::SkeletonEnd>> out;
  for (const sim::Phase& phase : sim::schedule(job_.trace, op, call)) {
    std::vector<events::SkeletonEnd>& all = out.emplace_back();
    // Simulators take no message of 0 bytes.
    for (const sim::Part& part : phase)
      all.push_back({part.sends, job_.position(op.comm.comm.member(part.peer)), tag,
                     std::max<uint64_t>(1, part.bytes)});
  }
  return out;
}

}  // namespace refrain::convert
