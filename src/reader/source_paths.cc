#include "reader/source_paths.h"

#include <string>
#include <unordered_map>

namespace refrain::reader {

SourcePaths::SourcePaths(const Trace& trace, Symbols& symbols) {
  std::unordered_map<std::string, DefinitionId> known;
  for (DefinitionId id = 0; id < trace.definition_count(); ++id) {
    first_.push_back(id);
    std::string key;
    for (const DefinitionId step : trace.call_path(id)) {
      const auto site = trace.site(step);
      const SourcePlace* place = site ? &symbols.find(*site) : nullptr;
      key += place == nullptr || place->origin.empty() ? "#" + std::to_string(step) : place->origin;
      key += site ? "@" + std::string(site->module) + "\n" : "\n";
    }
    if (!key.empty()) first_.back() = known.try_emplace(std::move(key), id).first->second;
  }
}

}  // namespace refrain::reader
