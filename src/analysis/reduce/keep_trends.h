// The method `auto` without a threshold: uses the largest threshold that preserves the diagnosis.
// After each reduction it checks which trends are retained (retention.h); if one is lost, it tries
// a smaller threshold.
#pragma once

#include <vector>

#include "analysis/reduce/reduce.h"
#include "analysis/reduce/retention.h"

namespace refrain::analysis::reduce {

// What is tried, the loosest first; the method itself where it has a threshold.
std::vector<similarity::MethodSpec> attempts_of(const similarity::MethodSpec& method);

// reduce(), by the first of these attempts that retains the trends of the trace, otherwise by the
// last one; Reduction::attempts and ::lost say so. Where waits cannot be known it is the first one.
// Every attempt takes as long as reduce() and `refrain waits` together. Fails as they do.
Result<Reduction> reduce_keeping_trends(const Trace& trace, const ReduceOptions& options,
                                        const RetentionOptions& retention);

}  // namespace refrain::analysis::reduce
