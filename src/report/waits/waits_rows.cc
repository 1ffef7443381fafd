#include "report/waits/waits_rows.h"

#include <algorithm>
#include <utility>

#include "reader/function_names.h"
#include "report/profile/profile_rows.h"
#include "text/path_names.h"

namespace refrain::report {

using analysis::waits::Pattern;
using analysis::waits::Severity;

bool is_shown(const WaitsView& view, Pattern pattern, Rank rank) {
  return (!view.pattern || contains(*view.pattern, pattern)) &&
         (view.rank < 0 || view.rank == rank);
}

std::vector<WaitPattern> wait_patterns(const WaitsView& view) {
  std::vector<WaitPattern> out;
  for (int i = 0; i < analysis::waits::kPatterns; ++i) {
    const auto pattern = static_cast<Pattern>(i);
    if (view.pattern && !contains(*view.pattern, pattern)) continue;
    WaitPattern row;
    row.pattern = pattern;
    std::map<std::pair<DefinitionId, CallId>, WaitPath> paths;
    for (const Severity& s : view.waits.severities) {
      if (!contains(pattern, s.pattern) || !is_shown(view, s.pattern, s.rank)) continue;
      row.ns += s.ns;
      row.count += s.count;
      if (s.pattern == pattern) row.own_ns += s.ns;
      row.ranks[s.rank] += s.ns;
      WaitPath& path = paths[{s.path, s.call}];
      path.path = s.path;
      path.call = s.call;
      path.ns += s.ns;
      path.count += s.count;
      path.ranks[s.rank] += s.ns;
    }
    for (auto& [key, path] : paths) row.paths.push_back(std::move(path));
    std::stable_sort(row.paths.begin(), row.paths.end(),
                     [](const WaitPath& a, const WaitPath& b) { return a.ns > b.ns; });
    out.push_back(std::move(row));
  }
  return out;
}

std::string call_or_edge(CallId call) { return call == 0 ? "begin" : call_name(call); }

std::vector<DefinitionId> paths_with(const Trace& trace, reader::Symbols& symbols,
                                     const std::string& text) {
  std::vector<DefinitionId> out;
  text::PathNames names(trace, symbols);
  for (DefinitionId id = 0; id < trace.definition_count(); ++id)
    if (!trace.call_path(id).empty() && names.contains(id, text)) out.push_back(id);
  return out;
}

}  // namespace refrain::report
