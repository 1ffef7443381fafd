// A stencil on a mesh of ranks as a trace, whose kinds of ranks are known. For tests.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reader/test_trace.h"

namespace refrain::analysis::clusters {

struct TestMesh {
  uint64_t columns = 6, rows = 5;
  uint64_t iterations = 10;
  bool skips_borders = false;  // no calls there, instead of ones with MPI_PROC_NULL
  bool has_times = false;      // of single calls: rank r needs 1000 + r % 7 ns for each
  // Elements of a message: more in the lower half.
  int64_t count = 64, more_below = 0;

  uint64_t ranks() const { return columns * rows; }
  reader::TraceBuilder build() const;
};

inline reader::TraceBuilder TestMesh::build() const {
  using reader::ShapeWriter;
  reader::TraceBuilder b(ranks());
  const uint32_t world = b.world(), type = b.predefined_type("MPI_DOUBLE", 8);
  std::array<uint32_t, 9> sites{};
  for (size_t i = 0; i < sites.size(); ++i)
    sites[i] = b.site("/app", "ab", 16 * static_cast<int64_t>(i));
  const auto w = static_cast<int64_t>(columns);
  const int64_t steps[] = {-w, -1, 1, w};
  std::map<std::vector<int64_t>, uint32_t> known;
  const auto message = [&](size_t side, bool sends, bool has_peer, int64_t n) {
    const auto [at, is_new] =
        known.try_emplace({static_cast<int64_t>(side), sends ? 1 : 0, has_peer ? 1 : 0, n}, 0u);
    if (!is_new) return at->second;
    ShapeWriter s(sends ? "MPI_Send" : "MPI_Recv");
    s.object(sites[side + (sends ? 4 : 0)]).heap(1, 0).integer(n).object(type);
    if (has_peer)
      s.integer(reader::me_plus(steps[side]));
    else
      s.constant("MPI_PROC_NULL");
    s.integer(static_cast<int64_t>(sends ? 3 - side : side)).object(world);
    if (!sends) s.constant("MPI_STATUS_IGNORE");
    return at->second = b.signature(s);
  };
  ShapeWriter all("MPI_Barrier");
  const uint32_t barrier = b.signature(all.object(sites[8]).object(world));
  std::map<std::vector<uint32_t>, std::vector<int64_t>> groups;
  std::vector<size_t> calls_of(ranks());
  for (uint64_t r = 0; r < ranks(); ++r) {
    const uint64_t x = r % columns, y = r / columns;
    const bool peers[] = {y > 0, x > 0, x + 1 < columns, y + 1 < rows};
    const int64_t n = count + (2 * y >= rows ? more_below : 0);
    std::vector<uint32_t> once, calls;
    for (const bool sends : {true, false})
      for (size_t side = 0; side < 4; ++side)
        if (peers[side] || !skips_borders) once.push_back(message(side, sends, peers[side], n));
    for (uint64_t i = 0; i < iterations; ++i) calls.insert(calls.end(), once.begin(), once.end());
    calls.push_back(barrier);
    calls_of[r] = calls.size();
    groups[calls].push_back(static_cast<int64_t>(r));
    b.data().totals[r].in_mpi_ns = calls.size() * (1000 + r % 7);
    b.data().totals[r].outside_ns = 500'000 + r % 7;
  }
  for (const auto& [calls, of] : groups) b.group(of, calls);
  for (format::DurationStats& d : b.data().durations) {
    d.min_ns = 1000;
    d.max_ns = 1006;
    d.sum_ns = 1003 * static_cast<double>(d.count);
  }
  for (uint64_t r = 0; r < ranks() && has_times; ++r) {
    std::vector<std::pair<uint64_t, uint64_t>> times;
    for (uint64_t i = 0; i < calls_of[r]; ++i)
      times.emplace_back(2000 * i, 2000 * i + 1000 + r % 7);
    b.times(r, times);
  }
  return b;
}

}  // namespace refrain::analysis::clusters
