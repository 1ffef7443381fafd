#include "cli/launch/library_search.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace refrain::cli {
namespace {

#if defined(__x86_64__)
constexpr const char* kMultiarch = "x86_64-linux-gnu";
#elif defined(__aarch64__)
constexpr const char* kMultiarch = "aarch64-linux-gnu";
#elif defined(__powerpc64__)
constexpr const char* kMultiarch = "powerpc64le-linux-gnu";
#else
constexpr const char* kMultiarch = "linux-gnu";
#endif

std::string directory_of(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string out = real == nullptr ? path : real;
  std::free(real);
  const size_t slash = out.rfind('/');
  return slash == std::string::npos ? "." : out.substr(0, slash);
}

bool is_there(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

LibrarySearch::LibrarySearch(const std::string& library_path, const std::string& cache_path)
    : library_path_(split_path(library_path)), cache_path_(cache_path) {}

// glibc's cache, "new" format: a header of 48 bytes, then entries of 24: flags, offset of the name,
// offset of the path, OS version, hardware capabilities. Offsets count from the header. Of entries
// of one name the first is preferred.
std::string LibrarySearch::cached(const std::string& name) const {
  constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
  constexpr size_t kCount = kMagic.size(), kEntries = 48, kEntry = 24, kName = 4, kPath = 8;
  if (!cache_) cache_.emplace(cache_path_);
  const size_t begin = cache_->bytes().find(kMagic);
  if (begin == std::string_view::npos) return {};
  const std::string_view cache = cache_->bytes().substr(begin);
  const auto number_at = [&](size_t at) {
    uint32_t number = 0;
    if (at + sizeof number <= cache.size()) std::memcpy(&number, &cache[at], sizeof number);
    return number;
  };
  const size_t count = std::min<size_t>(number_at(kCount), cache.size() / kEntry);
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = kEntries + i * kEntry;
    const size_t at = number_at(entry + kName);
    if (at >= cache.size() || cache.size() - at <= name.size() || cache[at + name.size()] != '\0' ||
        std::memcmp(&cache[at], name.data(), name.size()) != 0)
      continue;
    const std::string_view rest =
        cache.substr(std::min<size_t>(number_at(entry + kPath), cache.size()));
    return std::string(rest.substr(0, rest.find('\0')));
  }
  return {};
}

std::string LibrarySearch::expand(const std::string& path, const std::string& user_path) {
  if (path.find('$') == std::string::npos) return path;
  std::string out = path;
  const std::string lib = std::string("lib/") + kMultiarch;
  for (const bool braces : {false, true}) {
    const std::string open = braces ? "${" : "$", close = braces ? "}" : "";
    replace_all(out, open + "ORIGIN" + close, directory_of(user_path));
    replace_all(out, open + "LIB" + close, lib);
  }
  return out;
}

std::string LibrarySearch::find(const std::string& name, const ElfFile& user,
                                const std::string& user_path,
                                const std::vector<std::string>& inherited_rpath) const {
  if (name.find('/') != std::string::npos) {
    const std::string path = expand(name, user_path);
    return is_there(path) ? path : "";
  }
  std::vector<std::string> directories;
  if (user.run_path.empty()) {  // a DT_RUNPATH switches every DT_RPATH off
    for (const std::string& d : user.rpath) directories.push_back(expand(d, user_path));
    directories.insert(directories.end(), inherited_rpath.begin(), inherited_rpath.end());
  }
  directories.insert(directories.end(), library_path_.begin(), library_path_.end());
  for (const std::string& d : user.run_path) directories.push_back(expand(d, user_path));
  for (const std::string& d : directories)
    if (is_there(d + "/" + name)) return d + "/" + name;
  if (const std::string known = cached(name); !known.empty() && is_there(known)) return known;
  const std::string multiarch = std::string("/") + kMultiarch;
  for (const std::string& d :
       {"/lib" + multiarch, "/usr/lib" + multiarch, std::string("/lib64"),
        std::string("/usr/lib64"), std::string("/lib"), std::string("/usr/lib")})
    if (is_there(d + "/" + name)) return d + "/" + name;
  return "";
}

}  // namespace refrain::cli
