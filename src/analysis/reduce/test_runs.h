// Runs of known behaviour as traces with exact times: programs like those whose trends the thesis
// looks at (Mohror, section 5.1.1), simulated. For tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reader/test_trace.h"

namespace refrain::analysis::reduce {

using reader::ShapeWriter;

class TestRun {
 public:
  static constexpr double kCallNs = 2000;

  TestRun(uint64_t ranks, uint64_t seed)
      : builder_(ranks), random_(seed), now_(ranks), calls_(ranks), times_(ranks) {
    world_ = builder_.world();
    type_ = builder_.predefined_type("MPI_INT", 4);
    site_ = builder_.site("/no/such/app", "", 0x100);
    together(simple("MPI_Init").none().none());
  }

  uint64_t ranks() const { return now_.size(); }
  uint64_t random(uint64_t below) { return random_() % below; }
  // A number within `share` of 1.
  double noise(double share) { return 1 + share * (static_cast<double>(random(2001)) / 1000 - 1); }
  void work(uint64_t rank, double ns) { now_[rank] += ns * noise(0.02); }

  // A call that takes its time on one rank alone.
  void allocate(uint64_t rank, double ns) {
    add(rank, signature(simple("MPI_Alloc_mem").integer(4096).none().none()), now_[rank] + ns);
  }

  void barrier() { all_wait(simple("MPI_Barrier").object(world_)); }
  void allreduce() {
    all_wait(simple("MPI_Allreduce").none().none().integer(1).object(type_).none().object(world_));
  }
  // Receivers wait for the root.
  void bcast(uint64_t root, int64_t count = 1) {
    const uint32_t id = signature(simple("MPI_Bcast")
                                      .none()
                                      .integer(count)
                                      .object(type_)
                                      .integer(static_cast<int64_t>(root))
                                      .object(world_));
    const double begin = now_[root];
    for (uint64_t r = 0; r < ranks(); ++r)
      add(r, id, r == root ? now_[r] : std::max(now_[r], begin));
  }
  // The root waits for everybody.
  void reduce(uint64_t root) {
    const uint32_t id = signature(simple("MPI_Reduce")
                                      .none()
                                      .none()
                                      .integer(1)
                                      .object(type_)
                                      .none()
                                      .integer(static_cast<int64_t>(root))
                                      .object(world_));
    const double last = *std::max_element(now_.begin(), now_.end());
    for (uint64_t r = 0; r < ranks(); ++r) add(r, id, r == root ? last : now_[r]);
  }
  // From each even rank to the odd one behind it; synchronous sends wait for the receive.
  void pairs(bool synchronous) {
    const uint32_t send =
        signature(message(synchronous ? "MPI_Ssend" : "MPI_Send", reader::me_plus(1)));
    const uint32_t receive = signature(message("MPI_Recv", reader::me_plus(-1)).none());
    for (uint64_t r = 0; r + 1 < ranks(); r += 2) {
      const double sent = now_[r], asked = now_[r + 1];
      add(r, send, synchronous ? std::max(sent, asked) : sent);
      add(r + 1, receive, std::max(sent, asked));
    }
  }
  // Each rank waits for the one before it, works, and sends on.
  void sweep(double work_ns) {
    const uint32_t send = signature(message("MPI_Send", reader::me_plus(1)));
    const uint32_t receive = signature(message("MPI_Recv", reader::me_plus(-1)).none());
    for (uint64_t r = 0; r < ranks(); ++r) {
      if (r > 0) add(r, receive, std::max(now_[r], sent_[r - 1]));
      work(r, work_ns);
      sent_.resize(ranks());
      sent_[r] = now_[r];
      if (r + 1 < ranks()) add(r, send, now_[r]);
    }
  }
  void mark(const char* function, const std::string& name, int64_t number = -1) {
    ShapeWriter s = simple(function);
    s.string(format::FieldTag::kString, name);
    if (number >= 0) s.integer(number);
    const uint32_t id = signature(s);
    for (uint64_t r = 0; r < ranks(); ++r) add(r, id, now_[r]);
  }

  // The trace: ranks with the same calls are a group. Once.
  format::TraceData& finish(const char* spec = "exact") {
    together(simple("MPI_Finalize"));
    std::map<std::vector<uint32_t>, std::vector<int64_t>> groups;
    for (uint64_t r = 0; r < ranks(); ++r) groups[calls_[r]].push_back(static_cast<int64_t>(r));
    for (const auto& [calls, of] : groups) builder_.group(of, calls);
    for (uint64_t r = 0; r < ranks(); ++r) builder_.times(r, times_[r], spec);
    return builder_.data();
  }
  reader::TraceBuilder& builder() { return builder_; }
  const std::vector<std::pair<uint64_t, uint64_t>>& times(uint64_t rank) const {
    return times_[rank];
  }

 private:
  ShapeWriter simple(const char* name) const { return ShapeWriter(name).object(site_); }
  ShapeWriter message(const char* name, format::RankExpr peer) const {
    return simple(name).none().integer(1).object(type_).integer(peer).integer(5).object(world_);
  }
  uint32_t signature(ShapeWriter shape) {
    format::StoredSignature made = shape.take();
    std::string key = made.shape;
    for (const format::RankExpr& e : made.slots)
      key.append(":").append(std::to_string(e.a)).append(",").append(std::to_string(e.b));
    const auto [at, is_new] = known_.try_emplace(key, 0);
    if (is_new) {
      builder_.data().signatures.push_back(made);
      builder_.data().durations.emplace_back();
      at->second = static_cast<uint32_t>(builder_.data().signatures.size() - 1);
    }
    return at->second;
  }
  // A call that is over when what it waits for has come.
  void add(uint64_t rank, uint32_t id, double come) {
    const double end = std::max(now_[rank], come) + kCallNs * noise(0.2);
    calls_[rank].push_back(id);
    times_[rank].emplace_back(static_cast<uint64_t>(now_[rank]), static_cast<uint64_t>(end));
    now_[rank] = end;
  }
  void together(ShapeWriter shape) {
    const uint32_t id = signature(std::move(shape));
    for (uint64_t r = 0; r < ranks(); ++r) add(r, id, now_[r]);
  }
  void all_wait(ShapeWriter shape) {
    const uint32_t id = signature(std::move(shape));
    const double last = *std::max_element(now_.begin(), now_.end());
    for (uint64_t r = 0; r < ranks(); ++r) add(r, id, last);
  }

  reader::TraceBuilder builder_;
  std::mt19937_64 random_;
  std::vector<double> now_, sent_;
  std::vector<std::vector<uint32_t>> calls_;
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> times_;
  std::map<std::string, uint32_t> known_;
  uint32_t world_ = 0, type_ = 0, site_ = 0;
};

inline const std::vector<std::string>& test_run_names() {
  static const std::vector<std::string> kNames = {
      "early_reduce", "imbalance_at_barrier", "late_receiver", "late_sender", "late_broadcast",
      "interference", "dynamic_load_balance", "sweep",         "marked"};
  return kNames;
}

// `iterations` of the run's loop, about a millisecond each.
inline TestRun test_run(const std::string& name, uint64_t ranks = 8, int iterations = 100,
                        uint64_t seed = 1) {
  TestRun run(ranks, seed);
  constexpr double kStep = 1e6;
  for (int i = 0; i < iterations; ++i) {
    if (name == "marked") run.mark("refrain_instance", "step", i);
    for (uint64_t r = 0; r < ranks && name != "sweep"; ++r) {
      double ns = kStep;
      if (name == "early_reduce" && r != 0) ns *= 1.3;
      if (name == "imbalance_at_barrier" || name == "marked") ns *= r == 2 ? 1.5 : 1.0;
      if (name == "late_receiver") ns *= r % 2 == 1 ? 1.4 : 1.0;
      if (name == "late_sender") ns *= r % 2 == 0 ? 1.4 : 1.0;
      if (name == "late_broadcast" && r == 0) ns *= 1.4;
      if (name == "interference" && run.random(100) < 5) ns += 1e6 + 1e3 * run.random(2000);
      if (name == "dynamic_load_balance") ns *= 1 + (r >= ranks / 2 ? 0.02 : -0.02) * (i % 25);
      run.work(r, ns);
    }
    if (name == "early_reduce") run.reduce(0), run.barrier();
    if (name == "late_broadcast") run.bcast(0), run.barrier();
    if (name == "imbalance_at_barrier" || name == "marked") run.barrier(), run.allreduce();
    if (name == "interference" || name == "dynamic_load_balance") run.allreduce(), run.barrier();
    if (name == "late_sender") run.pairs(false), run.barrier();
    if (name == "late_receiver") run.pairs(true), run.barrier();
    if (name == "sweep") run.sweep(kStep), run.barrier();
  }
  return run;
}

}  // namespace refrain::analysis::reduce
