#include "cli/launch/own_files.h"

#include <unistd.h>

#include <climits>

#include "cli/launch/elf_file.h"
#include "options/environment.h"

namespace refrain::cli {

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string self_path() {
  char self[PATH_MAX] = {};
  return readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 ? self : "";
}

std::vector<std::string> own_folders() {
  const std::string self = self_path();
  const std::string here = self.empty() ? "." : directory_of(self);
  std::vector<std::string> folders = split_path(options::text_of(options::Variable::kLibraryPath));
  for (const char* below : {"", REFRAIN_RECORDERS, "/../lib", "/src/tracer"})
    folders.push_back(here + below);
  return folders;
}

}  // namespace refrain::cli
