// Files that the program itself opens for writing: they go to a scratch folder, so that a rank that
// runs alone leaves the files of the run as they are. What was written is read again from there.
//
// Defines the C library's functions that open files by name, and forwards them. Whether they do
// anything but that follows from the environment: REFRAIN_SOLO_FILES=1 leaves everything where it
// is, REFRAIN_SOLO_SCRATCH names the folder. Any thread; may be called before any constructor.

#include "replay/solo/files.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "options/record.h"

namespace refrain::replay::solo {
namespace {

thread_local int g_own = 0;  // depth of calls of our own
std::atomic<uint64_t> g_written{0};

template <class F>
F real(std::atomic<F>& slot, const char* name) {
  F found = slot.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
    slot.store(found, std::memory_order_release);
  }
  return found;
}

// Where the copies of files are, by their absolute paths.
struct Copies {
  std::mutex mutex;
  std::string folder;
  std::unordered_map<std::string, std::string> by_path;
};
Copies& copies() {
  static Copies* const all = new Copies();  // never destroyed: files are opened until the end
  return *all;
}

bool is_on() {
  static const bool on = [] {
    const char* const files = std::getenv(options::variable_of(options::Variable::kSoloFiles));
    return files != nullptr && std::strcmp(files, "0") == 0;
  }();
  return on && g_own == 0;
}

std::string absolute(const char* path) {
  if (path[0] == '/') return path;
  char folder[4096];
  if (getcwd(folder, sizeof(folder)) == nullptr) return path;
  return std::string(folder) + "/" + path;
}

// Devices and the system's own files are no files of the run.
bool is_of_the_run(const std::string& path) {
  for (const std::string_view prefix : {"/dev/", "/proc/", "/sys/"})
    if (path.starts_with(prefix)) return false;
  struct stat info {};
  return stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

void copy_file(const std::string& from, const std::string& to) {
  std::FILE* const in = std::fopen(from.c_str(), "rb");
  if (in == nullptr) return;
  std::FILE* const out = std::fopen(to.c_str(), "wb");
  char piece[1 << 14];
  for (size_t n = 0; out != nullptr && (n = std::fread(piece, 1, sizeof(piece), in)) > 0;)
    std::fwrite(piece, 1, n, out);
  if (out != nullptr) std::fclose(out);
  std::fclose(in);
}

bool make_folder(Copies& all) {
  if (!all.folder.empty()) return true;
  if (const char* const given = std::getenv(options::variable_of(options::Variable::kSoloScratch));
      given != nullptr) {
    all.folder = given;
    mkdir(given, 0777);  // it may be there
    return true;
  }
  const char* const parent = std::getenv("TMPDIR");
  std::string path =
      std::string(parent == nullptr ? "/tmp" : parent) + "/refrain-files-" + std::string(6, 'X');
  if (mkdtemp(path.data()) == nullptr) return false;
  all.folder = path;
  return true;
}

// The file that is opened in the place of `path`. `keeps`: what it holds is wanted.
std::string place_of(const char* path, bool writes, bool keeps) {
  const OwnFiles own;
  const std::string name = absolute(path);
  Copies& all = copies();
  const std::scoped_lock lock(all.mutex);
  if (const auto known = all.by_path.find(name); known != all.by_path.end()) return known->second;
  if (!writes || !is_of_the_run(name) || !make_folder(all)) return path;
  std::string flat = name.substr(1);
  for (char& c : flat)
    if (c == '/') c = '%';
  const std::string copy = all.folder + "/" + flat;
  if (keeps) copy_file(name, copy);
  all.by_path.emplace(name, copy);
  g_written.fetch_add(1, std::memory_order_relaxed);
  return copy;
}

bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }
bool is_temporary(int flags) { return (flags & O_TMPFILE) == O_TMPFILE; }

using Open = int (*)(const char*, int, ...);
using OpenAt = int (*)(int, const char*, int, ...);
using Fopen = std::FILE* (*)(const char*, const char*);

int open_by(std::atomic<Open>& slot, const char* name, const char* path, int flags, mode_t mode) {
  const Open open_really = real(slot, name);
  if (!is_on() || path == nullptr || is_temporary(flags)) return open_really(path, flags, mode);
  const std::string place = place_of(path, writes(flags), (flags & O_TRUNC) == 0);
  return open_really(place.c_str(), flags, mode);
}

int open_at_by(std::atomic<OpenAt>& slot, const char* name, int folder, const char* path, int flags,
               mode_t mode) {
  const OpenAt open_really = real(slot, name);
  const bool is_plain = path != nullptr && (path[0] == '/' || folder == AT_FDCWD);
  if (!is_on() || !is_plain || is_temporary(flags)) return open_really(folder, path, flags, mode);
  const std::string place = place_of(path, writes(flags), (flags & O_TRUNC) == 0);
  return open_really(AT_FDCWD, place.c_str(), flags, mode);
}

std::FILE* fopen_by(std::atomic<Fopen>& slot, const char* name, const char* path, const char* how) {
  const Fopen open_really = real(slot, name);
  if (!is_on() || path == nullptr || how == nullptr) return open_really(path, how);
  const bool is_written = std::strpbrk(how, "wa+") != nullptr;
  const std::string place = place_of(path, is_written, how[0] != 'w');
  return open_really(place.c_str(), how);
}

}  // namespace

OwnFiles::OwnFiles() { ++g_own; }
OwnFiles::~OwnFiles() { --g_own; }

uint64_t files_written() { return g_written.load(std::memory_order_relaxed); }

std::string files_folder() {
  Copies& all = copies();
  const std::scoped_lock lock(all.mutex);
  return all.folder;
}

// Whether a file that is to be removed is one of the run, which stays.
static bool keeps_file(const char* path) {
  if (!is_on() || path == nullptr) return false;
  const OwnFiles own;
  const std::string name = absolute(path);
  Copies& all = copies();
  const std::scoped_lock lock(all.mutex);
  const auto known = all.by_path.find(name);
  if (known == all.by_path.end()) return access(name.c_str(), F_OK) == 0 && is_of_the_run(name);
  unlink(known->second.c_str());
  all.by_path.erase(known);
  return true;
}

}  // namespace refrain::replay::solo

using namespace refrain::replay::solo;  // NOLINT: the rest are C entry points
#define REFRAIN_EXPORT __attribute__((visibility("default")))
#define REFRAIN_MODE(flags)                        \
  mode_t mode = 0;                                 \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {    \
    va_list args;                                  \
    va_start(args, flags);                         \
    mode = static_cast<mode_t>(va_arg(args, int)); \
    va_end(args);                                  \
  }
#define REFRAIN_OPEN(name)                                    \
  REFRAIN_EXPORT int name(const char* path, int flags, ...) { \
    static std::atomic<Open> slot{nullptr};                   \
    REFRAIN_MODE(flags)                                       \
    return open_by(slot, #name, path, flags, mode);           \
  }
#define REFRAIN_OPEN_AT(name)                                             \
  REFRAIN_EXPORT int name(int folder, const char* path, int flags, ...) { \
    static std::atomic<OpenAt> slot{nullptr};                             \
    REFRAIN_MODE(flags)                                                   \
    return open_at_by(slot, #name, folder, path, flags, mode);            \
  }
#define REFRAIN_FOPEN(name)                                           \
  REFRAIN_EXPORT std::FILE* name(const char* path, const char* how) { \
    static std::atomic<Fopen> slot{nullptr};                          \
    return fopen_by(slot, #name, path, how);                          \
  }
#define REFRAIN_CREAT(name, open)                                            \
  REFRAIN_EXPORT int name(const char* path, mode_t mode) {                   \
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, static_cast<int>(mode)); \
  }

extern "C" {

REFRAIN_OPEN(open)
REFRAIN_OPEN(open64)
REFRAIN_OPEN_AT(openat)
REFRAIN_OPEN_AT(openat64)
REFRAIN_CREAT(creat, open)
REFRAIN_CREAT(creat64, open64)
REFRAIN_FOPEN(fopen)
REFRAIN_FOPEN(fopen64)

REFRAIN_EXPORT int unlink(const char* path) {
  using Unlink = int (*)(const char*);
  static std::atomic<Unlink> slot{nullptr};
  return keeps_file(path) ? 0 : real(slot, "unlink")(path);
}

REFRAIN_EXPORT int remove(const char* path) {
  using Remove = int (*)(const char*);
  static std::atomic<Remove> slot{nullptr};
  return keeps_file(path) ? 0 : real(slot, "remove")(path);
}

}  // extern "C"
