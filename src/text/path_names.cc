#include "text/path_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reader/function_names.h"
#include "text/escape.h"

namespace refrain::text {
namespace {

constexpr size_t kMostAlike = 500;    // paths that end alike and are told apart
constexpr size_t kMostDifferent = 2;  // steps that tell one from all others

using Labels = std::vector<std::string>;  // of the steps of a path, from the inside

// The steps in which a path differs first from each of the others, the outermost first.
std::string difference(const Labels& path, const std::vector<const Labels*>& others) {
  std::set<size_t> depths;
  for (const Labels* other : others) {
    const auto differ = std::mismatch(path.begin(), path.end(), other->begin(), other->end());
    if (differ.first != path.end()) depths.insert(static_cast<size_t>(differ.first - path.begin()));
  }
  std::string out;
  size_t shown = 0;
  for (auto depth = depths.rbegin(); depth != depths.rend() && shown < kMostDifferent; ++depth)
    out += (shown++ > 0 ? " > " : "") + path[*depth];
  return out;
}

}  // namespace

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

std::string PathNames::label(DefinitionId path) {
  return steps(path).back().label() + callers(path);
}

std::string PathNames::callers(DefinitionId path) const {
  const auto known = differences_.find(path);
  return known == differences_.end() ? "" : " (in " + known->second + ")";
}

void PathNames::tell_apart(const std::vector<DefinitionId>& paths) {
  differences_.clear();
  std::map<DefinitionId, Labels> labels;
  std::map<std::string, std::vector<DefinitionId>> alike;  // by their innermost step
  for (const DefinitionId path : paths) {
    const auto [known, is_new] = labels.try_emplace(path);
    if (!is_new) continue;
    const std::vector<PathStep>& of = steps(path);
    for (auto step = of.rbegin(); step != of.rend(); ++step) known->second.push_back(step->label());
    alike[known->second.front()].push_back(path);
  }
  for (const auto& [innermost, same] : alike) {
    if (same.size() < 2 || same.size() > kMostAlike) continue;
    std::vector<const Labels*> all;
    for (const DefinitionId path : same) all.push_back(&labels[path]);
    for (const DefinitionId path : same)
      if (std::string text = difference(labels[path], all); !text.empty())
        differences_[path] = std::move(text);
  }
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
