// The bytes of a file, mapped: an MPI library has tens of megabytes, of which a few pages matter.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

namespace refrain::cli {

class FileMapping {
 public:
  explicit FileMapping(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || fstat(fd, &info) != 0) {
      error_number_ = errno;
    } else if (info.st_size > 0 && S_ISREG(info.st_mode)) {
      size_ = static_cast<size_t>(info.st_size);
      data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (data_ == MAP_FAILED) error_number_ = errno, data_ = nullptr, size_ = 0;
    }
    if (fd >= 0) close(fd);
  }
  ~FileMapping() {
    if (data_ != nullptr) munmap(data_, size_);
  }
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  int error_number() const { return error_number_; }
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
  int error_number_ = 0;
};

}  // namespace refrain::cli
