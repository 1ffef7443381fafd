// Where the system's loader would find a library, without asking it: ld.so(8), in its order.
// Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/launch/elf_file.h"
#include "cli/launch/file_mapping.h"

namespace refrain::cli {

class LibrarySearch {
 public:
  // `library_path`: the value of LD_LIBRARY_PATH. `cache_path`: normally /etc/ld.so.cache.
  explicit LibrarySearch(const std::string& library_path,
                         const std::string& cache_path = "/etc/ld.so.cache");

  // Path of the library that `user` (the file at `user_path`) asks for by `name`; empty when there
  // is none. `inherited_rpath`: DT_RPATH directories of the files that led to `user`.
  std::string find(const std::string& name, const ElfFile& user, const std::string& user_path,
                   const std::vector<std::string>& inherited_rpath) const;

  // `path` with $ORIGIN, $LIB and $PLATFORM of the file at `user_path` replaced.
  static std::string expand(const std::string& path, const std::string& user_path);

 private:
  // The path that the loader's cache has for a name; empty: none.
  std::string cached(const std::string& name) const;

  std::vector<std::string> library_path_;
  std::string cache_path_;
  mutable std::optional<FileMapping> cache_;  // once it is asked for
};

}  // namespace refrain::cli
