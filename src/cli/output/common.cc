#include "cli/output/common.h"

#include "cli/output/output.h"

namespace refrain::cli {

int status_of(const Trace& trace) {
  if (trace.info().complete) return 0;
  return report({base::ErrorCode::kIncomplete,
                 "the trace is incomplete; `refrain info` lists what is missing", trace.name()});
}

int print(const std::string& text) {
  Output out;
  out.write(text);
  const base::Status done = out.finish();
  return done.ok() ? 0 : report(done.error());
}

base::Status check_rank(const Trace& trace, int64_t rank) {
  const Rank count = trace.rank_count();
  if (rank >= 0 && rank < count) return base::Done{};
  const std::string range = count == 0   ? "has no ranks"
                            : count == 1 ? "has only rank 0"
                                         : "has ranks 0 to " + std::to_string(count - 1);
  return base::usage("no rank " + std::to_string(rank) + ": the trace " + range, trace.name());
}

}  // namespace refrain::cli
