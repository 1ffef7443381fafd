// Merging at scale: ranks that never ran, merged in one process as MPI_Finalize merges them.
//
//   merge_scale [--out FILE] [RANKS]     RANKS: the most, a power of two, 65536 if not said
//
// Prints a row for each program at 4096 ranks, at 16384 and so on up to RANKS, and how each number
// has grown since the row before; --out writes the rows as CSV. The tree goes depth first, so that
// no more than log2(RANKS) partial traces are in memory.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/testing/counted_heap.h"
#include "format/testing/patterns.h"

namespace {

using namespace refrain::format;

uint64_t heap_now() { return static_cast<uint64_t>(heap.now); }
uint64_t heap_peak() {
  const uint64_t peak = static_cast<uint64_t>(heap.most);
  heap.most = heap.now;
  return peak;
}

constexpr uint64_t kSmallest = 4096, kStep = 4;
constexpr uint64_t kIterations = 12;

// In the order of the columns.
constexpr const char* kColumns[] = {"groups",       "bytes",       "no totals", "node bytes",
                                    "finish bytes", "us per rank", "root ms",   "finish ms"};
constexpr size_t kNumbers = std::size(kColumns);
constexpr size_t kFirstTime = 5;
using Row = std::vector<double>;

Row measure(uint64_t ranks, const std::function<RankRecord(uint64_t)>& rank) {
  testing::MergeCost cost;
  cost.heap_now = heap_now;
  cost.heap_peak = heap_peak;
  PartialTrace partial = testing::merge_tree(0, ranks, ranks, rank, &cost);
  heap_peak();
  const double begin = testing::cpu_seconds();
  auto trace = finish(std::move(partial));
  if (!trace.ok()) return Row(kNumbers);
  const auto bytes = encode(*trace);
  const double finish_ms = 1e3 * (testing::cpu_seconds() - begin);
  if (!bytes.ok()) return Row(kNumbers);
  const uint64_t finish_bytes = heap_peak();
  double flat = static_cast<double>(bytes->size());
  const auto sizes = section_sizes(*bytes, "merge_scale");
  for (const SectionSize& s : *sizes) {
    if (s.type == SectionType::kTotals) flat -= s.stored_bytes;
  }
  return {static_cast<double>(trace->groups.size()),
          static_cast<double>(bytes->size()),
          flat,
          static_cast<double>(cost.node_bytes),
          static_cast<double>(finish_bytes),
          1e6 * cost.seconds / static_cast<double>(ranks),
          1e3 * cost.root_seconds,
          finish_ms};
}

void print(const std::string& name, const std::string& ranks, const Row& row, const char* times,
           const char* counts) {
  std::printf("%-16s %7s", name.c_str(), ranks.c_str());
  for (size_t i = 0; i < row.size(); ++i) std::printf(i < kFirstTime ? counts : times, row[i]);
  std::printf("\n");
  std::fflush(stdout);
}

// The sides of a mesh with that many ranks, a power of two, in so many dimensions.
std::vector<int64_t> sides(uint64_t ranks, size_t dimensions) {
  std::vector<int64_t> dims(dimensions, 1);
  for (size_t i = 0; ranks > 1; ranks /= 2, ++i) dims[i % dimensions] *= 2;
  return dims;
}

using RunRank = std::function<RankRecord(uint64_t rank, uint64_t ranks)>;

RunRank on_mesh(const char* pattern, size_t dimensions) {
  return [=](uint64_t rank, uint64_t ranks) {
    return testing::pattern(pattern).program(rank, sides(ranks, dimensions), kIterations);
  };
}

bool write_csv(const char* path, const std::string& text) {
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return false;
  const bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && good;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t most = 65536;
  const char* out = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--out" && i + 1 < argc)
      out = argv[++i];
    else
      most = std::strtoull(argv[i], nullptr, 10);
  }
  if (most < kSmallest || (most & (most - 1)) != 0) {
    std::fprintf(stderr, "merge_scale: a power of two from %llu on, please\n",
                 static_cast<unsigned long long>(kSmallest));
    return 2;
  }
  std::printf("%-16s %7s", "program", "ranks");
  std::string csv = "program,ranks";
  for (const char* column : kColumns) {
    std::printf(" %12s", column);
    csv += std::string(",") + column;
  }
  std::printf("\n");
  csv += '\n';
  const std::pair<const char*, RunRank> programs[] = {
      {"halo 3D", on_mesh("halo 3D", 3)},
      {"halo 3D periodic", on_mesh("halo 3D periodic", 3)},
      {"sweep 2D", on_mesh("sweep 2D", 2)},
      {"irregular", testing::irregular},
  };
  for (const auto& [name, program] : programs) {
    Row before;
    for (uint64_t ranks = kSmallest; ranks <= most; ranks *= kStep) {
      const Row row = measure(ranks, [&, &run = program](uint64_t r) { return run(r, ranks); });
      print(name, std::to_string(ranks), row, " %12.1f", " %12.0f");
      csv += std::string(name) + "," + std::to_string(ranks);
      char text[32];
      for (size_t i = 0; i < row.size(); ++i) {
        std::snprintf(text, sizeof text, i < kFirstTime ? ",%.0f" : ",%.1f", row[i]);
        csv += text;
      }
      csv += '\n';
      Row growth;
      for (size_t i = 0; i < before.size(); ++i)
        growth.push_back(before[i] > 0 ? row[i] / before[i] : 0);
      if (!growth.empty())
        print("  growth", std::to_string(kStep) + "x", growth, " %11.2fx", " %11.2fx");
      before = row;
    }
  }
  if (out != nullptr && !write_csv(out, csv)) {
    std::fprintf(stderr, "merge_scale: cannot write %s\n", out);
    return 1;
  }
  if (out != nullptr) std::printf("written: %s\n", out);
  return 0;
}
