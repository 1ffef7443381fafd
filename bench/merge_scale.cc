// Merging at scale: ranks that never ran, merged in one process as MPI_Finalize merges them.
//
//   merge_scale [RANKS]      prints a row at 4096 and at RANKS (65536), and the growth between them
//
// The tree goes depth first, so that no more than log2(RANKS) partial traces are in memory.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/testing/patterns.h"

namespace {

using namespace refrain::format;

constexpr uint64_t kSmall = 4096;
constexpr uint64_t kIterations = 12;

struct Row {
  testing::MergeCost cost;
  double finish_seconds = 0;
  uint64_t file_bytes = 0, flat_bytes = 0;
  size_t groups = 0;
};

Row measure(uint64_t ranks, const std::function<RankRecord(uint64_t)>& rank) {
  Row row;
  PartialTrace partial = testing::merge_tree(0, ranks, ranks, rank, &row.cost);
  const auto begin = std::chrono::steady_clock::now();
  auto trace = finish(std::move(partial));
  if (!trace.ok()) return row;
  const auto bytes = encode(*trace);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (!bytes.ok()) return row;
  row.finish_seconds = taken.count();
  row.groups = trace->groups.size();
  row.file_bytes = row.flat_bytes = bytes->size();
  const auto sizes = section_sizes(*bytes, "merge_scale");
  for (const SectionSize& s : *sizes) {
    if (s.type == SectionType::kTotals) row.flat_bytes -= static_cast<uint64_t>(s.stored_bytes);
  }
  return row;
}

void print(const char* name, uint64_t ranks, const Row& r) {
  std::printf("%-16s %7llu %7zu %10llu %10llu %12llu %12llu %9.1f %9.1f %9.1f\n", name,
              static_cast<unsigned long long>(ranks), r.groups,
              static_cast<unsigned long long>(r.file_bytes),
              static_cast<unsigned long long>(r.flat_bytes),
              static_cast<unsigned long long>(r.cost.live_bytes),
              static_cast<unsigned long long>(r.cost.message_bytes),
              1e6 * r.cost.seconds / static_cast<double>(ranks), 1e3 * r.cost.root_seconds,
              1e3 * r.finish_seconds);
  std::fflush(stdout);
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }
double ratio(uint64_t a, uint64_t b) {
  return ratio(static_cast<double>(a), static_cast<double>(b));
}

// The sides of a mesh with that many ranks, a power of two, in so many dimensions.
std::vector<int64_t> sides(uint64_t ranks, size_t dimensions) {
  std::vector<int64_t> dims(dimensions, 1);
  for (size_t i = 0; ranks > 1; ranks /= 2, ++i) dims[i % dimensions] *= 2;
  return dims;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t large = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 65536;
  if (large < 2 * kSmall || (large & (large - 1)) != 0) {
    std::fprintf(stderr, "merge_scale: a power of two above %llu, please\n",
                 static_cast<unsigned long long>(kSmall));
    return 2;
  }
  std::printf("%-16s %7s %7s %10s %10s %12s %12s %9s %9s %9s\n", "program", "ranks", "groups",
              "bytes", "no totals", "live bytes", "message", "us/rank", "root ms", "finish ms");
  const std::vector<std::pair<const char*, std::function<RankRecord(uint64_t, uint64_t)>>>
      programs = {
          {"halo 3D",
           [](uint64_t rank, uint64_t ranks) {
             return testing::pattern("halo 3D").program(rank, sides(ranks, 3), kIterations);
           }},
          {"halo 3D periodic",
           [](uint64_t rank, uint64_t ranks) {
             return testing::pattern("halo 3D periodic")
                 .program(rank, sides(ranks, 3), kIterations);
           }},
          {"sweep 2D",
           [](uint64_t rank, uint64_t ranks) {
             return testing::pattern("sweep 2D").program(rank, sides(ranks, 2), kIterations);
           }},
          {"irregular",
           [](uint64_t rank, uint64_t ranks) { return testing::irregular(rank, ranks); }},
      };
  for (const auto& [name, program] : programs) {
    Row rows[2];
    for (int i = 0; i < 2; ++i) {
      const uint64_t ranks = i == 0 ? kSmall : large;
      rows[i] = measure(ranks, [&, &run = program](uint64_t r) { return run(r, ranks); });
      print(name, ranks, rows[i]);
    }
    std::printf("%-16s %6.0fx %6.2fx %9.2fx %9.2fx %11.2fx %11.2fx %8.2fx %8.2fx %8.2fx\n",
                "  growth", ratio(large, kSmall), ratio(rows[1].groups, rows[0].groups),
                ratio(rows[1].file_bytes, rows[0].file_bytes),
                ratio(rows[1].flat_bytes, rows[0].flat_bytes),
                ratio(rows[1].cost.live_bytes, rows[0].cost.live_bytes),
                ratio(rows[1].cost.message_bytes, rows[0].cost.message_bytes),
                ratio(rows[1].cost.seconds / static_cast<double>(large),
                      rows[0].cost.seconds / static_cast<double>(kSmall)),
                ratio(rows[1].cost.root_seconds, rows[0].cost.root_seconds),
                ratio(rows[1].finish_seconds, rows[0].finish_seconds));
  }
  return 0;
}
