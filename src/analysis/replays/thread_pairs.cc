#include "analysis/replays/thread_pairs.h"

#include <utility>
#include <vector>

namespace refrain::analysis {

bool compare_threads(size_t threads, const CompareThreads& compare, ReplayComparison& out) {
  std::vector<bool> is_taken(threads);
  const auto fits = [&](uint32_t thread, uint32_t again_thread) {
    ReplayComparison found = out;
    if (is_taken[again_thread] || !compare(thread, again_thread, found)) return false;
    if (thread != again_thread) ++found.allowed[static_cast<size_t>(Allowed::kNumbers)];
    out = std::move(found);
    is_taken[again_thread] = true;
    return true;
  };
  for (uint32_t thread = 0; thread < threads; ++thread) {
    bool is_found = fits(thread, thread);
    for (uint32_t other = 1; thread > 0 && other < threads && !is_found; ++other)
      is_found = other != thread && fits(thread, other);
    if (is_found) continue;
    // As many as threads have numbers, so one is left.
    uint32_t left = thread;
    for (uint32_t other = 0; is_taken[left] && other < threads; ++other) left = other;
    return compare(thread, left, out);
  }
  return true;
}

}  // namespace refrain::analysis
