// Reads a spool file whose process still writes it, without its knowledge: no lock, no signal, no
// memory shared with it, so that the program is never disturbed.
//
// A read takes time, and the writer goes on meanwhile. What a chunk says is valid as long as its
// header is the same before and after the read: only a checkpoint changes headers. Who finds one
// changed reads again. Files are read, not mapped: one that gets shorter is no signal.
//
// Ownership: holds the file open, so that its last state can be read when the process has removed
// it. Not thread safe; several objects may read one file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/spool/layout.h"

namespace refrain::format::spool {

class LivingFile {
 public:
  static base::Result<LivingFile> open(const std::string& path);
  LivingFile(LivingFile&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  LivingFile& operator=(LivingFile&& other) noexcept;
  ~LivingFile();

  // Up to `size` bytes; fewer at the end of the file, or where it cannot be read.
  std::string read_at(uint64_t at, uint64_t size);
  base::Result<Header> header();
  // All chunks that are set up, in their order. False: one of them was just being changed.
  bool find_chunks(std::vector<Chunk>& found);
  // Whether all that the header of a chunk says of its contents is the same.
  bool is_unchanged(const Chunk& before);
  // The words of a log from a byte behind its header on that are written, and one that is not.
  std::string read_log(const Chunk& log, uint64_t from);

  const std::string& path() const { return path_; }
  uint64_t read_bytes() const { return read_bytes_; }  // so far
  uint64_t stored_bytes() const;                       // on disk
  bool is_removed() const;
  // Tells a rank that wants to know it that so many calls' times have been read. The only thing
  // that is ever written there: by the analyser of its job.
  void take_calls(uint64_t calls);

 private:
  LivingFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
  uint64_t read_bytes_ = 0;
};

}  // namespace refrain::format::spool
