// KeptTimes: times of blocks that are read again and again, packed so that they take less time to
// read than in the file.
//
// To decode blocks from the file is most of the time of a walk through exact times. A block is kept
// when it is decoded the second time, so a verb that reads the times once pays nothing; or the
// first time, once somebody says that the times will be read again. A call takes 4 to 6 bytes.
//
// Memory: kMostBytes; later blocks are not kept then. Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "format/time/data.h"

namespace refrain::reader {

class KeptTimes {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;

  explicit KeptTimes(size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // Fills begin and end of the calls of a block; false: it is not kept. `block` is anything that
  // names it.
  bool take(const void* block, std::span<format::TimedCall> calls) const;
  // A block was decoded.
  void decoded(const void* block, std::span<const format::TimedCall> calls);
  // All are read again: those decoded from now on are kept at once.
  void expect_more() { expects_more_ = true; }
  size_t bytes() const;

 private:
  static constexpr size_t kEntryBytes = 96;  // of a block, about, beside its times

  const size_t most_bytes_;
  std::atomic<bool> expects_more_ = false;
  mutable std::mutex mutex_;
  size_t bytes_ = 0;
  // nullptr: it was decoded once.
  std::unordered_map<const void*, std::shared_ptr<const std::string>> blocks_;
};

}  // namespace refrain::reader
