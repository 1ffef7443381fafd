#include "text/path_names.h"

#include <algorithm>
#include <utility>

#include "reader/function_names.h"
#include "text/escape.h"

namespace refrain::text {

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

}  // namespace refrain::text
