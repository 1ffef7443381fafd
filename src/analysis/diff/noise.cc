#include "analysis/diff/noise.h"

#include <algorithm>
#include <cmath>

namespace refrain::analysis::diff {
namespace {

constexpr double kLeastVariation = 0.1;  // histograms of powers of two tell no less
constexpr double kFewCalls = 4;
constexpr double kErrors = 2;
constexpr double kAlways = 0.25;

}  // namespace

double error_of(const CallTimes& times, double ranks) {
  const double calls = times.calls / std::max(1.0, ranks);
  if (calls < kFewCalls) return times.sum_ns;
  return std::min(1.0, std::max(kLeastVariation, times.variation()) / std::sqrt(std::sqrt(calls))) *
         times.sum_ns;
}

double error_of(const std::vector<double>& by_rank) {
  const auto n = static_cast<double>(by_rank.size());
  double sum = 0, squares = 0;
  for (const double v : by_rank) sum += v;
  if (by_rank.size() < 2) return sum;
  for (const double v : by_rank) squares += (v - sum / n) * (v - sum / n);
  return std::sqrt(squares / (n - 1) * n);
}

double noise_of(double before, double error_before, double after, double error_after) {
  return kErrors * std::hypot(error_before, error_after) + kAlways * std::max(before, after);
}

}  // namespace refrain::analysis::diff
