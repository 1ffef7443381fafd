#include "sim/calibrate/pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace refrain::sim {

Curve part_of(const Curve& curve, double low, double high) {
  Curve out;
  for (const Point& p : curve)
    if (p.x >= low && p.x <= high) out.push_back(p);
  return out;
}

std::vector<std::pair<size_t, size_t>> cut_in_pieces(const std::vector<double>& sizes,
                                                     const std::vector<Curve>& curves,
                                                     const PieceOptions& options) {
  const size_t n = sizes.size();
  if (n == 0) return {};
  std::vector<Curve> tolerant = curves;
  size_t points = 0;
  for (Curve& curve : tolerant) {
    points += curve.size();
    for (Point& p : curve) p.error = std::max(p.error, options.tolerance * p.y);
  }
  const size_t least = std::min(options.least_sizes, n);
  // Two numbers of each curve's line, and the place of the cut.
  const double price = static_cast<double>(2 * curves.size() + 1) *
                       std::log(static_cast<double>(std::max<size_t>(points, 2)));
  const double never = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> misfit(n, std::vector<double>(n + 1, never));
  for (size_t first = 0; first < n; ++first)
    for (size_t last = first + least; last <= n; ++last) {
      double sum = 0;
      for (const Curve& curve : tolerant)
        sum += fit_line(part_of(curve, sizes[first], sizes[last - 1])).misfit;
      misfit[first][last] = sum;
    }
  // best[k][i]: of the first i sizes in k pieces.
  const size_t most = std::max<size_t>(1, std::min(options.most_pieces, n / least));
  std::vector<std::vector<double>> best(most + 1, std::vector<double>(n + 1, never));
  std::vector<std::vector<size_t>> from(most + 1, std::vector<size_t>(n + 1, 0));
  best[0][0] = 0;
  for (size_t k = 1; k <= most; ++k)
    for (size_t last = 1; last <= n; ++last)
      for (size_t first = 0; first < last; ++first) {
        const double sum = best[k - 1][first] + misfit[first][last];
        if (!(sum < best[k][last])) continue;
        best[k][last] = sum;
        from[k][last] = first;
      }
  size_t pieces = 1;
  for (size_t k = 2; k <= most; ++k)
    if (best[k][n] + price * static_cast<double>(k) <
        best[pieces][n] + price * static_cast<double>(pieces))
      pieces = k;
  std::vector<std::pair<size_t, size_t>> out;
  for (size_t last = n; pieces > 0; last = out.back().first, --pieces)
    out.push_back({from[pieces][last], last});
  std::reverse(out.begin(), out.end());
  return out;
}

uint64_t end_of_line(const Line& one, double high, const Line& next, double next_low) {
  double at = high;
  if (one.slope != next.slope) {
    const double meet = (next.at_0 - one.at_0) / (one.slope - next.slope);
    if (meet > high && meet < next_low) at = meet;
  }
  return static_cast<uint64_t>(at);
}

}  // namespace refrain::sim
