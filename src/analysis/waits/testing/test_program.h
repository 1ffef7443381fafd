// Programs with times, put together by hand or at random, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/waits/sweep.h"
#include "analysis/waits/wait_states.h"
#include "reader/test_trace.h"

namespace refrain::analysis::waits {

using reader::ShapeWriter;
using Place = uint32_t;  // definition of a call site

// Writes an array of integers.
inline void put(ShapeWriter& s, const std::vector<int64_t>& values) {
  s.array(values.size());
  for (const int64_t v : values) s.repeat(1).integer(v);
}

// Calls of ranks, with one thread each if nothing else is said. A signature is stored once, as in a
// recorded trace, so that requests have the names that a recorder gives them.
class TestProgram {
 public:
  explicit TestProgram(int ranks) : builder_(static_cast<uint64_t>(ranks)) {
    calls_.resize(static_cast<size_t>(ranks));
    times_.resize(static_cast<size_t>(ranks));
    world = builder_.world();
    type = builder_.predefined_type("MPI_INT", 4);
    site = builder_.site("/no/such/app", "", 0x100);
  }

  // What tells a signature from others.
  static std::string key_of(const format::StoredSignature& made) {
    std::string key = made.shape;
    for (const format::RankExpr& e : made.slots) key.append(":").append(std::to_string(e.a));
    return key;
  }
  uint32_t signature(ShapeWriter& shape) {
    format::StoredSignature made = shape.take();
    const std::string key = key_of(made);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    builder_.data().signatures.push_back(made);
    builder_.data().durations.emplace_back();
    const auto id = static_cast<uint32_t>(builder_.data().signatures.size() - 1);
    known_[key] = id;
    return id;
  }
  // Returns the number of the call on its rank.
  size_t add(Rank rank, uint32_t id, uint64_t begin, uint64_t end) {
    const auto r = static_cast<size_t>(rank);
    calls_[r].push_back(id);
    times_[r].emplace_back(begin, end);
    return calls_[r].size() - 1;
  }
  uint32_t call(Rank rank, ShapeWriter shape, uint64_t begin, uint64_t end) {
    const uint32_t id = signature(shape);
    add(rank, id, begin, end);
    return id;
  }
  // A call of a later thread; threads of a rank are numbered from 1 without gaps.
  void thread_call(Rank rank, uint32_t thread, ShapeWriter shape, uint64_t begin, uint64_t end) {
    Thread& of = threads_[{rank, thread}];
    of.calls.push_back(signature(shape));
    of.times.emplace_back(begin, end);
  }

  // Shapes of frequent calls; `at` is the call site.
  ShapeWriter simple(const char* name, std::vector<uint32_t> objects) const {
    ShapeWriter s(name);
    s.object(site);
    for (const uint32_t o : objects) s.object(o);
    return s;
  }
  ShapeWriter message(const char* name, int64_t peer, int64_t tag, uint32_t comm) const {
    ShapeWriter s(name);
    s.object(site).none().integer(1).object(type).integer(peer).integer(tag).object(comm);
    return s;
  }
  ShapeWriter receive(int64_t source, int64_t tag, uint32_t comm) const {
    return message("MPI_Recv", source, tag, comm).none();
  }
  ShapeWriter wait(uint32_t request) const {
    ShapeWriter s("MPI_Wait");
    s.object(site).request(request).none();
    return s;
  }
  ShapeWriter bcast(int64_t root, uint32_t comm) const {
    ShapeWriter s("MPI_Bcast");
    s.object(site).none().integer(1).object(type).integer(root).object(comm);
    return s;
  }
  ShapeWriter reduce(int64_t root, uint32_t comm) const {
    ShapeWriter s("MPI_Reduce");
    s.object(site).none().none().integer(1).object(type).none().integer(root).object(comm);
    return s;
  }
  ShapeWriter allreduce(uint32_t comm) const {
    ShapeWriter s("MPI_Allreduce");
    s.object(site).none().none().integer(1).object(type).none().object(comm);
    return s;
  }
  ShapeWriter barrier(uint32_t comm) const { return simple("MPI_Barrier", {comm}); }

  WaitStates analyse(const Options& options = {}) {
    open();
    Source source(times_, threads_);
    Result<WaitStates> result = wait_states(*trace, source, options);
    EXPECT_TRUE(result.ok());
    return std::move(*result);
  }

  // visit(sweep), after the forward pass.
  template <class Visit>
  void sweep(const Options& options, Visit&& visit) {
    open();
    Source source(times_, threads_);
    Sweep sweep(*trace, source, options);
    sweep.run();
    visit(sweep);
  }

  reader::TraceBuilder& builder() { return builder_; }
  const std::vector<std::pair<uint64_t, uint64_t>>& times(Rank r) const {
    return times_[static_cast<size_t>(r)];
  }

  uint32_t world = 0, type = 0, site = 0;
  // Each rank has a second thread, which makes the same calls at the same times.
  bool has_twins = false;
  std::unique_ptr<Trace> trace;

 private:
  void open() {
    for (size_t r = 0; r < calls_.size(); ++r) {
      builder_.group({static_cast<int64_t>(r)}, calls_[r]);
      auto& locations = builder_.data().groups.back().locations;
      if (has_twins) locations.push_back({1, locations[0].grammar});
      const auto rank = static_cast<Rank>(r);
      for (const auto& [where, thread] : threads_)
        if (where.first == rank) builder_.thread(where.second, thread.calls);
    }
    trace = std::make_unique<Trace>(builder_.open());
  }

  using Times = std::vector<std::pair<uint64_t, uint64_t>>;
  struct Thread {
    std::vector<uint32_t> calls;
    Times times;
  };
  using Threads = std::map<std::pair<Rank, uint32_t>, Thread>;

  class Stream : public CallStream {
   public:
    Stream(Cursor cursor, const Times& times) : cursor_(std::move(cursor)), times_(times) {}
    bool next(ClockedCall& out) override {
      const Call* call = cursor_.next();
      if (call == nullptr) return false;
      out = {call->signature, call->seq, times_[call->seq].first, times_[call->seq].second};
      return true;
    }

   private:
    Cursor cursor_;
    const Times& times_;
  };
  class Source : public CallSource {
   public:
    Source(const std::vector<Times>& times, const Threads& threads)
        : times_(times), threads_(threads) {}
    bool has_times() override { return true; }
    std::unique_ptr<CallStream> open(RankReader& reader, uint32_t thread) override {
      Result<Cursor> cursor = reader.cursor(thread);
      if (!cursor.ok()) return nullptr;
      const auto own = threads_.find({reader.rank(), thread});
      return std::make_unique<Stream>(
          std::move(*cursor),
          own != threads_.end() ? own->second.times : times_[static_cast<size_t>(reader.rank())]);
    }

   private:
    const std::vector<Times>& times_;
    const Threads& threads_;
  };

  reader::TraceBuilder builder_;
  std::map<std::string, uint32_t> known_;
  std::vector<std::vector<uint32_t>> calls_;
  std::vector<Times> times_;
  Threads threads_;
};

// Nanoseconds of one pattern, without those that it contains, by rank.
inline std::vector<uint64_t> by_rank(const WaitStates& result, Pattern pattern) {
  std::vector<uint64_t> out(result.ranks.size());
  for (const Severity& s : result.severities)
    if (s.pattern == pattern) out[static_cast<size_t>(s.rank)] += s.ns;
  return out;
}

}  // namespace refrain::analysis::waits
