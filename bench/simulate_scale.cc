// Simulation at scale: waves there and back like those of LU (NAS), of ranks that never ran, on a
// crossbar.
//
//   simulate_scale [--calls N] [--planes N] [--skip PERCENT] [--keep TRACE] [--out FILE]
//                  [RANKS ...]
//
// 2 000 000 calls in all, 20 waves each way in a time step; 16 64 256 ranks. Prints a row for each
// number of ranks: calls, predicted time, CPU time, ns a call, events a second, and the heap that
// the simulation takes beside the trace; --out writes the rows as CSV, --keep the last trace. With
// --skip, a second row has what leaving out iterations gives, and how far it is off. LU of class C
// makes 7.7e7 calls on 256 ranks, with 160 planes (PHANTOM, table 5).

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "format/encode/encode.h"
#include "format/testing/counted_heap.h"
#include "format/testing/patterns.h"
#include "refrain/trace.h"
#include "sim/machine/machine.h"
#include "sim/run/simulate.h"
#include "sim/testing/programs.h"

namespace {

using namespace refrain;

Result<Trace> make_trace(uint64_t ranks, uint64_t calls, uint64_t planes, const char* keep) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(ranks))));
  const std::vector<int64_t> dims = {static_cast<int64_t>(ranks) / side, side};
  // Each pair of neighbours has a send and a receive in each plane there and back.
  const auto pairs = static_cast<uint64_t>(2 * dims[0] * dims[1] - dims[0] - dims[1]);
  const uint64_t steps = calls / (4 * pairs * planes + ranks);
  const auto rank = [&](uint64_t r) { return sim::testing::lu(r, dims, steps, planes); };
  auto data = sim::testing::merged(ranks, rank);
  if (!data.ok()) return data.error();
  const auto bytes = format::encode(*data);
  if (!bytes.ok()) return bytes.error();
  if (keep != nullptr)
    if (const auto done = format::write_file_atomically(keep, *bytes); !done.ok())
      return done.error();
  return Trace::from_bytes(*bytes, "waves");
}

// Of the heap, since it was asked last.
double peak_mib() {
  const double peak = static_cast<double>(heap.most) / (1 << 20);
  heap.most = heap.now;
  return peak;
}

struct Row {
  double calls = 0, predicted_ns = 0, seconds = 0, events = 0, mib = 0, skipped = 0;
};

bool measure(const Trace& trace, double skip_percent, Row& row) {
  const auto machine = sim::parse_machine(sim::testing::kSwitchMachine, "bench");
  if (!machine.ok()) return false;
  sim::SimulateOptions options;
  options.skip_share = skip_percent / 100;
  peak_mib();
  const double before = peak_mib();
  const double begin = format::testing::cpu_seconds();
  const auto simulation = sim::simulate(trace, *machine, options);
  row.seconds = format::testing::cpu_seconds() - begin;
  row.mib = peak_mib() - before;
  if (!simulation.ok() || !simulation->deadlock.empty()) return false;
  if (!simulation->not_skipped.empty())
    std::printf("        not skipped: %s\n", simulation->not_skipped.c_str());
  row.calls = static_cast<double>(simulation->calls);
  row.predicted_ns = static_cast<double>(simulation->predicted_ns);
  row.events = static_cast<double>(simulation->events);
  row.skipped = static_cast<double>(simulation->skipped_calls);
  return true;
}

void print(uint64_t ranks, const Row& row, const Row& whole, std::string& csv) {
  const double off = 100 * (row.predicted_ns / whole.predicted_ns - 1);
  char text[200];
  std::snprintf(text, sizeof text, "%7llu %12.0f %12.0f %10.6f %8.4f %9.2f %8.1f %11.0f %8.1f\n",
                static_cast<unsigned long long>(ranks), row.calls, row.skipped,
                1e-9 * row.predicted_ns, off, row.seconds, 1e9 * row.seconds / row.calls,
                row.events / row.seconds, row.mib);
  std::fputs(text, stdout);
  std::fflush(stdout);
  std::snprintf(text, sizeof text, "%llu,%.0f,%.0f,%.0f,%.4f,%.3f,%.1f,%.0f,%.1f\n",
                static_cast<unsigned long long>(ranks), row.calls, row.skipped, row.predicted_ns,
                off, row.seconds, 1e9 * row.seconds / row.calls, row.events / row.seconds, row.mib);
  csv += text;
}

bool measure(uint64_t ranks, uint64_t calls, uint64_t planes, double skip_percent, const char* keep,
             std::string& csv) {
  const auto trace = make_trace(ranks, calls, planes, keep);
  Row whole, skipped;
  if (!trace.ok() || !measure(*trace, 0, whole)) return false;
  print(ranks, whole, whole, csv);
  if (skip_percent <= 0) return true;
  if (!measure(*trace, skip_percent, skipped)) return false;
  print(ranks, skipped, whole, csv);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t calls = 2'000'000, planes = 20;
  double skip_percent = 0;
  const char *out = nullptr, *keep = nullptr;
  std::vector<uint64_t> ranks;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--calls" && i + 1 < argc)
      calls = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--planes" && i + 1 < argc)
      planes = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--keep" && i + 1 < argc)
      keep = argv[++i];
    else if (word == "--skip" && i + 1 < argc)
      skip_percent = std::strtod(argv[++i], nullptr);
    else if (word == "--out" && i + 1 < argc)
      out = argv[++i];
    else
      ranks.push_back(std::strtoull(argv[i], nullptr, 10));
  }
  if (ranks.empty()) ranks = {16, 64, 256};
  std::printf("%7s %12s %12s %10s %8s %9s %8s %11s %8s\n", "ranks", "calls", "skipped", "seconds",
              "off %", "CPU s", "ns/call", "events/s", "MiB");
  std::string csv =
      "ranks,calls,skipped_calls,predicted_ns,off_percent,seconds,ns_per_call,events_per_s,mib\n";
  for (const uint64_t n : ranks)
    if (n < 2 || planes == 0 || !measure(n, calls, planes, skip_percent, keep, csv)) {
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
