#include "similarity/cluster.h"

#include <algorithm>
#include <cmath>

namespace refrain::similarity {
namespace {

// Where in the array the parts are.
struct Parts {
  const double* sum;
  const double* low;
  const double* high;
  const double* low_interval;
  const double* high_interval;

  Parts(const double* c, size_t n)
      : sum(c), low(c + n), high(c + 2 * n), low_interval(c + 3 * n), high_interval(c + 4 * n) {}
};

}  // namespace

void cluster_of_one(const double* stamps, size_t n, bool wide, double* out) {
  for (size_t i = 0; i < n; ++i) out[i] = out[n + i] = out[2 * n + i] = stamps[i];
  if (!wide) return;
  double before = 0;
  for (size_t i = 0; i < n; ++i) {
    out[3 * n + i] = out[4 * n + i] = stamps[i] - before;
    before = stamps[i];
  }
}

bool cluster_fits(const double* a, uint64_t a_count, const double* b, uint64_t b_count, size_t n,
                  const Tolerance& tolerance) {
  const Parts x(a, n);
  const Parts y(b, n);
  const double share = 1 / static_cast<double>(a_count + b_count);
  const double shortest = std::min(x.low[n - 1], y.low[n - 1]);
  const double stamp_limit = tolerance.ratio * shortest + tolerance.noise_ns;
  const double floor = tolerance.floor_share * tolerance.ratio * shortest + tolerance.noise_ns;
  const double length = (x.sum[n - 1] + y.sum[n - 1]) * share;
  // Most segments that do not fit have another length.
  if (std::max(x.high[n - 1], y.high[n - 1]) - length > stamp_limit ||
      length - shortest > stamp_limit)
    return false;
  double before = 0;
  for (size_t i = 0; i < n; ++i) {
    const double mean = (x.sum[i] + y.sum[i]) * share;
    const double interval = mean - before;
    before = mean;
    const double low = std::min(x.low_interval[i], y.low_interval[i]);
    const double high = std::max(x.high_interval[i], y.high_interval[i]);
    if (high - interval > std::max(tolerance.ratio * high, floor) ||
        interval - low > std::max(tolerance.ratio * low, floor))
      return false;
    if (std::max(x.high[i], y.high[i]) - mean > stamp_limit ||
        mean - std::min(x.low[i], y.low[i]) > stamp_limit)
      return false;
  }
  return true;
}

bool means_fit(const double* a, uint64_t a_count, const double* b, uint64_t b_count, size_t n,
               const Tolerance& tolerance) {
  const double a_share = 1 / static_cast<double>(a_count);
  const double b_share = 1 / static_cast<double>(b_count);
  const double shorter = std::min(a[n - 1] * a_share, b[n - 1] * b_share);
  const double stamp_limit = tolerance.ratio * shorter + tolerance.noise_ns;
  const double floor = tolerance.floor_share * tolerance.ratio * shorter + tolerance.noise_ns;
  double a_before = 0;
  double b_before = 0;
  for (size_t i = 0; i < n; ++i) {
    const double a_mean = a[i] * a_share;
    const double b_mean = b[i] * b_share;
    const double least = std::min(a_mean - a_before, b_mean - b_before);
    const double difference = std::fabs((a_mean - a_before) - (b_mean - b_before));
    if (difference > std::max(tolerance.ratio * least, floor) ||
        std::fabs(a_mean - b_mean) > stamp_limit)
      return false;
    a_before = a_mean;
    b_before = b_mean;
  }
  return true;
}

void cluster_unite(double* a, const double* b, size_t n, bool wide) {
  for (size_t i = 0; i < n; ++i) a[i] += b[i];
  for (size_t i = n; i < 2 * n; ++i) a[i] = std::min(a[i], b[i]);
  for (size_t i = 2 * n; i < 3 * n; ++i) a[i] = std::max(a[i], b[i]);
  if (!wide) return;
  for (size_t i = 3 * n; i < 4 * n; ++i) a[i] = std::min(a[i], b[i]);
  for (size_t i = 4 * n; i < 5 * n; ++i) a[i] = std::max(a[i], b[i]);
}

double cluster_error_ns(const double* cluster, uint64_t count, size_t n) {
  const double share = 1 / static_cast<double>(count);
  double error = 0;
  for (size_t i = 0; i < n; ++i) {
    const double mean = std::round(cluster[i] * share);
    error = std::max({error, cluster[2 * n + i] - mean, mean - cluster[n + i]});
  }
  return error;
}

void cluster_mean(const double* cluster, uint64_t count, size_t n, double* out) {
  const double share = 1 / static_cast<double>(count);
  for (size_t i = 0; i < n; ++i) out[i] = std::round(cluster[i] * share);
}

}  // namespace refrain::similarity
