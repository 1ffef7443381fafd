#include "format/spool/living_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "format/spool/pieces.h"
#include "format/spool/read.h"

namespace refrain::format::spool {

namespace {

// A log is read in parts of this size, up to its first empty one: its room may be much larger.
constexpr uint64_t kLogPart = 64 * 1024;

enum class Found { kNothing, kChunk, kHalf };

// Half of a header is there while the writer changes it.
Found check_chunk(const std::string& bytes, uint64_t at, uint64_t file_bytes, Chunk& chunk) {
  if (bytes.size() < sizeof(Chunk)) return Found::kNothing;
  chunk = load<Chunk>(bytes, 0);
  if (chunk.magic == 0) return Found::kNothing;
  const bool is_sound = chunk.magic == kChunkMagic && chunk.check == check_of(chunk) &&
                        chunk.offset == at && chunk.bytes >= kPageBytes &&
                        chunk.bytes % kPageBytes == 0 && chunk.bytes <= file_bytes - at;
  return is_sound ? Found::kChunk : Found::kHalf;
}

}  // namespace

base::Result<LivingFile> LivingFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return base::fail(std::strerror(errno), path);
  LivingFile file(path, fd);
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return base::fail("not a plain file", path);
  return file;
}

LivingFile& LivingFile::operator=(LivingFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(read_bytes_, other.read_bytes_);
  return *this;
}

LivingFile::~LivingFile() {
  if (fd_ >= 0) close(fd_);
}

std::string LivingFile::read_at(uint64_t at, uint64_t size) {
  std::string bytes(size, '\0');
  uint64_t done = 0;
  while (done < size) {
    const ssize_t n = pread(fd_, bytes.data() + done, size - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<uint64_t>(n);
  }
  bytes.resize(done);
  read_bytes_ += done;
  return bytes;
}

base::Result<Header> LivingFile::header() {
  const auto header = read_header(read_at(0, sizeof(Header)));
  if (!header.ok()) return base::Error{header.error().code, header.error().message, path_};
  return header;
}

bool LivingFile::find_chunks(std::vector<Chunk>& found) {
  struct stat info {};
  if (fstat(fd_, &info) != 0) return false;
  const auto size = static_cast<uint64_t>(info.st_size);
  bool is_sound = true;
  for (uint64_t at = kPageBytes; at + kPageBytes <= size;) {
    Chunk chunk;
    const Found what = check_chunk(read_at(at, sizeof(Chunk)), at, size, chunk);
    is_sound = is_sound && what != Found::kHalf;
    at += what == Found::kChunk ? chunk.bytes : kPageBytes;
    if (what == Found::kChunk) found.push_back(chunk);
  }
  return is_sound;
}

bool LivingFile::is_unchanged(const Chunk& before) {
  const std::string bytes = read_at(before.offset, sizeof(Chunk));
  if (bytes.size() < sizeof(Chunk)) return false;
  const auto now = load<Chunk>(bytes, 0);
  return now.type == before.type && now.generation == before.generation &&
         now.position == before.position && now.first_terminal == before.first_terminal &&
         now.owner == before.owner;
}

std::string LivingFile::read_log(const Chunk& log, uint64_t from) {
  const uint64_t room = log.bytes - sizeof(Chunk);
  std::string words;
  while (from + words.size() < room) {
    const uint64_t at = from + words.size();
    const std::string part =
        read_at(log.offset + sizeof(Chunk) + at, std::min(kLogPart, room - at));
    words += part;
    const uint64_t whole = part.size() / sizeof(uint64_t) * sizeof(uint64_t);
    if (whole == 0 || load<uint64_t>(part, whole - sizeof(uint64_t)) == 0) break;
  }
  return words;
}

uint64_t LivingFile::stored_bytes() const {
  struct stat info {};
  return fstat(fd_, &info) == 0 ? static_cast<uint64_t>(info.st_blocks) * 512 : 0;
}

// One word, which the writer reads whole. Never a smaller one: the analyser may have begun anew.
void LivingFile::take_calls(uint64_t calls) {
  const auto now = header();
  if (!now.ok() || now->wants_word == 0 || now->taken_calls >= calls) return;
  const std::string self = "/proc/self/fd/" + std::to_string(fd_);  // no other file of the name
  const int fd = ::open(self.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!pwrite(fd, &calls, sizeof calls, offsetof(Header, taken_calls));
  close(fd);
}

bool LivingFile::is_removed() const {
  struct stat info {};
  return fstat(fd_, &info) != 0 || info.st_nlink == 0;
}

}  // namespace refrain::format::spool
