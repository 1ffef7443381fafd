// Simulation at scale: sweeps like those of LU (NAS), of ranks that never ran, on a crossbar.
//
//   simulate_scale [--calls N] [--out FILE] [RANKS ...]     2 000 000 calls in all; 16 64 256 ranks
//
// Prints a row for each number of ranks: calls, CPU time, ns a call, events a second, and the heap
// that the simulation takes beside the trace; --out writes the rows as CSV. LU of class C makes
// 7.7e7 calls on 256 ranks (PHANTOM, table 5).

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "counted_heap.h"
#include "format/encode/encode.h"
#include "format/testing/patterns.h"
#include "refrain/trace.h"
#include "sim/machine/machine.h"
#include "sim/run/simulate.h"

namespace {

using namespace refrain;

constexpr const char* kMachine = R"(version = 1
[distance.switch]
eager_limit = 65536
[[distance.switch.range]]
L = 1500
o_send = 300
o_recv = 300
g = 50
G = 0.1
)";

Result<Trace> make_trace(uint64_t ranks, uint64_t calls) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(ranks))));
  const std::vector<int64_t> dims = {static_cast<int64_t>(ranks) / side, side};
  const uint64_t iterations = calls / (4 * ranks);
  const auto rank = [&](uint64_t r) {
    return format::testing::pattern("sweep 2D").program(r, dims, iterations);
  };
  auto data = format::finish(format::testing::merge_tree(0, ranks, ranks, rank));
  if (!data.ok()) return data.error();
  const auto bytes = format::encode(*data);
  if (!bytes.ok()) return bytes.error();
  return Trace::from_bytes(*bytes, "sweep");
}

// Of the heap, since it was asked last.
double peak_mib() {
  const double peak = static_cast<double>(g_heap_peak) / (1 << 20);
  g_heap_peak = g_heap;
  return peak;
}

bool measure(uint64_t ranks, uint64_t calls, std::string& csv) {
  const auto trace = make_trace(ranks, calls);
  const auto machine = sim::parse_machine(kMachine, "bench");
  if (!trace.ok() || !machine.ok()) return false;
  peak_mib();
  const double before = peak_mib();
  const double begin = format::testing::cpu_seconds();
  const auto simulation = sim::simulate(*trace, *machine, {});
  const double seconds = format::testing::cpu_seconds() - begin;
  const double mib = peak_mib() - before;
  if (!simulation.ok() || !simulation->deadlock.empty()) return false;
  const auto all = static_cast<double>(simulation->calls);
  char row[200];
  std::snprintf(row, sizeof row, "%7llu %12.0f %9.2f %9.1f %12.0f %9.1f\n",
                static_cast<unsigned long long>(ranks), all, seconds, 1e9 * seconds / all,
                static_cast<double>(simulation->events) / seconds, mib);
  std::fputs(row, stdout);
  std::fflush(stdout);
  std::snprintf(row, sizeof row, "%llu,%.0f,%.3f,%.1f,%.0f,%.1f\n",
                static_cast<unsigned long long>(ranks), all, seconds, 1e9 * seconds / all,
                static_cast<double>(simulation->events) / seconds, mib);
  csv += row;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t calls = 2'000'000;
  const char* out = nullptr;
  std::vector<uint64_t> ranks;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--calls" && i + 1 < argc)
      calls = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--out" && i + 1 < argc)
      out = argv[++i];
    else
      ranks.push_back(std::strtoull(argv[i], nullptr, 10));
  }
  if (ranks.empty()) ranks = {16, 64, 256};
  std::printf("%7s %12s %9s %9s %12s %9s\n", "ranks", "calls", "CPU s", "ns/call", "events/s",
              "MiB");
  std::string csv = "ranks,calls,seconds,ns_per_call,events_per_s,mib\n";
  for (const uint64_t n : ranks)
    if (n < 2 || !measure(n, calls, csv)) {
      std::fprintf(stderr, "simulate_scale: %llu ranks could not be simulated\n",
                   static_cast<unsigned long long>(n));
      return 1;
    }
  if (out == nullptr) return 0;
  std::FILE* const file = std::fopen(out, "w");
  const bool good = file != nullptr && std::fwrite(csv.data(), 1, csv.size(), file) == csv.size();
  if (file == nullptr || std::fclose(file) != 0 || !good) {
    std::fprintf(stderr, "simulate_scale: cannot write %s\n", out);
    return 1;
  }
  std::printf("written: %s\n", out);
  return 0;
}
