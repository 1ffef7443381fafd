#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "format/messages/decode/log_reader.h"

namespace refrain::format::messages {
namespace {

class Memory : public LogSource {
 public:
  explicit Memory(std::string_view bytes) : bytes_(bytes) {}
  base::Result<size_t> read_at(uint64_t offset, std::span<char> out) override {
    if (offset >= bytes_.size()) return size_t{0};
    const size_t n = std::min<size_t>(out.size(), bytes_.size() - static_cast<size_t>(offset));
    std::memcpy(out.data(), bytes_.data() + offset, n);
    return n;
  }

 private:
  std::string_view bytes_;
};

class File : public LogSource {
 public:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~File() override { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  base::Result<size_t> read_at(uint64_t offset, std::span<char> out) override {
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t n =
          ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return base::fail(std::strerror(errno), path_);
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

 private:
  int fd_;
  std::string path_;
};

}  // namespace

std::unique_ptr<LogSource> memory_source(std::string_view bytes) {
  return std::make_unique<Memory>(bytes);
}

base::Result<std::unique_ptr<LogSource>> file_source(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return base::fail(std::strerror(errno), path);
  return std::unique_ptr<LogSource>(std::make_unique<File>(fd, path));
}

}  // namespace refrain::format::messages
