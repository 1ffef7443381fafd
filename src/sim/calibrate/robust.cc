#include "sim/calibrate/robust.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/median.h"

namespace refrain::sim {
namespace {

constexpr double kNormal = 1.4826;   // median absolute deviation -> standard deviation
constexpr double kResolution = 0.3;  // ns: of a time in whole ns

double misfit_of(const std::vector<Point>& points, const Line& line) {
  double sum = 0;
  for (const Point& p : points) {
    const double off = (p.y - line.at(p.x)) / p.error;
    sum += off * off;
  }
  return sum;
}

}  // namespace

Estimate robust_mean(std::vector<double> samples) {
  Estimate out;
  if (samples.empty()) return out;
  const double middle = base::median(std::span(samples));
  std::vector<double> off;
  off.reserve(samples.size());
  for (const double s : samples) off.push_back(std::fabs(s - middle));
  const double spread = kNormal * base::median(std::span(off));
  const double most = std::max(kOutlier * spread, 1.0);
  double sum = 0, squares = 0;
  for (const double s : samples) {
    if (std::fabs(s - middle) > most) continue;
    sum += s;
    squares += (s - middle) * (s - middle);
    ++out.used;
  }
  const auto n = static_cast<double>(out.used);
  out.mean = sum / n;
  const double shift = out.mean - middle;
  const double variance = std::max(0.0, squares / n - shift * shift);
  out.error = std::max(std::sqrt(variance / std::max(1.0, n - 1)), kResolution / std::sqrt(n));
  return out;
}

Line fit_line(const std::vector<Point>& points) {
  Line out;
  if (points.empty()) return out;
  double w = 0, wx = 0, wy = 0;
  for (const Point& p : points) {
    const double weight = 1 / (p.error * p.error);
    w += weight, wx += weight * p.x, wy += weight * p.y;
  }
  const double mx = wx / w, my = wy / w;
  double xx = 0, xy = 0, raw_xx = 0, raw_xy = 0;
  for (const Point& p : points) {
    const double weight = 1 / (p.error * p.error);
    xx += weight * (p.x - mx) * (p.x - mx);
    xy += weight * (p.x - mx) * (p.y - my);
    raw_xx += weight * p.x * p.x;
    raw_xy += weight * p.x * p.y;
  }
  out.slope = xx > 0 ? std::max(0.0, xy / xx) : 0;
  out.at_0 = my - out.slope * mx;
  if (out.at_0 < 0) {  // the best line through 0
    out.at_0 = 0;
    out.slope = raw_xx > 0 ? std::max(0.0, raw_xy / raw_xx) : 0;
  }
  out.misfit = misfit_of(points, out);
  return out;
}

}  // namespace refrain::sim
