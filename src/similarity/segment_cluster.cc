#include "similarity/segment_cluster.h"

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
  const double* low_rest;  // to the end of the segment
  const double* high_rest;

  Parts(const double* c, size_t n)
      : sum(c),
        low(c + n),
        high(c + 2 * n),
        low_interval(c + 3 * n),
        high_interval(c + 4 * n),
        low_rest(c + 5 * n),
        high_rest(c + 6 * n) {}
};

// How far the further one of two bounds is.
double apart(double low, double high, double mean) { return std::max(high - mean, mean - low); }

// The one that both agree on; false when they do not.
bool common_elastic(uint32_t a, uint32_t b, uint32_t* elastic) {
  *elastic = a == kRigid ? b : a;
  return a == b || a == kRigid || b == kRigid;
}

}  // namespace

void cluster_of_one(const double* stamps, size_t n, bool wide, double* out) {
  for (size_t i = 0; i < n; ++i) out[i] = out[n + i] = out[2 * n + i] = stamps[i];
  if (!wide) return;
  double before = 0;
  for (size_t i = 0; i < n; ++i) {
    out[3 * n + i] = out[4 * n + i] = stamps[i] - before;
    out[5 * n + i] = out[6 * n + i] = stamps[n - 1] - stamps[i];
    before = stamps[i];
  }
}

bool cluster_fits(const ClusterView& a, const ClusterView& b, size_t n, const Tolerance& tolerance,
                  bool may_decide, uint32_t* elastic) {
  if (!common_elastic(a.elastic, b.elastic, elastic)) return false;
  const Parts x(a.values, n);
  const Parts y(b.values, n);
  const double share = 1 / static_cast<double>(a.count + b.count);
  const double shortest = std::min(x.low[n - 1], y.low[n - 1]);
  const double stamp_limit = tolerance.ratio * shortest + tolerance.noise_ns;
  const double floor = tolerance.floor_share * tolerance.ratio * shortest + tolerance.noise_ns;
  double before = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const double mean = (x.sum[i] + y.sum[i]) * share;
    const double interval = mean - before;
    before = mean;
    if (i == *elastic) continue;
    const double low = std::min(x.low_interval[i], y.low_interval[i]);
    const double high = std::max(x.high_interval[i], y.high_interval[i]);
    if (high - interval <= std::max(tolerance.ratio * high, floor) &&
        interval - low <= std::max(tolerance.ratio * low, floor))
      continue;
    if (*elastic != kRigid || !may_decide) return false;
    *elastic = i;
  }
  // Where nothing is elastic yet anything may be: stamps keep to the start, and to the end.
  const double length = (x.sum[n - 1] + y.sum[n - 1]) * share;
  for (uint32_t i = 0; i < n; ++i) {
    const double mean = (x.sum[i] + y.sum[i]) * share;
    if ((i < *elastic) &&
        apart(std::min(x.low[i], y.low[i]), std::max(x.high[i], y.high[i]), mean) > stamp_limit)
      return false;
    if ((*elastic == kRigid || i >= *elastic) &&
        apart(std::min(x.low_rest[i], y.low_rest[i]), std::max(x.high_rest[i], y.high_rest[i]),
              length - mean) > stamp_limit)
      return false;
  }
  return true;
}

bool means_fit(const ClusterView& a, const ClusterView& b, size_t n, const Tolerance& tolerance) {
  uint32_t elastic = kRigid;
  if (!common_elastic(a.elastic, b.elastic, &elastic)) return false;
  const double a_share = 1 / static_cast<double>(a.count);
  const double b_share = 1 / static_cast<double>(b.count);
  const double a_length = a.values[n - 1] * a_share;
  const double b_length = b.values[n - 1] * b_share;
  const double shorter = std::min(a_length, b_length);
  const double stamp_limit = tolerance.ratio * shorter + tolerance.noise_ns;
  const double floor = tolerance.floor_share * tolerance.ratio * shorter + tolerance.noise_ns;
  double a_before = 0;
  double b_before = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const double x = a.values[i] * a_share;
    const double y = b.values[i] * b_share;
    const double least = std::min(x - a_before, y - b_before);
    const double difference = std::fabs((x - a_before) - (y - b_before));
    a_before = x;
    b_before = y;
    if (i != elastic && difference > std::max(tolerance.ratio * least, floor)) return false;
    const double moved = elastic != kRigid && i >= elastic ? a_length - b_length : 0;
    if (std::fabs(x - y - moved) > stamp_limit) return false;
  }
  return true;
}

void cluster_unite(double* a, const double* b, size_t n, bool wide) {
  for (size_t i = 0; i < n; ++i) a[i] += b[i];
  for (size_t i = n; i < 2 * n; ++i) a[i] = std::min(a[i], b[i]);
  for (size_t i = 2 * n; i < 3 * n; ++i) a[i] = std::max(a[i], b[i]);
  if (!wide) return;
  for (size_t part = 3; part < kWideClusterParts; ++part) {
    const bool is_low = part % 2 == 1;
    for (size_t i = part * n; i < (part + 1) * n; ++i)
      a[i] = is_low ? std::min(a[i], b[i]) : std::max(a[i], b[i]);
  }
}

double cluster_error_ns(const double* cluster, uint64_t count, size_t n, uint32_t elastic) {
  const Parts x(cluster, n);
  const double share = 1 / static_cast<double>(count);
  const double length = std::round(x.sum[n - 1] * share);
  double error = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const double mean = std::round(x.sum[i] * share);
    error = std::max(error, i < elastic ? apart(x.low[i], x.high[i], mean)
                                        : apart(x.low_rest[i], x.high_rest[i], length - mean));
  }
  return error;
}

uint32_t widest_interval(const double* cluster, size_t n) {
  const Parts x(cluster, n);
  uint32_t widest = 0;
  for (uint32_t i = 1; i < n; ++i)
    if (x.high_interval[i] - x.low_interval[i] > x.high_interval[widest] - x.low_interval[widest])
      widest = i;
  return widest;
}

void cluster_mean(const double* cluster, uint64_t count, size_t n, double* out) {
  const double share = 1 / static_cast<double>(count);
  for (size_t i = 0; i < n; ++i) out[i] = std::round(cluster[i] * share);
}

void stretch(const double* stamps, size_t n, uint32_t elastic, double length_ns, double* out) {
  const double longer = length_ns - stamps[n - 1];
  double before = 0;
  for (uint32_t i = 0; i < n; ++i) {
    // The elastic interval is never less than nothing: a bound for the stamps on both sides holds
    // for one that is put between them.
    out[i] = i < elastic ? stamps[i] : std::max(before, stamps[i] + longer);
    before = i < elastic ? std::max(before, out[i]) : out[i];
  }
}

}  // namespace refrain::similarity
