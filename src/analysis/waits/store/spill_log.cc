#include "analysis/waits/store/spill_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace refrain::analysis::waits {

ChunkFile::~ChunkFile() {
  if (fd_ >= 0) close(fd_);
}

bool ChunkFile::write(uint64_t chunk, const void* bytes, size_t size) {
  // A full disk does not get better: one failure is the last try, and the log grows in memory.
  if (failed_) return false;
  // Made with the first chunk that does not fit: small runs leave no file at all.
  if (fd_ < 0) {
    const char* folder = getenv("TMPDIR");
    std::string path = folder == nullptr || *folder == '\0' ? "/tmp" : folder;
    path += "/refrain-waits-" + std::string(6, 'X');
    fd_ = mkostemp(path.data(), O_CLOEXEC);
    if (fd_ >= 0) unlink(path.c_str());  // gone with the process, whatever ends it
  }
  const char* from = static_cast<const char*>(bytes);
  auto at = static_cast<off_t>(chunk * size);
  for (size_t left = size; fd_ >= 0 && left > 0;) {
    const ssize_t n = pwrite(fd_, from, left, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      failed_ = true;
      return false;
    }
    from += n;
    at += n;
    left -= static_cast<size_t>(n);
  }
  failed_ = fd_ < 0;
  // How far the file goes: behind that, read() has nothing.
  if (!failed_ && static_cast<uint64_t>(at) > bytes_) bytes_ = static_cast<uint64_t>(at);
  return !failed_;
}

bool ChunkFile::read(uint64_t chunk, void* bytes, size_t size) const {
  // A chunk that was never written has nothing to read: it is about to be filled.
  if (fd_ < 0 || (chunk + 1) * size > bytes_) return false;
  char* to = static_cast<char*>(bytes);
  auto at = static_cast<off_t>(chunk * size);
  for (size_t left = size; left > 0;) {
    const ssize_t n = pread(fd_, to, left, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    at += n;
    left -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace refrain::analysis::waits
