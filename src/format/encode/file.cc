#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "format/encode/atomic_file.h"
#include "format/encode/encode.h"

namespace refrain::format {

namespace {

// 0, or the errno of what failed.
int write_all(int fd, uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return 0;
}

int sync(int fd) {
  int rc = 0;
  do {
    rc = fsync(fd);
  } while (rc != 0 && errno == EINTR);
  return rc == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: nothing to sync to
}

// File systems that keep data and names in order (ext4, btrfs) give the file room on the disk now,
// and its new name is not on the disk before its bytes are.
void begin_to_sync(int fd) {
#ifdef SYNC_FILE_RANGE_WRITE
  const int saved = errno;
  sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
  errno = saved;
#else
  (void)fd;
#endif
}

// Writing beyond the process' limit on file sizes would not only fail: the system sends SIGXFSZ,
// which ends a program that does not expect it.
bool is_within_limit(uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::string folder, std::string temporary,
                       const char* what)
    : path_(std::move(path)),
      folder_(std::move(folder)),
      temporary_(std::move(temporary)),
      what_(what),
      guard_(std::make_unique<base::Temporary>(temporary_)) {}
AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      folder_(std::move(other.folder_)),
      temporary_(std::move(other.temporary_)),
      what_(other.what_),
      guard_(std::move(other.guard_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_) {}
AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(folder_, other.folder_);
  std::swap(temporary_, other.temporary_);
  std::swap(what_, other.what_);
  std::swap(guard_, other.guard_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}
AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
  fd_ = -1;
}

base::Error AtomicFile::failed(int error) const {
  const std::string why = error == 0 ? "it is written already" : std::strerror(error);
  return base::fail(std::string("cannot write ") + what_ + ": " + why, path_);
}

base::Result<AtomicFile> AtomicFile::create(const std::string& path, const char* what) {
  const size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty()) return base::usage("the output is a folder, give a file name", path);
  struct stat there {};
  const bool is_there = stat(path.c_str(), &there) == 0;
  if (is_there && S_ISDIR(there.st_mode))
    return base::usage("the output is a folder, give a file name", path);
  // The new file takes the name: /dev/null would be gone.
  if (is_there && !S_ISREG(there.st_mode))
    return base::usage("the output is a device or a pipe, give a file name", path);
  std::string temporary = slash == std::string::npos ? "" : folder;
  temporary += "." + name + "." + std::to_string(getpid()) + ".tmp";

  AtomicFile out(path, std::move(folder), std::move(temporary), what);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  out.fd_ = open(out.temporary_.c_str(), flags, 0666);
  if (out.fd_ < 0 && errno == EEXIST) {
    // Left by a process of the same number that died: nobody else writes this name now.
    unlink(out.temporary_.c_str());
    out.fd_ = open(out.temporary_.c_str(), flags, 0666);
  }
  if (out.fd_ < 0) return out.failed(errno);
  return out;
}

base::Status AtomicFile::write_at(uint64_t offset, std::string_view bytes) {
  if (fd_ < 0) return failed(0);
  const int error = is_within_limit(offset + bytes.size()) ? write_all(fd_, offset, bytes) : EFBIG;
  if (error != 0) return failed(error);
  return base::Done{};
}

base::Status AtomicFile::append(std::string_view bytes) {
  base::Status written = write_at(size_, bytes);
  if (written.ok()) size_ += bytes.size();
  return written;
}

base::Status AtomicFile::overwrite(uint64_t offset, std::string_view bytes) {
  return write_at(offset, bytes);
}

base::Status AtomicFile::commit(Sync when) {
  if (fd_ < 0) return failed(0);
  int error = when == Sync::kNow ? sync(fd_) : 0;
  if (when == Sync::kSoon) begin_to_sync(fd_);
  if (close(std::exchange(fd_, -1)) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary_.c_str(), path_.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary_.c_str());
    return failed(error);
  }
  if (when != Sync::kNow) return base::Done{};
  // So that the new name survives a power cut too; a folder that cannot be opened is no failure.
  const int dir = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    fsync(dir);
    close(dir);
  }
  return base::Done{};
}

base::Status write_file_atomically(const std::string& path, std::string_view bytes,
                                   const char* what, Sync when) {
  base::Result<AtomicFile> file = AtomicFile::create(path, what);
  if (!file.ok()) return file.error();
  const base::Status written = file->append(bytes);
  return written.ok() ? file->commit(when) : written;
}

}  // namespace refrain::format
