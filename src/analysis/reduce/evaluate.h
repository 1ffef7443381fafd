// How much of a trace is lost when its times are reduced: the criteria of Mohror, section 5.1.4,
// for any trace with times and any methods. Size in percent of the full trace, degree of matching,
// approximation distance, and retention of trends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/reduce/reduce.h"
#include "analysis/reduce/retention.h"
#include "similarity/evaluate.h"

namespace refrain::analysis::reduce {

// Where representatives are looked for: within ranks, across them, both.
enum class Scope : uint8_t { kIntra, kInter, kCombined };
const char* scope_name(Scope scope);

struct Verdict {
  // METHOD:THRESHOLD, or bins:BOUND. The threshold is that across ranks in kInter; in kCombined
  // that one comes second, where it is not the method's default.
  std::string method;
  // Those that decided, within and across ranks, in the unit that the method takes them in.
  std::optional<double> threshold, inter_threshold;
  Scope scope = Scope::kIntra;
  format::SegmentInfo segments;
  uint64_t file_bytes = 0;
  uint64_t times_bytes = 0;  // of the file
  double model_bytes = 0;    // by the thesis's size model; 0: not known
  double distance_ns = 0;    // 90th percentile
  double largest_ns = 0;     // distance of a time stamp
  Retention retention;
};

struct Evaluation {
  std::string timing;  // of the full trace
  uint64_t calls = 0;  // with times
  uint64_t full_bytes = 0, full_times_bytes = 0;
  double full_model_bytes = 0;
  double waiting_ns = 0, total_ns = 0;  // of all ranks
  std::vector<Verdict> verdicts;

  double percent_of(const Verdict& v) const {
    return full_bytes == 0
               ? 0
               : 100 * static_cast<double>(v.file_bytes) / static_cast<double>(full_bytes);
  }
  double model_percent_of(const Verdict& v) const {
    return full_model_bytes > 0 ? 100 * v.model_bytes / full_model_bytes : 0;
  }
};

struct EvaluateOptions {
  // None: all of them, at their default thresholds, auto at the loosest that retains the trends.
  std::vector<similarity::MethodSpec> methods;
  std::vector<Scope> scopes = {Scope::kIntra, Scope::kInter, Scope::kCombined};
  // Of kInter and kCombined; auto always shares representative by representative.
  format::AcrossRanks across = format::AcrossRanks::kGroups;
  format::SegmentSource source = format::SegmentSource::kLoops;
  uint64_t memory_bytes = UINT64_MAX;
  uint32_t step_ns = 0;  // as in ReduceOptions
  RetentionOptions retention;
};

// Methods that do not match between processes have no verdict in kInter. Fails as reduce() does.
Result<Evaluation> evaluate(const Trace& full, const EvaluateOptions& options);
// Of traces that were reduced before, or have times with a bound; of the same run.
Result<Evaluation> evaluate(const Trace& full, const std::vector<Trace>& reduced,
                            const EvaluateOptions& options);

// Of all time stamps of calls that have times in both. Fails when they are not of one run.
Result<similarity::ApproximationDistance> distance(const Trace& full, const Trace& rebuilt);

}  // namespace refrain::analysis::reduce
