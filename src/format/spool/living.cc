#include "format/spool/living.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "format/spool/pieces.h"

namespace refrain::format::spool {

namespace {

// A log is read in parts of this size, up to its first empty one: its room may be much larger.
constexpr uint64_t kLogPart = 64 * 1024;

// Up to `size` bytes; fewer at the end of the file, or where it cannot be read.
std::string read_at(int fd, uint64_t at, uint64_t size) {
  std::string bytes(size, '\0');
  uint64_t done = 0;
  while (done < size) {
    const ssize_t n = pread(fd, bytes.data() + done, size - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<uint64_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

enum class Found { kNothing, kChunk, kHalf };

// Half of a header is there while the writer changes it.
Found read_chunk(int fd, uint64_t at, uint64_t file_bytes, Chunk& chunk) {
  const std::string bytes = read_at(fd, at, sizeof(Chunk));
  if (bytes.size() < sizeof(Chunk)) return Found::kNothing;
  chunk = load<Chunk>(bytes, 0);
  if (chunk.magic == 0) return Found::kNothing;
  const bool is_sound = chunk.magic == kChunkMagic && chunk.check == check_of(chunk) &&
                        chunk.offset == at && chunk.bytes >= kPageBytes &&
                        chunk.bytes % kPageBytes == 0 && chunk.bytes <= file_bytes - at;
  return is_sound ? Found::kChunk : Found::kHalf;
}

// All that are set up. False: one of them was just being changed.
bool find_chunks(int fd, std::vector<Chunk>& found) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return false;
  const auto size = static_cast<uint64_t>(info.st_size);
  bool is_sound = true;
  for (uint64_t at = kPageBytes; at + kPageBytes <= size;) {
    Chunk chunk;
    const Found what = read_chunk(fd, at, size, chunk);
    is_sound = is_sound && what != Found::kHalf;
    at += what == Found::kChunk ? chunk.bytes : kPageBytes;
    if (what == Found::kChunk) found.push_back(chunk);
  }
  return is_sound;
}

// Whether all that the header of a chunk says of its contents is the same.
bool is_unchanged(int fd, const Chunk& before) {
  const std::string bytes = read_at(fd, before.offset, sizeof(Chunk));
  if (bytes.size() < sizeof(Chunk)) return false;
  const auto now = load<Chunk>(bytes, 0);
  return now.type == before.type && now.generation == before.generation &&
         now.position == before.position && now.first_terminal == before.first_terminal &&
         now.owner == before.owner;
}

// The words that are written, and one that is not.
std::string read_log(int fd, const Chunk& c) {
  const uint64_t room = c.bytes - sizeof(Chunk);
  std::string words;
  while (words.size() < room) {
    const std::string part = read_at(fd, c.offset + sizeof(Chunk) + words.size(),
                                     std::min(kLogPart, room - words.size()));
    words += part;
    const bool is_last = part.size() < sizeof(uint64_t) ||
                         load<uint64_t>(part, part.size() / sizeof(uint64_t) * sizeof(uint64_t) -
                                                  sizeof(uint64_t)) == 0;
    if (is_last) break;
  }
  return words;
}

// What the pieces of a read point to.
struct Contents {
  std::deque<std::string> bytes;
  std::vector<Piece> pieces;

  void add(const Chunk& chunk, std::string data) {
    bytes.push_back(std::move(data));
    pieces.push_back({chunk, bytes.back()});
  }
};

bool is_wanted(const Chunk& c) {
  switch (c.type) {
    case ChunkType::kLocation:
    case ChunkType::kLog: return true;
    case ChunkType::kBase:
    case ChunkType::kStats: return c.generation != 0;
    default: return false;
  }
}

// False: a checkpoint came in between.
bool read_once(int fd, Contents& out) {
  std::vector<Chunk> chunks, tables, read;
  bool is_one_state = find_chunks(fd, chunks);
  for (const Chunk& c : chunks) {
    if (!is_wanted(c)) continue;
    out.add(c, c.type == ChunkType::kLog
                   ? read_log(fd, c)
                   : read_at(fd, c.offset + sizeof(Chunk), c.bytes - sizeof(Chunk)));
    read.push_back(c);
  }
  is_one_state = is_one_state && std::all_of(read.begin(), read.end(),
                                             [fd](const Chunk& c) { return is_unchanged(fd, c); });
  is_one_state = find_chunks(fd, tables) && is_one_state;
  for (const Chunk& c : tables)
    if (c.type == ChunkType::kTables)
      out.add(c, read_at(fd, c.offset + sizeof(Chunk), std::min(c.used, c.bytes - sizeof(Chunk))));
  return is_one_state;
}

}  // namespace

base::Result<LivingSpool> LivingSpool::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return base::fail(std::strerror(errno), path);
  LivingSpool spool(path, fd);
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return base::fail("not a plain file", path);
  return spool;
}

LivingSpool& LivingSpool::operator=(LivingSpool&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

LivingSpool::~LivingSpool() {
  if (fd_ >= 0) close(fd_);
}

uint64_t LivingSpool::stored_bytes() const {
  struct stat info {};
  return fstat(fd_, &info) == 0 ? static_cast<uint64_t>(info.st_blocks) * 512 : 0;
}

base::Result<RankSpool> LivingSpool::snapshot() {
  read_bytes_ = 0;
  base::Result<RankSpool> rank = base::fail("cannot be read", path_);
  for (int i = 0; i < kTries; ++i) {
    const auto header = read_header(read_at(fd_, 0, sizeof(Header)));
    if (!header.ok()) return base::Error{header.error().code, header.error().message, path_};
    Contents contents;
    const bool is_one_state = read_once(fd_, contents);
    for (const std::string& bytes : contents.bytes) read_bytes_ += bytes.size();
    rank = read_pieces(*header, contents.pieces);
    if (is_one_state && rank->damage.empty()) return rank;
    if (!is_one_state) rank->damage.emplace_back("it was written while it was read");
  }
  return rank;
}

}  // namespace refrain::format::spool
