// goal: what LogGOPSim reads (T. Hoefler, T. Schneider, A. Lumsdaine: "LogGOPSim - Simulating
// Large-Scale Applications in the LogGOPS Model"; GOAL: T. Hoefler et al., "Group Operation
// Assembly Language").
//
// Each rank is a graph of calc, send and recv: what a thread does one after the other is a chain,
// nonblocking messages and collectives leave it and come back where they are completed.

#include <fmt/format.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "convert/job.h"
#include "convert/output_files.h"
#include "convert/simulator_walk.h"
#include "events/by_rank/skeleton.h"

namespace refrain::convert {
namespace {

class GoalRank : public events::SkeletonSink {
 public:
  GoalRank(Job& job, SimulatorWalk& walk, int64_t me, std::string& out)
      : job_(job), walk_(walk), me_(me), out_(out) {}

  void thread(uint32_t number) override {
    thread_ = &threads_.try_emplace(number, Thread{threads_.size(), {}}).first->second;
  }

  void compute(uint64_t ns) override {
    const Label before = point();
    thread_->front = {calc(ns, before)};
  }

  void exchange(const std::vector<events::SkeletonEnd>& all) override {
    exchange(all, thread_->front);
  }

  void post(const events::SkeletonEnd& transfer, uint64_t request) override {
    if (transfer.peer == me_) return own();
    requests_[request] = {move(transfer, point())};
  }

  void wait(uint64_t request) override {
    const auto known = requests_.find(request);
    if (known == requests_.end()) return;
    Front& front = thread_->front;
    front.insert(front.end(), known->second.begin(), known->second.end());
    requests_.erase(known);
  }

  void collective(const events::Op& op, const Signature& call, uint64_t number,
                  std::optional<uint64_t> request) override {
    if (op.comm.comm.is_inter) return job_.not_held("collective calls on inter-communicators");
    const auto phases = walk_.messages(op, call, number);
    if (phases.empty()) return;
    const Label before = point();
    Front branch;
    if (before != 0) branch = {before};
    Front& front = request ? branch : thread_->front;
    for (const auto& phase : phases) exchange(phase, front);
    if (request) requests_[*request] = branch;
  }

  // A rank without anything to do has a block all the same.
  void finish() {
    if (last_ > 0) return;
    thread(0);
    calc(0, 0);
  }

 private:
  using Label = uint64_t;            // 0: none
  using Front = std::vector<Label>;  // what has to be done before what comes next
  struct Thread {
    size_t cpu = 0;  // its own, or threads would compute one after the other
    Front front;
  };

  void own() { job_.not_held("messages of a rank to itself"); }

  void needs(Label label, Label before) {
    if (before != 0) fmt::format_to(std::back_inserter(out_), "l{} requires l{}\n", label, before);
  }
  Label calc(uint64_t ns, Label before) {
    fmt::format_to(std::back_inserter(out_), "l{}: calc {} cpu {}\n", ++last_, ns, thread_->cpu);
    needs(last_, before);
    return last_;
  }
  Label move(const events::SkeletonEnd& t, Label before) {
    fmt::format_to(std::back_inserter(out_), "l{}: {} {}b {} {} tag {} cpu {} nic 0\n", ++last_,
                   t.sends ? "send" : "recv", t.bytes, t.sends ? "to" : "from", t.peer, t.tag,
                   thread_->cpu);
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
  Label point() { return point(thread_->front); }

  void exchange(const std::vector<events::SkeletonEnd>& all, Front& front) {
    const Label before = point(front);
    Front done;
    for (const events::SkeletonEnd& t : all)
      t.peer == me_ ? own() : done.push_back(move(t, before));
    if (!done.empty()) front = std::move(done);
  }

  Job& job_;
  SimulatorWalk& walk_;
  const int64_t me_;
  std::string& out_;
  Label last_ = 0;
  std::map<uint32_t, Thread> threads_;
  Thread* thread_ = nullptr;  // whose calls come now
  std::unordered_map<uint64_t, Front> requests_;
};

// Without a file: everything but the writing.
Status write_ranks(Job& job, SimulatorWalk& walk, BufferedFile* file) {
  std::string& out = walk.text(file);
  for (const Rank rank : job.ranks) {
    GoalRank graph(job, walk, job.position(rank), out);
    fmt::format_to(std::back_inserter(out), "\nrank {} {{\n", job.position(rank));
    if (const Status done = walk.rank(rank, graph, events::Threads::kApart, file); !done.ok())
      return done;
    graph.finish();
    out += "}\n";
  }
  return base::Done{};
}

}  // namespace

Status write_goal(Job& job) {
  auto file = BufferedFile::create(job.options.output, "the GOAL file");
  if (!file.ok()) return file.error();
  fmt::format_to(std::back_inserter(file->buffer()), "num_ranks {}\n", job.ranks.size());
  SimulatorWalk walk(job);
  const Status done =
      walk.run([&](bool writes) { return write_ranks(job, walk, writes ? &*file : nullptr); });
  if (!done.ok()) return done;
  job.out.bytes = file->size();
  job.out.files = {job.options.output};
  return file->commit();
}

}  // namespace refrain::convert
