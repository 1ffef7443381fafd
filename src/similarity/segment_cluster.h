// Clusters of segments that are represented by their mean, with the bounds of each measurement:
// iter_avg keeps one per structure, `auto` one per set of similar segments (docs/decisions/0017).
//
// A cluster of segments with n stamps is an array of values, n at a time: the sums of the stamps,
// their least and their greatest values; in the wide form of `auto` also the least and the greatest
// of each interval (interval i: stamp i less stamp i - 1) and of each stamp's distance to the end
// of the segment. So the error of the mean is known exactly, and two clusters can be united,
// without the segments.
//
// The mean of a wide cluster has one elastic interval. The start and the length of each segment are
// known, so one interval follows from the others. Stamps before it keep their distance to the
// start, stamps after it theirs to the end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace refrain::similarity {

inline constexpr size_t kClusterParts = 3;
inline constexpr size_t kWideClusterParts = 7;

// No interval is elastic, or it has not been decided which one.
inline constexpr uint32_t kRigid = UINT32_MAX;

// What a mean may miss. Every duration (of a call, or between two) but the elastic one is within
// `ratio` of the true one, or within the floor: what the clock and the machine's noise make of it
// anyway, and a share of the segment's length below which no duration decides what is slow. Every
// stamp is within `ratio` of the segment's length, or noise.
struct Tolerance {
  double ratio = 0;
  double noise_ns = 0;
  double floor_share = 0;  // of `ratio` times the segment's length
};

// A cluster of one segment; `out` has room for kWideClusterParts (or kClusterParts) times n values.
void cluster_of_one(const double* stamps, size_t n, bool wide, double* out);

// A wide cluster as it stands.
struct ClusterView {
  const double* values = nullptr;
  uint64_t count = 1;
  uint32_t elastic = kRigid;
};

// Whether the mean of both together keeps to the tolerance for all segments in them. Where one
// interval alone does not, and no other one is elastic yet, it does if `may_decide`: `elastic` is
// then that one. Ends at the first measurement that decides.
bool cluster_fits(const ClusterView& a, const ClusterView& b, size_t n, const Tolerance& tolerance,
                  bool may_decide, uint32_t* elastic);

// Whether the means of both are within the tolerance of each other, the elastic interval aside.
bool means_fit(const ClusterView& a, const ClusterView& b, size_t n, const Tolerance& tolerance);

// a += b.
void cluster_unite(double* a, const double* b, size_t n, bool wide);

// The mean stamps in whole nanoseconds; never falling where the segments' stamps do not.
void cluster_mean(const double* cluster, uint64_t count, size_t n, double* out);
// The largest difference between a stamp and what the mean gives for it; `elastic` as it is used.
double cluster_error_ns(const double* cluster, uint64_t count, size_t n, uint32_t elastic);
// The interval that varies most: the best one to be elastic where none must be.
uint32_t widest_interval(const double* cluster, size_t n);

// The stamps of a segment of `length_ns` as a mean with an elastic interval gives them; n values.
void stretch(const double* stamps, size_t n, uint32_t elastic, double length_ns, double* out);

}  // namespace refrain::similarity
