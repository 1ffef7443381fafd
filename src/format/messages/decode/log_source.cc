#include <fcntl.h>
#include <sys/mman.h>
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

 protected:
  int fd_;

 private:
  std::string path_;
};

class MappedFile : public File {
 public:
  using File::File;
  ~MappedFile() override { unmap(); }
  // One window at a time, of several blocks: to map one takes as long as to read it.
  std::string_view view_at(uint64_t offset, size_t bytes) override {
    constexpr size_t kLeast = 65536;  // to map a short piece takes longer than to copy it
    constexpr size_t kWindow = 8u << 20;
    struct stat now {};
    if (bytes < kLeast || ::fstat(fd_, &now) != 0) return {};
    const auto end = static_cast<uint64_t>(now.st_size);
    if (offset > end || bytes > end - offset) return {};
    if (offset < begin_ || offset - begin_ > window_.size() ||
        bytes > window_.size() - (offset - begin_)) {
      unmap();
      const size_t before = offset % static_cast<uint64_t>(::getpagesize());
      const auto size = static_cast<size_t>(
          std::min<uint64_t>(std::max<uint64_t>(kWindow, before + bytes), end - offset + before));
      void* const window =
          ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_, static_cast<off_t>(offset - before));
      if (window == MAP_FAILED) return {};
      window_ = {static_cast<char*>(window), size};
      begin_ = offset - before;
    }
    return {window_.data() + (offset - begin_), bytes};
  }

 private:
  void unmap() {
    if (!window_.empty()) ::munmap(window_.data(), window_.size());
    window_ = {};
  }
  std::span<char> window_;
  uint64_t begin_ = 0;  // of the window, in the file
};

}  // namespace

std::unique_ptr<LogSource> memory_source(std::string_view bytes) {
  return std::make_unique<Memory>(bytes);
}

base::Result<std::unique_ptr<LogSource>> file_source(const std::string& path, LogAccess how) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return base::fail(std::strerror(errno), path);
  if (how == LogAccess::kMapped)
    return std::unique_ptr<LogSource>(std::make_unique<MappedFile>(fd, path));
  return std::unique_ptr<LogSource>(std::make_unique<File>(fd, path));
}

}  // namespace refrain::format::messages
