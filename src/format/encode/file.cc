#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "format/encode/encode.h"

namespace refrain::format {

namespace {

base::Error failure(const char* what, const std::string& path, int error) {
  return base::fail(std::string(what) + ": " + std::strerror(error), path);
}

// 0, or the errno of what failed.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  int rc = 0;
  do {
    rc = fsync(fd);
  } while (rc != 0 && errno == EINTR);
  return rc == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: nothing to sync to
}

// Writing beyond the process' limit on file sizes would not only fail: the system sends SIGXFSZ,
// which ends a program that does not expect it.
bool is_within_limit(uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

}  // namespace

base::Status write_file_atomically(const std::string& path, std::string_view bytes) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty()) return base::usage("the output is a folder, give a file name", path);
  struct stat there {};
  if (stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode))
    return base::usage("the output is a folder, give a file name", path);
  if (!is_within_limit(bytes.size())) return failure("cannot write the trace", path, EFBIG);
  std::string temporary = slash == std::string::npos ? "" : folder;
  temporary += "." + name + "." + std::to_string(getpid()) + ".tmp";

  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  int fd = open(temporary.c_str(), flags, 0666);
  if (fd < 0 && errno == EEXIST) {
    // Left by a process of the same number that died: nobody else writes this name now.
    unlink(temporary.c_str());
    fd = open(temporary.c_str(), flags, 0666);
  }
  if (fd < 0) return failure("cannot write the trace", path, errno);
  int error = write_all(fd, bytes);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    return failure("cannot write the trace", path, error);
  }
  // So that the new name survives a power cut too; a folder that cannot be opened is no failure.
  const int dir = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    fsync(dir);
    close(dir);
  }
  return base::Done{};
}

}  // namespace refrain::format
