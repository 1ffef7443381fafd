#include "mpi_runtime/fortran_names.h"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

namespace refrain::mpi_runtime {
namespace {

const void* module_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// The files of all libraries, in the order in which they were loaded. The program itself has no
// name here; what it defines comes before what the recorder does.
std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0')
          static_cast<std::vector<std::string>*>(out)->emplace_back(info->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

}  // namespace

void* find_behind_recorder(const char* name) {
  if (void* const found = dlsym(RTLD_NEXT, name)) return found;
  static const char here = 0;
  for (const std::string& library : loaded_libraries()) {
    void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const found = dlsym(handle, name);
    dlclose(handle);
    if (found != nullptr && module_of(found) != module_of(&here)) return found;
  }
  return nullptr;
}

void* find_of_program(const char* name, const char* mpi_name) {
  void* const found = find_behind_recorder(name);
  if (found == nullptr) return nullptr;
  void* const of_mpi = find_behind_recorder(mpi_name);
  return of_mpi != nullptr && module_of(of_mpi) == module_of(found) ? nullptr : found;
}

}  // namespace refrain::mpi_runtime
