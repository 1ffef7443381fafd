#include "tracer/calls/forwarded_functions.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "tracer/state/complain.h"
#include "tracer/state/current.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

constexpr uint32_t kMaxForwarded = 1024;  // functions; the last one counts for all behind it

// Of a rank.
struct ForwardedCounts {
  std::atomic<uint64_t> calls[kMaxForwarded] = {};
};

}  // namespace

// In the spool the count is the power of two below it, so that a loop leaves no record per call.
void count_forwarded(Process& p, uint32_t function) {
  std::atomic<uint64_t>& calls =
      of_this_process<ForwardedCounts>().calls[std::min(function, kMaxForwarded - 1)];
  const uint64_t n = calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if ((n & (n - 1)) != 0 || p.sink == nullptr) return;
  const Process::Guard guard(p);
  p.sink->loss(kUnknownFunction, n == 1 ? 1 : n / 2, kForwardedNames[function]);
}

void add_forwarded(std::vector<format::LossRecord>& losses, int rank) {
  const ForwardedCounts& counts = of_this_process<ForwardedCounts>();
  for (uint32_t i = 0; i < std::min(kForwardedCount, kMaxForwarded); ++i)
    if (const uint64_t n = counts.calls[i].load(std::memory_order_relaxed); n > 0)
      losses.push_back({kUnknownFunction, n, rank, kForwardedNames[i]});
}

// A user who sees nothing of this would take the trace for whole.
void name_unknown_functions(const Process& p, const std::vector<format::LossRecord>& losses) {
  uint64_t calls = 0, functions = 0;
  std::string first;
  for (const format::LossRecord& loss : losses) {
    if (loss.reason != kUnknownFunction) continue;
    if (functions++ == 0) first = loss.detail;
    calls += loss.calls;
  }
  if (functions == 0 || p.options.quiet) return;
  const std::string others =
      functions == 1 ? "" : " and " + std::to_string(functions - 1) + " other functions";
  say("%llu calls of %s%s are not in the trace: this recorder does not know what "
      "their parameters mean; `refrain info` counts them",
      static_cast<unsigned long long>(calls), first.c_str(), others.c_str());
}

}  // namespace refrain::tracer
