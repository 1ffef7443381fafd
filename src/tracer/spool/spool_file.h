// SpoolFile: a file that grows by mapped chunks. The disk space of a chunk is set apart before the
// chunk is used.
//
// Laws: nothing here makes the program fail or sends it a signal: after a full disk, a limit on
// file sizes or a removed file, the result is a null pointer and error(). No file descriptor stays
// open, so the program gets the same descriptor numbers as without the recorder.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "format/spool/layout.h"

namespace refrain::tracer {

class SpoolFile {
 public:
  // Makes `folder` (its parent is there) and the file, with `header` mapped at its begin. False:
  // error(). Room for the first chunks, `ahead` bytes, is made at once.
  bool create(const std::string& folder, const std::string& name,
              const format::spool::Header& header, uint64_t ahead);

  // A chunk of at least `bytes` behind its header, zeroed; nullptr: error().
  format::spool::Chunk* add(format::spool::ChunkType type, uint32_t owner, uint64_t bytes);
  // What lies there is about to be written: its pages are made at once, where the system can do
  // that, instead of one by one when each is touched.
  static void expect(const char* begin, uint64_t bytes);
  // The chunk is not used any more: gives back its memory and its room on the disk.
  void drop(format::spool::Chunk* chunk);

  // The chunk stays in the file and leaves our memory.
  void release(format::spool::Chunk* chunk);
  // The chunk stays mapped until the process ends, also when the file is removed.
  void keep(format::spool::Chunk* chunk);
  // What is mapped stays mapped, and its pages leave our memory until they are used again; the file
  // keeps what was written.
  void let_pages_go();
  bool read_back(uint64_t offset, uint64_t bytes, std::string& to);
  // Whether the file still is, with so many bytes.
  bool is_there(uint64_t bytes) const;

  // Unmaps everything and removes the file, and the folder when it was the last one.
  void remove();

  format::spool::Header* header() { return header_; }
  const std::string& folder() const { return folder_; }
  // Any thread, also while another one adds a chunk.
  uint64_t mapped() const { return mapped_.load(std::memory_order_relaxed); }
  uint64_t most_mapped() const { return most_mapped_; }
  int error() const { return error_; }  // errno

 private:
  void* map(uint64_t bytes);
  void* map_from(int fd, uint64_t bytes);
  void* map_pages(int fd, uint64_t bytes);
  bool make_room(int fd, uint64_t bytes);
  bool is_allowed(uint64_t bytes) const;
  void* take(void* memory, uint64_t bytes);
  void forget_ahead();

  static constexpr uint64_t kMostPages = 128 * 1024;  // bytes of a chunk: see map_pages()

  std::string folder_, path_;
  bool pages_have_room_ = false;  // of the file system
  format::spool::Header* header_ = nullptr;
  std::vector<format::spool::Chunk*> chunks_;
  uint64_t end_ = 0;
  // Mapped behind end_, for the next chunks. Where they turn out larger it stays zero in the file,
  // which readers pass over.
  char* ahead_ = nullptr;
  uint64_t ahead_bytes_ = 0;
  std::atomic<uint64_t> mapped_ = 0;
  uint64_t most_mapped_ = 0;
  int error_ = 0;
};

// What follows a chunk's header.
inline char* data_of(format::spool::Chunk* c) { return reinterpret_cast<char*>(c + 1); }
inline uint64_t room_of(const format::spool::Chunk* c) {
  return c->bytes - sizeof(format::spool::Chunk);
}
// An empty file beside those of the ranks: who makes it says a line for the whole job. False:
// errno, EEXIST where another rank has. Takes no memory.
bool make_mark(const char* path);

}  // namespace refrain::tracer
