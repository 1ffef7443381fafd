#include "convert/output_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace refrain::convert {
namespace {

namespace fs = std::filesystem;

base::Error cannot(const std::string& what, const std::string& path, const std::error_code& error) {
  return base::fail("cannot " + what + " (" + error.message() + ")", path);
}

std::error_code sync_path(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {errno, std::generic_category()};
  const int failed = ::fsync(fd) != 0 ? errno : 0;
  ::close(fd);
  return {failed, std::generic_category()};
}

// Some files one by one; of many (one for each rank) the file system at once, which is far quicker.
std::error_code sync_folder(const std::string& path) {
  constexpr size_t kFew = 64;
  std::error_code error;
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file(error)) files.push_back(it->path().string());
    if (files.size() > kFew) break;
  }
  if (files.size() <= kFew) {
    for (size_t i = 0; i < files.size() && !error; ++i) error = sync_path(files[i]);
    return error;
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return {errno, std::generic_category()};
  if (::syncfs(fd) != 0) error = {errno, std::generic_category()};
  ::close(fd);
  return error;
}

}  // namespace

base::Result<BufferedFile> BufferedFile::create(const std::string& path, const char* what) {
  auto file = format::AtomicFile::create(path, what);
  if (!file.ok()) return file.error();
  BufferedFile out(std::move(*file));
  out.buffer_.reserve(kFlushBytes + 4096);
  return out;
}

base::Status BufferedFile::flush() {
  const base::Status done = file_.append(buffer_);
  buffer_.clear();
  return done;
}

base::Status BufferedFile::overwrite(uint64_t offset, std::string_view bytes) {
  if (const base::Status done = flush(); !done.ok()) return done;
  return file_.overwrite(offset, bytes);
}

base::Status BufferedFile::commit() {
  if (const base::Status done = flush(); !done.ok()) return done;
  return file_.commit();
}

base::Status BufferedFile::commit_inside() {
  if (const base::Status done = flush(); !done.ok()) return done;
  return file_.commit(format::Sync::kLater);
}

base::Result<OutputFolder> OutputFolder::create(const std::string& path, const char* what) {
  fs::path plain(path);
  if (!plain.has_filename()) plain = plain.parent_path();  // "folder/"
  std::string name = ".";
  name += plain.filename().string() + "." + std::to_string(::getpid()) + ".tmp";
  OutputFolder out(plain.string(), (plain.parent_path() / name).string(), what);
  std::error_code error;
  fs::remove_all(out.temporary_, error);
  if (fs::create_directory(out.temporary_, error)) return out;
  out.temporary_.clear();
  return cannot(std::string("make ") + what, path,
                error ? error : std::make_error_code(std::errc::file_exists));
}

OutputFolder::OutputFolder(std::string path, std::string temporary, const char* what)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      what_(what),
      guard_(std::make_unique<base::Temporary>(temporary_)) {}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      what_(other.what_),
      guard_(std::move(other.guard_)) {}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

uint64_t OutputFolder::bytes() const {
  uint64_t sum = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(temporary_, error), end; !error && it != end;
       it.increment(error))
    if (it->is_regular_file(error)) sum += it->file_size(error);
  return sum;
}

base::Status OutputFolder::commit() {
  const std::string what = what_;
  std::error_code error = sync_folder(temporary_);
  if (error) return cannot("write " + what, path_, error);
  const std::string old = temporary_ + ".old";
  const bool replaces = fs::exists(path_, error);
  std::unique_ptr<base::Temporary> old_guard;
  {
    const base::HoldSignals hold;  // between the two names there is neither the old nor the new one
    if (replaces) fs::rename(path_, old, error);
    if (error) return cannot("replace " + what, path_, error);
    fs::rename(temporary_, path_, error);
    if (error) {
      std::error_code ignored;
      if (replaces) fs::rename(old, path_, ignored);
      return cannot("name " + what, path_, error);
    }
    temporary_.clear();
    if (replaces) old_guard = std::make_unique<base::Temporary>(old);
  }
  if (replaces) fs::remove_all(old, error);
  return base::Done{};
}

base::Status OutputFolder::commit_file(const std::string& name) {
  const std::string from = temporary_ + "/" + name;
  std::error_code error = sync_path(from);
  if (!error) fs::rename(from, path_, error);
  if (error) return cannot(std::string("write ") + what_, path_, error);
  return base::Done{};
}

base::Status check_output(const std::string& path, bool force, std::string_view anchor) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return base::Done{};
  if (!force)
    return base::usage("already exists; choose another name with -o, or use --force", path);
  const bool is_folder = fs::is_directory(path, error);
  if (!is_folder && fs::exists(path, error) && !fs::is_regular_file(path, error))
    return base::usage("is a device or a pipe, and the output a file; name another with -o", path);
  if (anchor.empty() && is_folder)
    return base::usage("is a folder, and the output is a file; name another with -o", path);
  if (is_folder && !fs::is_empty(path, error) && !fs::exists(fs::path(path) / anchor, error))
    return base::usage("is a folder that no conversion made (it lacks " + std::string(anchor) +
                           "); name another with -o",
                       path);
  return base::Done{};
}

}  // namespace refrain::convert
