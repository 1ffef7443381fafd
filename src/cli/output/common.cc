#include "cli/output/common.h"

#include <filesystem>

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

base::Status may_write(const std::string& path, bool force, const std::vector<std::string>& read) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return base::Done{};
  if (!force)
    return base::usage("already exists; choose another name with -o, or use --force", path);
  for (const std::string& one : read)
    if (std::filesystem::equivalent(path, one, error) && !error)
      return base::usage("would be lost, as it is read and written; choose another name", path);
  return base::Done{};
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
