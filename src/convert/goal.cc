// goal: what LogGOPSim reads (T. Hoefler, T. Schneider, A. Lumsdaine: "LogGOPSim - Simulating
// Large-Scale Applications in the LogGOPS Model"; GOAL: T. Hoefler et al., "Group Operation
// Assembly Language").
//
// Each rank is a graph of calc, send and recv: what a thread does one after the other is a chain,
// nonblocking messages and collectives leave it and come back where they are completed.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "convert/job.h"
#include "convert/output_files.h"
#include "events/by_rank/skeleton.h"
#include "sim/lower/schedule.h"

namespace refrain::convert {
namespace {

class GoalRank : public events::SkeletonSink {
 public:
  GoalRank(Job& job, events::Tags& tags, int64_t me, std::string& out)
      : job_(job), tags_(tags), me_(me), out_(out) {}

  void thread(uint32_t number) override { front_ = &fronts_[number]; }

  void compute(uint64_t ns) override {
    const Label before = point();
    *front_ = {calc(ns, before)};
  }

  void exchange(const std::vector<events::SkeletonEnd>& all) override { exchange(all, *front_); }

  void post(const events::SkeletonEnd& transfer, uint64_t request) override {
    if (transfer.peer == me_) return own();
    requests_[request] = {move(transfer, point())};
  }

  void wait(uint64_t request) override {
    const auto known = requests_.find(request);
    if (known == requests_.end()) return;
    front_->insert(front_->end(), known->second.begin(), known->second.end());
    requests_.erase(known);
  }

  void collective(const events::Op& op, const Signature& call, uint64_t number,
                  std::optional<uint64_t> request) override {
    if (op.comm.comm.is_inter) return job_.not_held("collective calls on inter-communicators");
    const uint32_t tag = tags_.of_collective(op.comm.key, number);
    const std::vector<sim::Phase> phases = sim::schedule(job_.trace, op, call);
    if (phases.empty()) return;
    const Label before = point();
    Front branch;
    if (before != 0) branch = {before};
    Front& front = request ? branch : *front_;
    for (const sim::Phase& phase : phases) {
      std::vector<events::SkeletonEnd> all;
      for (const sim::Part& part : phase)
        all.push_back({part.sends, job_.position(op.comm.comm.member(part.peer)), tag,
                       std::max<uint64_t>(1, part.bytes)});
      exchange(all, front);
    }
    if (request) requests_[*request] = branch;
  }

  // A rank without anything to do has a block all the same.
  void finish() {
    if (last_ == 0) calc(0, 0);
  }

 private:
  using Label = uint64_t;            // 0: none
  using Front = std::vector<Label>;  // what has to be done before what comes next

  void own() { job_.not_held("messages of a rank to itself"); }

  void needs(Label label, Label before) {
    if (before != 0) fmt::format_to(std::back_inserter(out_), "l{} requires l{}\n", label, before);
  }
  Label calc(uint64_t ns, Label before) {
    fmt::format_to(std::back_inserter(out_), "l{}: calc {} cpu 0\n", ++last_, ns);
    needs(last_, before);
    return last_;
  }
  Label move(const events::SkeletonEnd& t, Label before) {
    fmt::format_to(std::back_inserter(out_), "l{}: {} {}b {} {} tag {} cpu 0 nic 0\n", ++last_,
                   t.sends ? "send" : "recv", t.bytes, t.sends ? "to" : "from", t.peer, t.tag);
    needs(last_, before);
    return last_;
  }
  // One label for all of a front.
  Label point(Front& front) {
    if (front.empty()) return 0;
    if (front.size() > 1) {
      const Label join = calc(0, front[0]);
      for (size_t i = 1; i < front.size(); ++i) needs(join, front[i]);
      front = {join};
    }
    return front[0];
  }
  Label point() { return point(*front_); }

  void exchange(const std::vector<events::SkeletonEnd>& all, Front& front) {
    const Label before = point(front);
    Front done;
    for (const events::SkeletonEnd& t : all)
      t.peer == me_ ? own() : done.push_back(move(t, before));
    if (!done.empty()) front = std::move(done);
  }

  Job& job_;
  events::Tags& tags_;
  const int64_t me_;
  std::string& out_;
  Label last_ = 0;
  std::map<uint32_t, Front> fronts_;  // of each thread
  Front* front_ = &fronts_[0];
  std::unordered_map<uint64_t, Front> requests_;
};

// Without a file: everything but the writing.
Status write_ranks(Job& job, events::World& world, events::Survey& survey, events::Tags& tags,
                   BufferedFile* file) {
  std::string nowhere;
  std::string& out = file != nullptr ? file->buffer() : nowhere;
  for (const Rank rank : job.ranks) {
    GoalRank graph(job, tags, job.position(rank), out);
    events::Skeleton skeleton(job, survey, tags, graph, events::Threads::kApart);
    events::RankEvents events(job, world, rank);
    fmt::format_to(std::back_inserter(out), "\nrank {} {{\n", job.position(rank));
    while (const events::Event* event = events.next()) {
      skeleton.add(*event);
      nowhere.clear();
      if (file == nullptr) continue;
      if (const Status done = file->flush_if_full(); !done.ok()) return done;
    }
    skeleton.finish();
    graph.finish();
    out += "}\n";
    events.report();
  }
  return base::Done{};
}

}  // namespace

Status write_goal(Job& job) {
  auto file = BufferedFile::create(job.options.output, "the GOAL file");
  if (!file.ok()) return file.error();
  job.expect_passes(2);
  events::World world(job.trace);
  events::Survey survey(job, world);
  if (const Status done = survey.run(); !done.ok()) return done;
  events::Tags tags(job.folder(), job.sort_bytes(), job.sort_bytes());
  fmt::format_to(std::back_inserter(file->buffer()), "num_ranks {}\n", job.ranks.size());
  const Status done = events::with_tags(job, survey, tags, [&](bool writes) {
    return write_ranks(job, world, survey, tags, writes ? &*file : nullptr);
  });
  if (!done.ok()) return done;
  job.out.bytes = file->size();
  job.out.files = {job.options.output};
  return file->commit();
}

}  // namespace refrain::convert
