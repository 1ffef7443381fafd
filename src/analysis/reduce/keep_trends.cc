#include "analysis/reduce/keep_trends.h"

namespace refrain::analysis::reduce {

namespace {

// Of `auto`, within ranks; half of that across ranks. From 10 % of a duration, with which all
// waiting is right but such as comes from noise alone, to 1 % and less, with which that is as well.
constexpr double kThresholds[] = {0.1, 0.03, 0.01, 0.003};

}  // namespace

std::vector<similarity::MethodSpec> attempts_of(const similarity::MethodSpec& method) {
  if (!method.keeps_trends) return {method};
  std::vector<similarity::MethodSpec> attempts;
  for (const double threshold : kThresholds)
    attempts.push_back({similarity::Method::kAuto, threshold, threshold / 2});
  return attempts;
}

Result<Reduction> reduce_keeping_trends(const Trace& trace, const ReduceOptions& options,
                                        const RetentionOptions& retention) {
  const std::vector<similarity::MethodSpec> attempts = attempts_of(options.method);
  if (attempts.size() == 1) return reduce(trace, options);
  ReduceOptions how = options;
  how.method = attempts[0];
  Result<Reduction> reduction = reduce(trace, how);
  if (!reduction.ok()) return reduction;
  const auto full = diagnosis_of(trace);
  if (!full.ok()) return reduction;  // without waits there is nothing to look at
  for (size_t i = 0;;) {
    const auto back = rebuilt(trace, *reduction);
    if (!back.ok()) return back.error();
    const auto found = diagnosis_of(*back);
    if (!found.ok()) return found.error();
    reduction->lost = compare_trends(*full, *found, retention).lost;
    reduction->attempts = ++i;
    if (reduction->lost.empty() || i == attempts.size()) return reduction;
    how.method = attempts[i];
    reduction = reduce(trace, how);
    if (!reduction.ok()) return reduction;
  }
}

}  // namespace refrain::analysis::reduce
