#include "report/waits_rows.h"

#include <algorithm>
#include <utility>

#include "reader/function_names.h"
#include "report/json_text.h"
#include "report/profile_rows.h"

namespace refrain::report {

using analysis::waits::Pattern;
using analysis::waits::Severity;

const std::vector<PathStep>& PathNames::steps(DefinitionId path) {
  const auto [known, is_new] = known_.try_emplace(path);
  std::vector<PathStep>& out = known->second;
  if (!is_new) return out;
  std::vector<DefinitionId> sites = trace_.call_path(path);
  std::reverse(sites.begin(), sites.end());
  for (const DefinitionId id : sites) {
    PathStep step;
    if (const auto site = trace_.site(id)) {
      step.site = printable(symbols_.label(*site));
      step.function = printable(symbols_.find(*site).function);
    }
    if (step.site.empty()) step.site = "unknown";
    out.push_back(std::move(step));
  }
  if (out.empty()) out.push_back({"unknown", ""});
  return out;
}

std::string PathNames::text(DefinitionId path) {
  std::string out;
  for (const PathStep& step : steps(path)) out += (out.empty() ? "" : " > ") + step.label();
  return out;
}

bool PathNames::contains(DefinitionId path, const std::string& part) {
  if (text(path).find(part) != std::string::npos) return true;
  std::string full;
  for (const PathStep& step : steps(path)) {
    full += full.empty() ? "" : " > ";
    full += step.function.empty() ? step.site : step.function + " " + step.site;
  }
  return full.find(part) != std::string::npos ||
         reader::folded_name(full).find(part) != std::string::npos;
}

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
  PathNames names(trace, symbols);
  for (DefinitionId id = 0; id < trace.definition_count(); ++id)
    if (!trace.call_path(id).empty() && names.contains(id, text)) out.push_back(id);
  return out;
}

}  // namespace refrain::report
