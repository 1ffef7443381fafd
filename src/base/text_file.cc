#include "base/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace refrain::base {

Result<std::string> read_text_file(const std::string& path, const char* what, size_t most_bytes) {
  const auto cannot = [&] {
    return fail(std::string("cannot read the ") + what + ": " + std::strerror(errno), path);
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rbe"),
                                                           std::fclose);
  if (in == nullptr) return cannot();
  std::string text;
  char block[1 << 16];
  while (const size_t got = std::fread(block, 1, sizeof block, in.get())) {
    text.append(block, got);
    if (text.size() > most_bytes)
      return usage(
          std::string("a ") + what + " has at most " + std::to_string(most_bytes >> 20) + " MiB",
          path);
  }
  if (std::ferror(in.get()) != 0) return cannot();
  return text;
}

Result<std::string> read_regular_file(const std::string& path, const char* what) {
  const auto cannot = [&](const char* why) {
    return fail(std::string("cannot read the ") + what + ": " + why, path);
  };
  // open() of a pipe without a writer would wait for one.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return cannot(std::strerror(errno));
  struct stat info {};
  int error = fstat(fd, &info) == 0 ? 0 : errno;
  std::string bytes;
  const bool is_regular = error == 0 && S_ISREG(info.st_mode);
  if (is_regular) bytes.resize(static_cast<size_t>(info.st_size));
  size_t have = 0;
  while (error == 0 && have < bytes.size()) {
    const ssize_t got = read(fd, bytes.data() + have, bytes.size() - have);
    if (got == 0) break;  // it has become shorter
    if (got > 0)
      have += static_cast<size_t>(got);
    else if (errno != EINTR)
      error = errno;
  }
  close(fd);
  if (error != 0) return cannot(std::strerror(error));
  if (!is_regular) return cannot(S_ISDIR(info.st_mode) ? "is a directory" : "not a regular file");
  bytes.resize(have);
  return bytes;
}

}  // namespace refrain::base
