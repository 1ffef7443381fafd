#include "replay/original_places.h"

#include <dlfcn.h>

#include <string>
#include <vector>

namespace refrain::replay {

OriginalPlaces::OriginalPlaces(const Trace& trace)
    : trace_(trace),
      define_(reinterpret_cast<mpi_runtime::DefineToldPath>(
          dlsym(RTLD_DEFAULT, mpi_runtime::kDefineToldPath))),
      tell_(reinterpret_cast<mpi_runtime::TellPath>(dlsym(RTLD_DEFAULT, mpi_runtime::kTellPath))) {
  if (define_ == nullptr) tell_ = nullptr;
}

int64_t OriginalPlaces::path_of(DefinitionId place) {
  const auto [known, is_new] = known_.try_emplace(place, -1);
  if (!is_new) return known->second;
  std::vector<std::string> texts;
  std::vector<int64_t> offsets;
  for (const DefinitionId one : trace_.call_path(place)) {
    const auto site = trace_.site(one);
    if (!site || site->module.empty()) break;  // what is further out is not known
    texts.emplace_back(site->module);
    texts.emplace_back(site->build_id);
    offsets.push_back(site->offset);
  }
  std::vector<mpi_runtime::ToldSite> sites;
  for (size_t i = 0; i < offsets.size(); ++i)
    sites.push_back({texts[2 * i].c_str(), texts[2 * i + 1].c_str(), offsets[i]});
  if (!sites.empty()) known->second = define_(sites.data(), sites.size());
  return known->second;
}

}  // namespace refrain::replay
