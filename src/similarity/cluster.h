// Clusters of segments that a mean stands for, with the bounds of each measurement: what iter_avg
// keeps of a structure, and what `auto` keeps of segments alike (docs/decisions/0015).
//
// A cluster of segments with n stamps is an array of values, n at a time: the sums of the stamps,
// their least and their greatest values; in the wide form of `auto` also the least and the greatest
// intervals, interval i being stamp i less stamp i - 1. So the error that its mean makes is known
// exactly without the segments, and two clusters are united without them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace refrain::similarity {

inline constexpr size_t kClusterParts = 3;
inline constexpr size_t kWideClusterParts = 5;

// What a mean may miss. Every duration (of a call, or between two) is within `ratio` of the true
// one, or within the floor: what the clock and the machine's noise make of it anyway, and a share
// of the segment's length below which no duration decides what is slow. Every stamp, the segment's
// length among them, is within `ratio` of the true length, or noise.
struct Tolerance {
  double ratio = 0;
  double noise_ns = 0;
  double floor_share = 0;  // of `ratio` times the segment's length
};

// A cluster of one segment; `out` has room for kWideClusterParts (or kClusterParts) times n values.
void cluster_of_one(const double* stamps, size_t n, bool wide, double* out);

// Whether the mean of both together keeps to the tolerance for all segments in them. Wide form;
// counts are at least 1. Ends at the first measurement that does not.
bool cluster_fits(const double* a, uint64_t a_count, const double* b, uint64_t b_count, size_t n,
                  const Tolerance& tolerance);

// Whether the means of both are within the tolerance of each other, each seen from the other.
bool means_fit(const double* a, uint64_t a_count, const double* b, uint64_t b_count, size_t n,
               const Tolerance& tolerance);

// a += b.
void cluster_unite(double* a, const double* b, size_t n, bool wide);

// The largest difference between the mean, in whole nanoseconds, and a stamp.
double cluster_error_ns(const double* cluster, uint64_t count, size_t n);
// The mean stamps in whole nanoseconds; never falling where the segments' stamps do not.
void cluster_mean(const double* cluster, uint64_t count, size_t n, double* out);

}  // namespace refrain::similarity
