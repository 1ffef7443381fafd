#include "sim/calibrate/robust.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/median.h"

namespace refrain::sim {
namespace {

constexpr double kNormal = 1.4826;   // median absolute deviation -> standard deviation
constexpr double kResolution = 0.3;  // ns: of a time in whole ns

// Standard error of the mean of the lines' means; 0 where there are too few. Samples further than
// `most` from the middle are outliers.
double error_of_lines(const std::vector<double>& samples, const std::vector<size_t>& lines,
                      double middle, double most) {
  constexpr size_t kLeastLines = 3;
  std::vector<double> means;
  size_t begin = 0;
  for (const size_t count : lines) {
    double sum = 0, used = 0;
    for (size_t i = begin; i < std::min(begin + count, samples.size()); ++i) {
      if (std::fabs(samples[i] - middle) > most) continue;
      sum += samples[i];
      ++used;
    }
    begin += count;
    if (used > 0) means.push_back(sum / used);
  }
  return means.size() < kLeastLines ? 0 : error_of_mean(means);
}

double misfit_of(const std::vector<Point>& points, const Line& line) {
  double sum = 0;
  for (const Point& p : points) {
    const double off = (p.y - line.at(p.x)) / p.error;
    sum += off * off;
  }
  return sum;
}

}  // namespace

Estimate robust_mean(const std::vector<double>& samples, const std::vector<size_t>& lines) {
  Estimate out;
  if (samples.empty()) return out;
  std::vector<double> off = samples;  // in any order, and then what each is off by
  const double middle = base::median(std::span(off));
  off.clear();
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
  out.error = std::max({std::sqrt(variance / std::max(1.0, n - 1)), kResolution / std::sqrt(n),
                        error_of_lines(samples, lines, middle, most)});
  return out;
}

Estimate mean_of(const std::vector<Estimate>& all) {
  Estimate out;
  double squares = 0;
  const auto n = static_cast<double>(all.size());
  for (const Estimate& one : all) {
    out.mean += one.mean / n;
    squares += one.error * one.error;
    out.used += one.used;
  }
  out.error = std::sqrt(squares) / n;
  return out;
}

double error_of_mean(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double one : values) mean += one / n;
  for (const double one : values) squares += (one - mean) * (one - mean);
  return student_widening(n - 1) * std::sqrt(squares / (n - 1) / n);
}

double student_widening(double freedom) { return 1 + 1.21 / freedom + 1.44 / (freedom * freedom); }

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
