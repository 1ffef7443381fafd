#include "analysis/iterations/likeness.h"

#include <algorithm>
#include <cstddef>

namespace refrain::analysis::iterations {
namespace {

constexpr double kLikeEnough = 0.3;  // of the calls of two loops, that both make
constexpr double kAsMany = 1.25;     // the largest ratio of two numbers that are about equal

bool as_many(double a, double b) { return std::max(a, b) <= kAsMany * std::min(a, b); }

double common_part(const LocalLoop& a, const LocalLoop& b, size_t both) {
  const size_t all = a.calls.size() + b.calls.size() - both;
  return all == 0 ? 0 : static_cast<double>(both) / static_cast<double>(all);
}

// Whether a call that both make comes as often in an iteration of one as in one of the other. Ten
// steps of a program are no iteration of a rank that takes one step in each.
bool has_common_pace(const LocalLoop& a, const LocalLoop& b) {
  for (const auto& [key, count] : a.calls) {
    const auto other = b.calls.find(key);
    if (other != b.calls.end() &&
        as_many(static_cast<double>(count) * static_cast<double>(b.iterations),
                static_cast<double>(other->second) * static_cast<double>(a.iterations)))
      return true;
  }
  return false;
}

}  // namespace

double likeness(const LocalLoop& a, uint64_t iterations, const LocalLoop& b, size_t both) {
  const double part = common_part(a, b, both);
  if (part < kLikeEnough) return 0;
  const bool is_as_long =
      as_many(static_cast<double>(iterations), static_cast<double>(b.iterations));
  return is_as_long || has_common_pace(a, b) ? part : 0;
}

void LoopsByCall::add(size_t loop, const LocalLoop& calls) {
  for (const auto& [key, count] : calls.calls) loops_[key].push_back(loop);
}

std::vector<std::pair<size_t, size_t>> LoopsByCall::sharing(const LocalLoop& loop) const {
  std::vector<size_t> all;
  for (const auto& [key, count] : loop.calls)
    if (const auto known = loops_.find(key); known != loops_.end())
      all.insert(all.end(), known->second.begin(), known->second.end());
  std::sort(all.begin(), all.end());
  std::vector<std::pair<size_t, size_t>> out;
  for (const size_t one : all) {
    if (out.empty() || out.back().first != one) out.emplace_back(one, 0);
    ++out.back().second;
  }
  return out;
}

}  // namespace refrain::analysis::iterations
