#include "online/own_files.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "format/spool/job_files.h"

namespace refrain::online {

namespace {

base::Error with_error(const std::string& what, const std::string& path) {
  return base::fail(what + " (" + std::strerror(errno) + ")", path);
}

}  // namespace

base::Result<std::string> read_own_file(const std::string& path, uint64_t most_bytes,
                                        time_t* changed) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return with_error("cannot be read", path);
  if (!S_ISREG(info.st_mode) || (info.st_uid != geteuid() && geteuid() != 0))
    return base::fail("not a plain file of yours: left alone", path);
  if (changed != nullptr) *changed = info.st_mtime;
  return format::spool::read_file(path, most_bytes);
}

base::Status write_own_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + "." + std::to_string(getpid());
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool is_good =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) close(fd);
  if (is_good && rename(temporary.c_str(), path.c_str()) == 0) return base::Done{};
  const base::Error error = with_error("cannot be written", path);
  unlink(temporary.c_str());
  return error;
}

std::string random_word() {
  unsigned char bytes[16];
  for (size_t at = 0; at < sizeof bytes;) {
    const ssize_t n = getrandom(bytes + at, sizeof bytes - at, 0);
    if (n > 0) at += static_cast<size_t>(n);
  }
  std::string out;
  for (const unsigned char b : bytes) {
    out += "0123456789abcdef"[b >> 4];
    out += "0123456789abcdef"[b & 15];
  }
  return out;
}

}  // namespace refrain::online
