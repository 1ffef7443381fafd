// Reads the spool file of a process that still writes it, without its knowledge: no lock, no
// signal, no memory shared with it, so that the program is never disturbed.
//
// A read takes time, and the writer goes on meanwhile. What makes the result one state of the
// process nevertheless:
//   - tables (definitions, signatures) only grow, and are read last: whatever a call names is
//   there;
//   - all else is valid as long as the header of its chunk says the same before and after the read.
//     A checkpoint changes headers, and then the read is repeated.
// So a snapshot holds a prefix of the calls of each thread, at least those that had returned when
// the read began. Times of single calls (`record --timing`) are left out: they may be much larger
// than all else.
//
// Ownership: a LivingSpool holds the file open, so that its last state can be read when the process
// has removed it. Not thread safe; several objects may read one file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "format/spool/read.h"

namespace refrain::format::spool {

class LivingSpool {
 public:
  static base::Result<LivingSpool> open(const std::string& path);
  LivingSpool(LivingSpool&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  LivingSpool& operator=(LivingSpool&& other) noexcept;
  ~LivingSpool();

  // O(chunks that hold anything). After `kTries` reads that a checkpoint interrupted: the last one,
  // with what is wrong with it in `damage`.
  base::Result<RankSpool> snapshot();
  // That the last snapshot read, all its tries together.
  uint64_t read_bytes() const { return read_bytes_; }
  // On disk.
  uint64_t stored_bytes() const;

  static constexpr int kTries = 8;

 private:
  LivingSpool(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
  uint64_t read_bytes_ = 0;
};

}  // namespace refrain::format::spool
