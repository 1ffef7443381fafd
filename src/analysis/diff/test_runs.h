// Runs made by hand, for tests: a program is a list of calls with loops.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reader/test_trace.h"

namespace refrain::analysis::diff {

using reader::fixed;
using reader::me_plus_mod_size;
using reader::ShapeWriter;
using reader::TraceBuilder;

// One module whose sites are offsets in it.
class MadeRun {
 public:
  explicit MadeRun(uint64_t ranks, std::string build_id = "ab", std::string module = "/bin/app")
      : ranks_(ranks), builder_(ranks), build_id_(std::move(build_id)), module_(std::move(module)) {
    world_ = builder_.world();
    type_ = builder_.predefined_type("MPI_DOUBLE", 8);
  }

  uint32_t site(int64_t offset) { return builder_.site(module_, build_id_, offset); }
  // A call by the path main (offset 1) > offset.
  ShapeWriter at(const char* call, int64_t offset) {
    ShapeWriter shape(call);
    if (main_ == kNoDefinition) main_ = site(1);
    const auto [path, is_new] = paths_.try_emplace(offset, 0);
    if (is_new) path->second = builder_.path({site(offset), main_});
    shape.object(path->second);
    return shape;
  }
  uint32_t send(int64_t offset, format::RankExpr dest, int64_t count, int64_t tag = 7) {
    ShapeWriter s = at("MPI_Send", offset);
    s.none().integer(count).object(type_).integer(dest).integer(tag).object(world_);
    return builder_.signature(s);
  }
  // Into the window of all ranks.
  uint32_t put(int64_t offset, format::RankExpr target, int64_t count) {
    if (window_ == kNoDefinition) {
      base::ByteWriter id;
      id.put_zigzag(0);
      window_ = builder_.define(format::DefinitionKind::kWin, id.take(), {world_});
    }
    ShapeWriter s = at("MPI_Put", offset);
    s.none().integer(count).object(type_).integer(target).integer(0).integer(count);
    s.object(type_).object(window_);
    return builder_.signature(s);
  }
  uint32_t bcast(int64_t offset, int64_t root, int64_t count) {
    ShapeWriter s = at("MPI_Bcast", offset);
    s.none().integer(count).object(type_).integer(root).object(world_);
    return builder_.signature(s);
  }
  uint32_t allreduce(int64_t offset, int64_t count) {
    ShapeWriter s = at("MPI_Allreduce", offset);
    s.none().none().integer(count).object(type_).constant("MPI_SUM").object(world_);
    return builder_.signature(s);
  }
  uint32_t barrier(int64_t offset) {
    ShapeWriter s = at("MPI_Barrier", offset);
    s.object(world_);
    return builder_.signature(s);
  }
  uint32_t test(int64_t offset) {
    ShapeWriter s = at("MPI_Test", offset);
    s.none().integer(0).none();
    return builder_.signature(s);
  }
  // What all ranks do.
  void program(const std::vector<uint32_t>& calls) {
    std::vector<int64_t> all;
    for (uint64_t r = 0; r < ranks_; ++r) all.push_back(static_cast<int64_t>(r));
    group(all, calls);
  }
  void group(const std::vector<int64_t>& ranks, const std::vector<uint32_t>& calls) {
    builder_.group(ranks, calls);
  }
  TraceBuilder& builder() { return builder_; }
  Trace open() const { return builder_.open(); }

 private:
  uint64_t ranks_;
  TraceBuilder builder_;
  std::string build_id_, module_;
  std::map<int64_t, uint32_t> paths_;  // every definition is there once, as in a file
  uint32_t world_ = 0, type_ = 0, main_ = kNoDefinition, window_ = kNoDefinition;
};

inline std::vector<uint32_t> repeat(const std::vector<uint32_t>& body, size_t times) {
  std::vector<uint32_t> out;
  for (size_t i = 0; i < times; ++i) out.insert(out.end(), body.begin(), body.end());
  return out;
}
inline std::vector<uint32_t> joined(std::vector<uint32_t> a, const std::vector<uint32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Random loops of random calls, in two groups of ranks, from few places of one program: two seeds
// share places, parameters and partners, and differ in others.
inline MadeRun random_run(uint32_t seed, uint64_t ranks) {
  std::mt19937 random(seed);
  const auto below = [&random](uint64_t n) { return static_cast<int64_t>(random() % n); };
  MadeRun run(ranks);
  std::vector<int64_t> halves[2];
  for (uint64_t r = 0; r < ranks; ++r) halves[r % 2].push_back(static_cast<int64_t>(r));
  for (const std::vector<int64_t>& half : halves) {
    std::vector<uint32_t> signatures, calls;
    for (int i = 0; i < 6; ++i) {
      const int64_t offset = 16 + below(4);
      switch (below(5)) {
        case 0: signatures.push_back(run.send(offset, me_plus_mod_size(below(3)), below(4))); break;
        case 1: signatures.push_back(run.send(offset, fixed(below(ranks)), 2, below(3))); break;
        case 2: signatures.push_back(run.bcast(offset, below(ranks), 1 + below(3))); break;
        case 3: signatures.push_back(run.test(offset)); break;
        default: signatures.push_back(run.allreduce(offset, below(3)));
      }
    }
    for (int i = 0; i < 4; ++i) {
      std::vector<uint32_t> body;
      for (int64_t n = 1 + below(4); n > 0; --n)
        body.push_back(signatures[static_cast<size_t>(below(signatures.size()))]);
      calls = joined(calls, repeat(body, 1 + static_cast<size_t>(below(9))));
    }
    run.group(half, calls);
  }
  for (format::DurationStats& stats : run.builder().data().durations) {
    stats.min_ns = 1;
    stats.max_ns = 900;
    stats.sum_ns = static_cast<double>(stats.count * static_cast<uint64_t>(50 + below(50)));
    stats.histogram.add(6, stats.count);
  }
  for (format::RankTotals& totals : run.builder().data().totals) totals = {1000, 5000, {}};
  return run;
}

}  // namespace refrain::analysis::diff
