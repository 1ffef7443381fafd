// What the rows of a loop have in common: sums and means, outliers, the trend.

#include "analysis/iterations/numbers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "base/median.h"

namespace refrain::analysis {

namespace {

// An outlier is longer than the median by so many typical deviations, and by this part of it.
constexpr double kOutlierDeviations = 5, kOutlierShare = 0.2;

IterationStats stats_of(std::vector<double> values) {
  IterationStats out;
  if (values.empty()) return out;
  out.min = out.max = values[0];
  for (const double v : values) {
    out.sum += v;
    out.min = std::min(out.min, v);
    out.max = std::max(out.max, v);
  }
  out.mean = out.sum / static_cast<double>(values.size());
  out.median = base::median(std::span(values));
  return out;
}

// Slope, what it makes over all, and the fit of the straight line.
void put_trend(const std::vector<double>& values, IterationLoop& out) {
  const auto n = static_cast<double>(values.size());
  if (values.size() < 3 || out.duration_ns.mean <= 0) return;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - (n - 1) / 2, y = values[i] - out.duration_ns.mean;
    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  out.trend_ns = xy / xx;
  out.trend_share = out.trend_ns * (n - 1) / out.duration_ns.mean;
  out.trend_fit = yy > 0 ? xy * xy / (xx * yy) : 0;
}

}  // namespace

namespace iterations {

void put_numbers(IterationLoop& out) {
  std::vector<double> duration, mpi, waiting, bytes;
  for (size_t i = 0; i < out.rows.size(); ++i) {
    const IterationRow& row = out.rows[i];
    duration.push_back(static_cast<double>(row.longest_ns));
    mpi.push_back(row.mpi_ns);
    waiting.push_back(row.waiting_ns);
    bytes.push_back(static_cast<double>(row.bytes));
    if (row.longest_ns > out.rows[out.slowest].longest_ns) out.slowest = i;
  }
  out.duration_ns = stats_of(duration);
  out.mpi_ns = stats_of(mpi);
  out.waiting_ns = stats_of(waiting);
  out.bytes = stats_of(bytes);
  put_trend(duration, out);
  std::vector<double> deviations;
  deviations.reserve(duration.size());
  for (const double v : duration) deviations.push_back(std::abs(v - out.duration_ns.median));
  const double typical = 1.4826 * base::median(std::span(deviations));
  const double limit = out.duration_ns.median + std::max(kOutlierDeviations * typical,
                                                         kOutlierShare * out.duration_ns.median);
  for (size_t i = 0; i < duration.size(); ++i)
    if (duration[i] > limit) out.outliers.push_back(i);
}

}  // namespace iterations

bool IterationLoop::has_clear_trend() const {
  // A line that changes by more than twice the mean goes below zero within the run.
  constexpr double kLeastShare = 0.1, kMostShare = 2.0, kLeastFit = 0.5;
  // t*t / (t*t + n - 2) of n = 3 to 7 iterations, where t is what Student's distribution with n - 2
  // degrees of freedom exceeds in 5 % of cases, on both sides. Of 8 it is below kLeastFit.
  constexpr double kFitByChance[] = {0.994, 0.903, 0.772, 0.659, 0.570};
  const size_t n = rows.size();
  const double change = std::abs(trend_share);
  if (n < 3 || change < kLeastShare || change > kMostShare) return false;
  return trend_fit >= (n - 3 < std::size(kFitByChance) ? kFitByChance[n - 3] : kLeastFit);
}

}  // namespace refrain::analysis
