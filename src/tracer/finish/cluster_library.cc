#include "tracer/finish/cluster_library.h"

#include <dlfcn.h>

#include <new>

#include "tracer/state/memory.h"

namespace refrain::tracer {

namespace {

// The folder of the recorder, with a slash behind it; empty: the system knows no file for it.
std::string own_folder() {
  static const char kHere = 0;
  Dl_info info{};
  if (dladdr(&kHere, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

struct Library {
  format::ClusterLibraryEntry ask;
};

base::Result<Library> load() {
  const std::string path = own_folder() + format::kClusterLibraryFile;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return base::fail(why != nullptr ? why : "cannot be loaded", path);
  }
  const auto found =
      reinterpret_cast<format::ClusterLibraryEntry>(dlsym(library, format::kClusterLibraryEntry));
  if (found == nullptr) return base::fail("is no part of Refrain", path);
  return Library{found};
}

struct Answer {
  std::string bytes;
  bool has_room = true;
};

void take(void* context, const char* bytes, size_t size) {
  auto& to = *static_cast<Answer*>(context);
  to.has_room = memory_for(size);
  if (to.has_room) to.bytes.assign(bytes, size);
}

}  // namespace

base::Result<std::string> ask_cluster_library(format::ClusterQuestion question, uint64_t rank,
                                              std::string_view bytes) {
  const auto library = load();
  if (!library.ok()) return library.error();
  Answer answer;
  const int rc = library->ask(format::kClusterBuild, static_cast<uint32_t>(question), rank,
                              bytes.data(), bytes.size(), take, &answer);
  if (!answer.has_room)
    return base::fail("no memory for what it says", format::kClusterLibraryFile);
  if (rc != 0) return base::fail(answer.bytes, format::kClusterLibraryFile);
  return std::move(answer.bytes);
}

}  // namespace refrain::tracer
