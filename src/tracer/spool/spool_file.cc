#include "tracer/spool/spool_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/no_cancel.h"
#include "tracer/state/file_room.h"

namespace refrain::tracer {

using format::spool::Chunk;
using format::spool::ChunkType;
using format::spool::kPageBytes;

namespace {

// File systems that set room apart on the disk when a page of a mapped file is first written, and
// choose where it is when the page goes to the disk.
bool sets_room_apart_for_pages(int fd) {
  struct statfs info {};
  return fstatfs(fd, &info) == 0 &&
         (info.f_type == EXT4_SUPER_MAGIC || info.f_type == XFS_SUPER_MAGIC);
}

}  // namespace

bool SpoolFile::create(const std::string& folder, const std::string& name,
                       const format::spool::Header& header, uint64_t ahead) {
  const base::NoCancel no_cancel;
  folder_ = folder;
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return error_ = errno, false;
  // A process may become another program of the same number, that records as well.
  int fd = -1;
  for (int n = 0; fd < 0; ++n) {
    path_ = folder + "/" + name;
    if (n > 0) path_.append(".").append(std::to_string(n));
    fd = open_file(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && (errno != EEXIST || n == 1000)) return error_ = errno, false;
  }
  pages_have_room_ = sets_room_apart_for_pages(fd);
  void* page = map_from(fd, kPageBytes + ahead);
  if (page != nullptr) {
    ahead_ = static_cast<char*>(page) + kPageBytes;
    ahead_bytes_ = ahead;
    expect(static_cast<char*>(page), kPageBytes + ahead);
  } else {
    page = map_from(fd, kPageBytes);
  }
  close(fd);
  if (page == nullptr) {
    unlink(path_.c_str());
    rmdir(folder.c_str());
    return false;
  }
  header_ = static_cast<format::spool::Header*>(take(page, kPageBytes));
  *header_ = header;
  return true;
}

// Beyond a limit on file sizes the system would send SIGXFSZ, so it is not asked.
bool SpoolFile::is_allowed(uint64_t bytes) const {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         limit.rlim_cur >= end_ + bytes;
}

// A small chunk: its pages are made at once, and room is set apart with them. Blocks of the disk
// are chosen when the system writes the pages, which it never does for the file of a short program.
// To remove a file that has blocks takes milliseconds, while other ranks wait for the folder.
void* SpoolFile::map_pages(int fd, uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (!pages_have_room_ || bytes > kMostPages || !is_allowed(bytes)) return nullptr;
  const int saved = errno;
  const auto end = static_cast<off_t>(end_);
  void* memory = nullptr;
  if (ftruncate(fd, end + static_cast<off_t>(bytes)) == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, end);
    if (memory == MAP_FAILED) memory = nullptr;
    // An error where writing would be one: the disk is full.
    if (memory != nullptr && madvise(memory, bytes, MADV_POPULATE_WRITE) != 0) {
      munmap(memory, bytes);
      memory = nullptr;
    }
    // What is tried next says what is wrong.
    if (memory == nullptr && ftruncate(fd, end) != 0) error_ = errno;
  }
  errno = saved;
  return memory;
#else
  (void)fd, (void)bytes;
  return nullptr;
#endif
}

// posix_fallocate, not ftruncate: with room on the disk, touching the memory cannot fail.
bool SpoolFile::make_room(int fd, uint64_t bytes) {
  if (!is_allowed(bytes)) return error_ = EFBIG, false;
  int rc = 0;
  do {
    rc = posix_fallocate(fd, static_cast<off_t>(end_), static_cast<off_t>(bytes));
  } while (rc == EINTR);
  if (rc == 0) return true;
  error_ = rc;
  // What was set apart before the disk was full helps the program more than us.
  if (ftruncate(fd, static_cast<off_t>(end_)) != 0) error_ = rc;
  return false;
}

// Of the file from end_ on.
void* SpoolFile::map_from(int fd, uint64_t bytes) {
  if (void* const memory = map_pages(fd, bytes); memory != nullptr) return memory;
  if (!make_room(fd, bytes)) return nullptr;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(end_));
  if (memory == MAP_FAILED) return error_ = errno, nullptr;
  return memory;
}

void* SpoolFile::take(void* memory, uint64_t bytes) {
  if (memory == nullptr) return nullptr;
  end_ += bytes;
  mapped_.fetch_add(bytes, std::memory_order_relaxed);
  most_mapped_ = std::max(most_mapped_, mapped());
  return memory;
}

void SpoolFile::forget_ahead() {
  if (ahead_bytes_ == 0) return;
  munmap(ahead_, ahead_bytes_);
  end_ += ahead_bytes_;
  ahead_bytes_ = 0;
}

void* SpoolFile::map(uint64_t bytes) {
  const base::NoCancel no_cancel;
  if (bytes <= ahead_bytes_) {
    void* const memory = ahead_;
    ahead_ += bytes;
    ahead_bytes_ -= bytes;
    return take(memory, bytes);
  }
  forget_ahead();
  const int fd = open_file(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return error_ = errno, nullptr;
  void* const memory = map_from(fd, bytes);
  close(fd);
  return take(memory, bytes);
}

Chunk* SpoolFile::add(ChunkType type, uint32_t owner, uint64_t bytes) {
  bytes = (bytes + sizeof(Chunk) + kPageBytes - 1) / kPageBytes * kPageBytes;
  auto* c = static_cast<Chunk*>(map(bytes));
  if (c == nullptr) return nullptr;
  Chunk head;
  head.type = type;
  head.offset = end_ - bytes;
  head.bytes = bytes;
  head.owner = owner;
  head.check = format::spool::check_of(head);
  *c = head;
  chunks_.push_back(c);
  return c;
}

void SpoolFile::expect(const char* begin, uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = at / kPageBytes * kPageBytes;
  const int saved = errno;
  madvise(reinterpret_cast<void*>(first), at + bytes - first, MADV_POPULATE_WRITE);
  errno = saved;
#endif
}

void SpoolFile::drop(Chunk* c) {
  const base::NoCancel no_cancel;
  c->generation = 0;
  Chunk head = *c;
  head.type = ChunkType::kDead;
  head.check = format::spool::check_of(head);
  *c = head;
  // The first page stays, so that a reader finds its way to the next chunk.
  if (head.bytes > kPageBytes) {
    const int fd = open_file(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
      const int saved = errno;
      (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       static_cast<off_t>(head.offset + kPageBytes),
                       static_cast<off_t>(head.bytes - kPageBytes));
      errno = saved;
      close(fd);
    }
  }
  mapped_.fetch_sub(head.bytes, std::memory_order_relaxed);
  munmap(c, head.bytes);
  chunks_.erase(std::find(chunks_.begin(), chunks_.end(), c));
}

void SpoolFile::release(Chunk* c) {
  mapped_.fetch_sub(c->bytes, std::memory_order_relaxed);
  munmap(c, c->bytes);
  chunks_.erase(std::find(chunks_.begin(), chunks_.end(), c));
}

void SpoolFile::keep(Chunk* c) { chunks_.erase(std::find(chunks_.begin(), chunks_.end(), c)); }

void SpoolFile::let_pages_go() {
  for (Chunk* c : chunks_) madvise(c, c->bytes, MADV_DONTNEED);
}

bool SpoolFile::read_back(uint64_t offset, uint64_t bytes, std::string& to) {
  const base::NoCancel no_cancel;
  const int fd = open_file(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset));
  struct stat info {};
  const bool good = memory != MAP_FAILED && fstat(fd, &info) == 0 &&
                    static_cast<uint64_t>(info.st_size) >= offset + bytes;
  if (good) to.assign(static_cast<const char*>(memory), bytes);
  if (memory != MAP_FAILED) munmap(memory, bytes);
  close(fd);
  return good;
}

bool SpoolFile::is_there(uint64_t bytes) const {
  struct stat info {};
  return stat(path_.c_str(), &info) == 0 && static_cast<uint64_t>(info.st_size) >= bytes;
}

void SpoolFile::remove() {
  if (header_ == nullptr) return;
  for (Chunk* c : chunks_) munmap(c, c->bytes);
  chunks_.clear();
  forget_ahead();
  munmap(header_, kPageBytes);
  header_ = nullptr;
  unlink(path_.c_str());
  rmdir(folder_.c_str());  // fails while there are others
}

bool make_mark(const char* path) {
  const base::NoCancel no_cancel;
  const int fd = open_file(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

}  // namespace refrain::tracer
