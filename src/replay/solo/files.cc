// Files that the program itself opens for writing: they go to a scratch folder, so that a rank that
// runs alone leaves the files of the run as they are. What was written is read again from there.
// Files are renamed and removed there as well: one of the run that the program removes stays, but
// the program does not find it any more.
//
// Defines the C library's functions that open files by name or ask for them, and forwards them.
// Whether they do anything but that follows from the environment: REFRAIN_SOLO_FILES=1 leaves
// everything where it is, REFRAIN_SOLO_SCRATCH names the folder. Any thread; may be called before
// any constructor. Not seen: links, folders, names relative to the descriptor of a folder, and
// files that the C library opens itself (mkstemp).

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
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

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

// Where the copies of files are, by their absolute paths; empty: the program has removed the file,
// or given it another name. C functions find nothing under an empty name (ENOENT).
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

// The path of a new copy in the scratch folder, which is there; empty: it cannot be.
std::string path_of_copy(Copies& all, const std::string& name) {
  if (!make_folder(all)) return {};
  std::string flat = name.substr(1);
  for (char& c : flat)
    if (c == '/') c = '%';
  return all.folder + "/" + flat;
}

// The file that is opened in the place of `path`. `keeps`: what it holds is wanted.
std::string place_of(const char* path, bool writes, bool keeps) {
  const OwnFiles own;
  const std::string name = absolute(path);
  Copies& all = copies();
  const std::scoped_lock lock(all.mutex);
  const auto known = all.by_path.find(name);
  const bool is_known = known != all.by_path.end();
  if (is_known && (!writes || !known->second.empty())) return known->second;
  if (!is_known && (!writes || !is_of_the_run(name))) return path;
  const std::string copy = path_of_copy(all, name);
  if (copy.empty()) return path;
  if (keeps && !is_known) copy_file(name, copy);
  all.by_path[name] = copy;
  g_written.fetch_add(1, std::memory_order_relaxed);
  return copy;
}

bool is_plain(int folder, const char* path) {
  return path != nullptr && (path[0] == '/' || folder == AT_FDCWD);
}

// The name under which a file is read.
class Found {
 public:
  explicit Found(const char* path) : Found(AT_FDCWD, path) {}
  Found(int folder, const char* path) : path_(path) {
    if (!is_on() || !is_plain(folder, path)) return;
    place_ = place_of(path, false, true);
    path_ = place_.c_str();
  }
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  const char* path() const { return path_; }

 private:
  std::string place_;
  const char* path_;
};

bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }
bool is_temporary(int flags) { return (flags & O_TMPFILE) == O_TMPFILE; }

using Open = int (*)(const char*, int, ...);
using OpenAt = int (*)(int, const char*, int, ...);
using Fopen = std::FILE* (*)(const char*, const char*);
using Freopen = std::FILE* (*)(const char*, const char*, std::FILE*);

int open_by(std::atomic<Open>& slot, const char* name, const char* path, int flags, mode_t mode) {
  const Open open_really = real(slot, name);
  if (!is_on() || path == nullptr || is_temporary(flags)) return open_really(path, flags, mode);
  const std::string place = place_of(path, writes(flags), (flags & O_TRUNC) == 0);
  return open_really(place.c_str(), flags, mode);
}

int open_at_by(std::atomic<OpenAt>& slot, const char* name, int folder, const char* path, int flags,
               mode_t mode) {
  const OpenAt open_really = real(slot, name);
  if (!is_on() || !is_plain(folder, path) || is_temporary(flags))
    return open_really(folder, path, flags, mode);
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

// A null path keeps the file that is open.
std::FILE* freopen_by(std::atomic<Freopen>& slot, const char* name, const char* path,
                      const char* how, std::FILE* file) {
  const Freopen open_really = real(slot, name);
  if (!is_on() || path == nullptr || how == nullptr) return open_really(path, how, file);
  const bool is_written = std::strpbrk(how, "wa+") != nullptr;
  const std::string place = place_of(path, is_written, how[0] != 'w');
  return open_really(place.c_str(), how, file);
}

template <class Truncate, class Length>
int truncate_by(Truncate truncate_really, const char* path, Length length) {
  if (!is_on() || path == nullptr) return truncate_really(path, length);
  return truncate_really(place_of(path, true, true).c_str(), length);
}

bool is_file_of_the_run(const std::string& name) {
  return access(name.c_str(), F_OK) == 0 && is_of_the_run(name);
}

// What removing a file gives; nothing: it is none of the run, and none that was written.
std::optional<int> result_of_removing(const char* path) {
  if (!is_on() || path == nullptr) return std::nullopt;
  const OwnFiles own;
  const std::string name = absolute(path);
  Copies& all = copies();
  const std::scoped_lock lock(all.mutex);
  const auto known = all.by_path.find(name);
  if (known == all.by_path.end()) {
    if (!is_file_of_the_run(name)) return std::nullopt;
    all.by_path.emplace(name, "");
    return 0;
  }
  return unlink(std::exchange(known->second, "").c_str());
}

// What renaming a file gives; nothing: it is none of the run, and none that was written.
std::optional<int> result_of_renaming(const char* from, const char* to) {
  if (!is_on() || from == nullptr || to == nullptr) return std::nullopt;
  const OwnFiles own;
  const std::string old_name = absolute(from), new_name = absolute(to);
  Copies& all = copies();
  const std::scoped_lock lock(all.mutex);
  const auto known = all.by_path.find(old_name);
  const bool is_known = known != all.by_path.end();
  if (!is_known && !is_file_of_the_run(old_name)) return std::nullopt;
  if (old_name == new_name) return access((is_known ? known->second : old_name).c_str(), F_OK);
  const std::string copy = path_of_copy(all, new_name);
  if (copy.empty()) return std::nullopt;
  if (is_known) {
    if (std::rename(known->second.c_str(), copy.c_str()) != 0) return -1;
  } else {
    copy_file(old_name, copy);
    g_written.fetch_add(1, std::memory_order_relaxed);
  }
  all.by_path[old_name].clear();
  all.by_path[new_name] = copy;
  return 0;
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

#define REFRAIN_FREOPEN(name)                                                          \
  REFRAIN_EXPORT std::FILE* name(const char* path, const char* how, std::FILE* file) { \
    static std::atomic<Freopen> slot{nullptr};                                         \
    return freopen_by(slot, #name, path, how, file);                                   \
  }
#define REFRAIN_STAT(name, type)                                   \
  REFRAIN_EXPORT int name(const char* path, type* info) {          \
    static std::atomic<int (*)(const char*, type*)> slot{nullptr}; \
    return real(slot, #name)(Found(path).path(), info);            \
  }
#define REFRAIN_STAT_AT(name, type)                                              \
  REFRAIN_EXPORT int name(int folder, const char* path, type* info, int flags) { \
    static std::atomic<int (*)(int, const char*, type*, int)> slot{nullptr};     \
    const Found found(folder, path);                                             \
    return real(slot, #name)(folder, found.path(), info, flags);                 \
  }
#define REFRAIN_TRUNCATE(name, type)                              \
  REFRAIN_EXPORT int name(const char* path, type length) {        \
    static std::atomic<int (*)(const char*, type)> slot{nullptr}; \
    return truncate_by(real(slot, #name), path, length);          \
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
REFRAIN_FREOPEN(freopen)
REFRAIN_FREOPEN(freopen64)
REFRAIN_STAT(stat, struct stat)
REFRAIN_STAT(lstat, struct stat)
REFRAIN_STAT(stat64, struct stat64)
REFRAIN_STAT(lstat64, struct stat64)
REFRAIN_STAT_AT(fstatat, struct stat)
REFRAIN_STAT_AT(fstatat64, struct stat64)
REFRAIN_TRUNCATE(truncate, off_t)
REFRAIN_TRUNCATE(truncate64, off64_t)

REFRAIN_EXPORT int statx(int folder, const char* path, int flags, unsigned mask,
                         struct statx* info) {
  using Statx = int (*)(int, const char*, int, unsigned, struct statx*);
  static std::atomic<Statx> slot{nullptr};
  const Found found(folder, path);
  return real(slot, "statx")(folder, found.path(), flags, mask, info);
}

REFRAIN_EXPORT int access(const char* path, int mode) {
  static std::atomic<int (*)(const char*, int)> slot{nullptr};
  return real(slot, "access")(Found(path).path(), mode);
}

REFRAIN_EXPORT int faccessat(int folder, const char* path, int mode, int flags) {
  using Faccessat = int (*)(int, const char*, int, int);
  static std::atomic<Faccessat> slot{nullptr};
  const Found found(folder, path);
  return real(slot, "faccessat")(folder, found.path(), mode, flags);
}

REFRAIN_EXPORT int rename(const char* from, const char* to) {
  static std::atomic<int (*)(const char*, const char*)> slot{nullptr};
  if (const auto result = result_of_renaming(from, to)) return *result;
  return real(slot, "rename")(from, to);
}

REFRAIN_EXPORT int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  static std::atomic<int (*)(int, const char*, int, const char*)> slot{nullptr};
  if (is_plain(from_folder, from) && is_plain(to_folder, to))
    if (const auto result = result_of_renaming(from, to)) return *result;
  return real(slot, "renameat")(from_folder, from, to_folder, to);
}

REFRAIN_EXPORT int unlink(const char* path) {
  using Unlink = int (*)(const char*);
  static std::atomic<Unlink> slot{nullptr};
  if (const auto result = result_of_removing(path)) return *result;
  return real(slot, "unlink")(path);
}

REFRAIN_EXPORT int remove(const char* path) {
  using Remove = int (*)(const char*);
  static std::atomic<Remove> slot{nullptr};
  if (const auto result = result_of_removing(path)) return *result;
  return real(slot, "remove")(path);
}

}  // extern "C"
