#include "replay/quiet.h"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

#include "base/known_mpis.h"

namespace refrain::replay {
namespace {

struct Search {
  const char* name;
  void* found = nullptr;
};

// A symbol of a library by its own handle is looked for in it and in what it needs, not in what was
// preloaded.
int look(dl_phdr_info* info, size_t, void* data) {
  auto* const search = static_cast<Search*>(data);
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const std::string_view file = path.substr(path.find_last_of('/') + 1);
  if (base::mpi_of_library(file).empty()) return 0;
  void* const handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  search->found = dlsym(handle, search->name);
  dlclose(handle);  // it stays: it was loaded before
  return search->found != nullptr ? 1 : 0;
}

}  // namespace

void* find_quiet(const char* name) {
  Search search{name};
  dl_iterate_phdr(look, &search);
  return search.found;
}

}  // namespace refrain::replay
