#include "analysis/reduce/evaluate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/reduce/keep_trends.h"
#include "format/time/spec.h"
#include "reader/internal.h"
#include "reader/time_store.h"
#include "refrain/calls.h"

namespace refrain::analysis::reduce {

namespace {

using format::AcrossRanks;
using similarity::ApproximationDistance;
using similarity::MethodSpec;

Error other_run(const Trace& full, const Trace& rebuilt) {
  return base::usage("not the same run as " + full.name(), rebuilt.name());
}

Status compare_location(const Trace& full, const Trace& rebuilt, const Location& location,
                        ApproximationDistance* out) {
  RankReader was(full, location.rank, Times::kRead), is(rebuilt, location.rank, Times::kRead);
  Result<Cursor> a = was.cursor(location.thread), b = is.cursor(location.thread);
  if (!a.ok()) return a.error();
  if (!b.ok()) return b.error();
  const auto apart = [](uint64_t x, uint64_t y) {
    return static_cast<double>(x > y ? x - y : y - x);
  };
  for (;;) {
    const Call* x = a->next();
    const Call* y = b->next();
    if (x == nullptr || y == nullptr) break;
    if (x->signature->id != y->signature->id) return other_run(full, rebuilt);
    if (!x->has_time || !y->has_time) continue;
    out->add(apart(x->begin_ns, y->begin_ns));
    out->add(apart(x->end_ns, y->end_ns));
  }
  return a->time_status().ok() ? b->time_status() : a->time_status();
}

// What decided in the verdict's scope.
void name_thresholds(const MethodSpec& method, Verdict* verdict) {
  MethodSpec used = method;
  if (verdict->scope == Scope::kInter) {
    used.threshold = method.inter_threshold;
  } else if (method.has_threshold()) {
    verdict->threshold = in_own_unit(method.method, method.threshold);
  }
  if (verdict->scope != Scope::kCombined)
    used.inter_threshold = default_spec(method.method).inter_threshold;
  if (verdict->scope != Scope::kIntra && method.matches_between_processes())
    verdict->inter_threshold = in_own_unit(method.method, method.inter_threshold);
  verdict->method = to_text(used);
}

class Evaluator {
 public:
  Evaluator(const Trace& full, const EvaluateOptions& options) : full_(full), options_(options) {}

  Status begin() {
    const auto spec = reader::time_spec_of(full_);
    if (!spec.ok()) return spec.error();
    if (!spec->has_times())
      return base::unsupported(
          "there are no times of single calls in this trace: record with --timing exact",
          full_.name());
    if (spec->mode == format::TimeMode::kSegments)
      return base::usage("the times are reduced already: " + spec->to_string(), full_.name());
    const auto size = full_.time_size();
    if (!size.ok()) return size.error();
    reader::expect_more_walks(full_);
    auto found = diagnosis_of(full_);
    if (!found.ok()) return found.error();
    diagnosis_ = std::move(*found);
    out_.timing = spec->to_string();
    out_.calls = size->calls;
    out_.full_times_bytes = size->bytes;
    out_.full_bytes = full_.info().file_bytes;
    out_.total_ns = diagnosis_.waits.total_ns;
    out_.waiting_ns = static_cast<double>(diagnosis_.waits.ns_of(waits::Pattern::kAll));
    return base::Done{};
  }

  // The verdict on the first attempt that retains the trends, or on the last one.
  Status add(const MethodSpec& method, Scope scope) {
    const std::vector<MethodSpec> attempts = attempts_of(method);
    for (size_t i = 0; i < attempts.size(); ++i) {
      if (i > 0) out_.verdicts.pop_back();
      const Status added = add_attempt(attempts[i], scope);
      if (!added.ok()) return added;
      if (out_.verdicts.back().retention.retained()) break;
    }
    return base::Done{};
  }

  Status add_attempt(const MethodSpec& method, Scope scope) {
    ReduceOptions how;
    how.method = method;
    how.source = options_.source;
    how.memory_bytes = options_.memory_bytes;
    how.step_ns = options_.step_ns;
    how.within_ranks = scope != Scope::kInter;
    how.across = scope == Scope::kIntra ? AcrossRanks::kOff : options_.across;
    const Result<Reduction> reduction = reduce(full_, how);
    if (!reduction.ok()) return reduction.error();
    const Result<std::string> bytes = encode(full_, *reduction);
    if (!bytes.ok()) return bytes.error();
    // From the file, as everybody else would read it.
    const Result<Trace> back = Trace::from_bytes(*bytes, full_.name());
    if (!back.ok()) return back.error();
    out_.full_model_bytes = reduction->full_model_bytes;
    const Status added = add(*back);
    if (!added.ok()) return added;
    Verdict& verdict = out_.verdicts.back();
    verdict.scope = scope;
    name_thresholds(method, &verdict);
    verdict.file_bytes = bytes->size();
    verdict.model_bytes = reduction->reduced_model_bytes;
    return base::Done{};
  }

  Status add(const Trace& rebuilt) {
    Verdict verdict;
    const auto table = reader::time_table(rebuilt);
    if (!table.ok()) return table.error();
    const format::TimeSpec& spec = (*table)->spec();
    const bool has_segments = spec.mode == format::TimeMode::kSegments;
    if (has_segments) verdict.segments = (*table)->segments();
    verdict.method = has_segments ? spec.method : spec.to_string();
    verdict.scope = verdict.segments.across == AcrossRanks::kOff ? Scope::kIntra : Scope::kCombined;
    verdict.file_bytes = rebuilt.info().file_bytes;
    if (const auto size = rebuilt.time_size(); size.ok()) verdict.times_bytes = size->bytes;
    reader::expect_more_walks(rebuilt);
    const auto apart = distance(full_, rebuilt);
    if (!apart.ok()) return apart.error();
    verdict.distance_ns = apart->percentile_ns();
    verdict.largest_ns = apart->largest_ns();
    const auto found = diagnosis_of(rebuilt);
    if (!found.ok()) return found.error();
    verdict.retention = compare_trends(diagnosis_, *found, options_.retention);
    out_.verdicts.push_back(std::move(verdict));
    return base::Done{};
  }

  Evaluation finish() { return std::move(out_); }

 private:
  const Trace& full_;
  const EvaluateOptions& options_;
  Diagnosis diagnosis_;
  Evaluation out_;
};

}  // namespace

const char* scope_name(Scope scope) {
  switch (scope) {
    case Scope::kIntra: return "intra";
    case Scope::kInter: return "inter";
    case Scope::kCombined: return "combined";
  }
  return "";
}

Result<ApproximationDistance> distance(const Trace& full, const Trace& rebuilt) {
  if (full.rank_count() != rebuilt.rank_count() || full.call_count() != rebuilt.call_count())
    return other_run(full, rebuilt);
  ApproximationDistance out;
  for (Rank rank = 0; rank < full.rank_count(); ++rank) {
    const std::vector<Location> ours = full.locations(rank), theirs = rebuilt.locations(rank);
    if (ours.size() != theirs.size()) return other_run(full, rebuilt);
    for (size_t i = 0; i < ours.size(); ++i) {
      if (ours[i].thread != theirs[i].thread || ours[i].calls != theirs[i].calls)
        return other_run(full, rebuilt);
      const Status compared = compare_location(full, rebuilt, ours[i], &out);
      if (!compared.ok()) return compared.error();
    }
  }
  return out;
}

Result<Evaluation> evaluate(const Trace& full, const EvaluateOptions& options) {
  Evaluator evaluator(full, options);
  if (const Status begun = evaluator.begin(); !begun.ok()) return begun.error();
  std::vector<MethodSpec> methods = options.methods;
  for (int m = 0; methods.size() < similarity::kMethodCount && options.methods.empty(); ++m) {
    methods.push_back(default_spec(static_cast<similarity::Method>(m)));
    methods.back().keeps_trends = methods.back().method == similarity::Method::kAuto;
  }
  for (const Scope scope : options.scopes) {
    for (const MethodSpec& method : methods) {
      if (scope == Scope::kInter && !method.matches_between_processes()) continue;
      if (const Status added = evaluator.add(method, scope); !added.ok()) return added.error();
    }
  }
  return evaluator.finish();
}

Result<Evaluation> evaluate(const Trace& full, const std::vector<Trace>& reduced,
                            const EvaluateOptions& options) {
  Evaluator evaluator(full, options);
  if (const Status begun = evaluator.begin(); !begun.ok()) return begun.error();
  for (const Trace& trace : reduced) {
    if (!trace.has_times())
      return base::unsupported(
          "there are no times of single calls in this trace: record with --timing exact",
          trace.name());
    if (const Status added = evaluator.add(trace); !added.ok()) return added.error();
  }
  return evaluator.finish();
}

}  // namespace refrain::analysis::reduce
