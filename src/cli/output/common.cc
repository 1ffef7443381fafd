#include "cli/output/common.h"

#include <filesystem>
#include <set>

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

namespace fs = std::filesystem;

namespace {

// Other tools take it for stdout; a file of that name would be a surprise.
base::Status check_name(const std::string& path) {
  if (path != "-") return base::Done{};
  return base::usage("is no name of a file; name one, or ./- for one that is called so", path);
}

base::Error lost(const std::string& path) {
  return base::usage("would be lost, as it is read and written; choose another name", path);
}

}  // namespace

base::Status may_write(const std::string& path, bool force, const std::vector<std::string>& read) {
  if (const base::Status good = check_name(path); !good.ok()) return good;
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return base::Done{};
  if (!force) return base::usage("already exists; choose another name, or use --force", path);
  for (const std::string& one : read)
    if (fs::equivalent(path, one, error) && !error) return lost(path);
  return base::Done{};
}

base::Status may_write_all(const std::vector<std::string>& paths, bool force,
                           const std::vector<std::string>& read) {
  std::set<fs::path> named;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const auto place = fs::absolute(path, ignored);
    if (!path.empty() && !named.insert(fs::weakly_canonical(place, ignored)).second)
      return base::usage("is named for two files that would be written", path);
    if (const base::Status good = may_write(path, force, read); !good.ok()) return good;
  }
  return base::Done{};
}

base::Status may_replace(const std::string& path, const std::vector<std::string>& read) {
  if (const base::Status good = check_name(path); !good.ok()) return good;
  std::error_code error;
  if (!fs::exists(path, error)) return base::Done{};
  for (const std::string& one : read)
    for (fs::path at = fs::canonical(one, error); !error; at = at.parent_path()) {
      if (fs::equivalent(path, at, error) && !error) return lost(path);
      if (at == at.parent_path()) break;
    }
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
