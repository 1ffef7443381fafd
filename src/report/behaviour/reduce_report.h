// Reduced times as text and JSON: of `refrain reduce`, `refrain info` and `refrain evaluate`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/reduce/evaluate.h"
#include "analysis/reduce/reduce.h"
#include "reader/symbols.h"
#include "refrain/trace.h"

namespace refrain::report {

std::string_view source_name(format::SegmentSource source);  // loops, marks
std::string_view across_name(format::AcrossRanks across);    // off, groups, segments

// "97.5 % of the segments matched, ..." of a trace with reduced times.
std::string segments_text(const format::SegmentInfo& info);

struct ReduceView {
  const Trace& trace;
  const analysis::reduce::Reduction& reduction;
  std::string output;
  uint64_t bytes_before = 0, bytes_after = 0;
  uint64_t times_before = 0, times_after = 0;
  double distance_ns = 0, largest_ns = 0;
};
std::string reduce_text(const ReduceView& view);
std::string reduce_json(const ReduceView& view);
// What was not as it should be with marks and calls, a line each.
std::vector<std::string> reduce_remarks(const analysis::reduce::Reduction& reduction);

struct EvaluateView {
  const Trace& trace;
  const analysis::reduce::Evaluation& evaluation;
  reader::Symbols& symbols;
  analysis::reduce::RetentionOptions retention;
  bool by_rank = false;  // of trends in JSON
};
// A table for each scope, the smallest file that keeps the trends on top of each.
std::string evaluate_text(const EvaluateView& view);
std::string evaluate_json(const EvaluateView& view);
std::string evaluate_csv(const EvaluateView& view);

}  // namespace refrain::report
