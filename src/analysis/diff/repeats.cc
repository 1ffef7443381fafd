#include "analysis/diff/repeats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace refrain::analysis::diff {
namespace {

// Student's t, two-sided 99 %, by degrees of freedom from 1; beyond: that of the last, which is
// larger than needed.
constexpr std::array<double, 12> kT = {63.66, 9.92, 5.84, 4.60, 4.03, 3.71,
                                       3.50,  3.36, 3.25, 3.17, 3.11, 3.05};
// From so many runs on their spread says more than what is inside of them does.
constexpr size_t kEnough = 3;
// Less than this part of the time itself, or of all time, says nothing, however close good runs
// are.
constexpr double kPart = 0.25, kPartOfAll = 0.05;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// `all`: that time of the whole run.
void take(const std::vector<double>& values, double all, double& before, double after,
          double& noise) {
  before = mean_of(values);
  const double spread =
      std::max({prediction_noise(values), kPart * std::max(before, after), kPartOfAll * all});
  noise = values.size() < kEnough ? std::max(noise, spread) : spread;
}

}  // namespace

double prediction_noise(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double t = kT[std::min(values.size() - 2, kT.size() - 1)];
  return t * std::sqrt(squares / (n - 1) * (1 + 1 / n));
}

void use_repeats(Diff& diff, const std::vector<Diff>& others) {
  if (others.empty()) return;
  diff.baselines = 1 + others.size();
  std::vector<double> all = {diff.before.time_ns}, all_waits = {diff.before.waits_ns};
  std::map<std::pair<DefinitionId, CallId>, std::vector<double>> calls;
  std::map<waits::Pattern, std::vector<double>> patterns;
  bool have_waits = diff.has_waits();
  for (const Diff& other : others) {
    all.push_back(other.before.time_ns);
    all_waits.push_back(other.before.waits_ns);
    have_waits = have_waits && other.has_waits();
    // A call path is known by what it is in the run that all are compared with.
    for (const CallChange& call : other.calls)
      if (call.is_before && call.is_after)
        calls[{call.path_after, call.call}].push_back(call.before.time_ns);
    for (const WaitChange& wait : other.waits) patterns[wait.pattern].push_back(wait.ns.before);
  }
  const double time = mean_of(all), waiting = mean_of(all_waits);
  take(all, time, diff.before.time_ns, diff.after.time_ns, diff.time_noise_ns);
  for (CallChange& call : diff.calls) {
    if (!call.is_before || !call.is_after) continue;
    std::vector<double>& values = calls[{call.path_after, call.call}];
    values.push_back(call.before.time_ns);
    if (values.size() > 1)
      take(values, time, call.before.time_ns, call.after.time_ns, call.time_noise_ns);
  }
  if (!have_waits) return;
  take(all_waits, waiting, diff.before.waits_ns, diff.after.waits_ns, diff.waits_noise_ns);
  for (WaitChange& wait : diff.waits) {
    std::vector<double>& values = patterns[wait.pattern];
    values.resize(others.size());  // none of it in a run: 0
    values.push_back(wait.ns.before);
    take(values, waiting, wait.ns.before, wait.ns.after, wait.ns.noise);
  }
}

}  // namespace refrain::analysis::diff
