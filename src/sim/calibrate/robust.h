// Means that outliers do not move, and straight lines through them.
//
// Times of messages have a tail: now and then a rank is interrupted. A sample that is more than
// kOutlier times the median absolute deviation away from the median is left out (P. J. Rousseeuw,
// C. Croux, "Alternatives to the median absolute deviation", JASA 1993, is the usual reference for
// the factor 1.4826, which makes this deviation one of a normal distribution). Threads: any.
#pragma once

#include <cstddef>
#include <vector>

namespace refrain::sim {

struct Estimate {
  double mean = 0;
  double error = 0;  // standard error of the mean; never 0: clocks have a resolution
  size_t used = 0;   // samples that were no outliers
};

inline constexpr double kOutlier = 4;

// `lines`: how many of the samples were measured in a row; empty: all were. A machine is faster or
// slower for a while, so samples in a row resemble each other, and many of them tell less than as
// many of several times: where there are three lines or more, the error is the larger one of that
// of all samples and that of the means of lines.
Estimate robust_mean(const std::vector<double>& samples, const std::vector<size_t>& lines = {});

// The mean of several estimates. Its error is what theirs make of it, and not what they differ by.
Estimate mean_of(const std::vector<Estimate>& all);

// How much wider than with a known deviation a 95 % interval of a mean is where the deviation comes
// from `freedom` + 1 values: the first terms of Student's distribution at 97.5 % (R. Fisher and
// E. Cornish, 1960).
double student_widening(double freedom);

// The standard error of the mean of two values or more, as they show it: so much wider.
double error_of_mean(const std::vector<double>& values);

// A point of a curve: y at x, known up to `error`.
struct Point {
  double x = 0, y = 0, error = 1;
};

// y = at_0 + slope * x, by least squares with weights 1 / error^2.
struct Line {
  double at_0 = 0, slope = 0;
  double misfit = 0;  // sum of squares of residuals, each in units of its error
  double at(double x) const { return at_0 + slope * x; }
};

// Neither part is below 0. One point, or none, has slope 0.
Line fit_line(const std::vector<Point>& points);

}  // namespace refrain::sim
