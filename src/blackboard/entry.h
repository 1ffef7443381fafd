// Entries of a blackboard: a type, a payload and a count of references.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "refrain/blackboard.h"

namespace refrain::blackboard {

// The bytes that a board holds. Lives as long as the board or an entry that was submitted to it.
struct Account {
  std::atomic<int64_t> references{1};
  std::atomic<uint64_t> bytes{0}, most_bytes{0};
  std::atomic<uint64_t> waiting{0};  // threads that wait until there is room
  std::atomic<uint32_t> room{0};     // counts up when bytes were given back while somebody waits

  void add(uint64_t more);
  void give_back(uint64_t less);
  void release();
};

}  // namespace refrain::blackboard

// The payload is behind it.
struct alignas(std::max_align_t) refrain_entry {
  refrain_type type;
  size_t bytes;
  std::atomic<int64_t> references;
  std::atomic<refrain::blackboard::Account*>
      account;  // of the board that it was submitted to first; null before
};
