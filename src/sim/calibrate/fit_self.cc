#include "sim/calibrate/fit_self.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "sim/calibrate/robust.h"
#include "sim/calibrate/solve.h"

namespace refrain::sim {
namespace {

// All starts of a test; `of_starts` has what each start's times are to the mean of all.
Curve curve_of(const Samples& samples, SampleTest test, FittedSelf& out,
               std::vector<std::vector<double>>& of_starts) {
  Curve curve;
  for (const SampleCell& cell : samples.cells) {
    if (cell.test != test) continue;
    std::vector<Estimate> starts;
    std::vector<size_t> which;
    const auto add = [&](const SampleCell& one) {
      starts.push_back(robust_mean(one.ns, one.lines));
      which.push_back(one.start);
      out.samples += one.ns.size();
      out.outliers += one.ns.size() - starts.back().used;
    };
    add(cell);
    std::for_each(cell.other_starts.begin(), cell.other_starts.end(), add);
    const Estimate mean = mean_of(starts);
    const auto count = static_cast<double>(cell.count);
    curve.push_back({static_cast<double>(cell.bytes), mean.mean / count, mean.error / count});
    for (size_t i = 0; i < starts.size() && mean.mean > 0; ++i)
      of_starts[which[i]].push_back(starts[i].mean / mean.mean);
  }
  std::stable_sort(curve.begin(), curve.end(),
                   [](const Point& a, const Point& b) { return a.x < b.x; });
  return curve;
}

// What all times of a run are off by together, in relation, as starts show it: the standard error
// of their mean.
double error_of_starts(const std::vector<std::vector<double>>& of_starts) {
  std::vector<double> means;
  for (const std::vector<double>& one : of_starts) {
    double sum = 0;
    for (const double ratio : one) sum += ratio;
    if (!one.empty()) means.push_back(sum / static_cast<double>(one.size()));
  }
  return means.size() < 2 ? 0 : error_of_mean(means);
}

struct Fit {
  std::vector<Line> lines;  // of the pieces
  Line copy;                // of messages that came before their receive
};

Fit fit(const Curve& posted, const Curve& late,
        const std::vector<std::pair<double, double>>& pieces) {
  Fit out;
  for (const auto& [low, high] : pieces) out.lines.push_back(fit_line(part_of(posted, low, high)));
  Curve more;
  for (const Point& one : late)
    for (const Point& other : part_of(posted, one.x, one.x))
      more.push_back({one.x, std::max(0.0, one.y - other.y), std::hypot(one.error, other.error)});
  out.copy = fit_line(more);
  return out;
}

}  // namespace

std::optional<FittedSelf> fit_self(const Samples& samples, const FitOptions& options) {
  FittedSelf out;
  std::vector<std::vector<double>> of_starts(samples.starts);
  Curve posted = curve_of(samples, SampleTest::kSelf, out, of_starts);
  Curve late = curve_of(samples, SampleTest::kSelfLate, out, of_starts);
  std::vector<double> sizes;
  for (const Point& p : posted)
    if (sizes.empty() || sizes.back() < p.x) sizes.push_back(p.x);
  if (sizes.size() < 2) return std::nullopt;
  std::vector<std::pair<double, double>> pieces;
  for (const auto& [first, last] : cut_in_pieces(sizes, {posted}, options.pieces))
    pieces.push_back({sizes[first], sizes[last - 1]});
  grow_errors(posted, pieces);
  const Fit best = fit(posted, late, pieces);

  std::mt19937_64 random(options.seed);
  std::normal_distribution<double> normal;
  const double together = error_of_starts(of_starts);
  std::vector<Fit> draws;
  for (uint32_t i = 0; i < options.draws; ++i) {
    const double level = 1 + together * normal(random);
    Curve drawn[] = {posted, late};
    for (Curve& curve : drawn)
      for (Point& p : curve) p.y = std::max(0.0, level * p.y + p.error * normal(random));
    draws.push_back(fit(drawn[0], drawn[1], pieces));
  }
  const auto parameter = [&](const auto& of) {
    std::vector<double> all;
    for (const Fit& one : draws) all.push_back(of(one));
    return with_interval(of(best), std::move(all));
  };
  for (size_t i = 0; i < pieces.size(); ++i) {
    SizeRange& range = out.protocol.ranges.emplace_back();
    if (i + 1 < pieces.size())
      range.up_to =
          end_of_line(best.lines[i], pieces[i].second, best.lines[i + 1], pieces[i + 1].first);
    // Which of the calls copies is the MPI's business: the rank pays for both.
    range.send = range.receive = parameter([i](const Fit& one) { return one.lines[i].at_0 / 2; });
    range.cpu_per_byte = parameter([i](const Fit& one) { return one.lines[i].slope / 2; });
  }
  out.protocol.unexpected_copy = parameter([](const Fit& one) { return one.copy.at_0; });
  out.protocol.unexpected_copy_per_byte = parameter([](const Fit& one) { return one.copy.slope; });
  out.copies = std::move(posted);
  return out;
}

}  // namespace refrain::sim
