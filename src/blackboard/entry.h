// Entries of a blackboard: a type, a payload and a count of references.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "refrain/blackboard.h"

namespace refrain::blackboard {

// The bytes that a board holds. An entry may outlive its board, so accounts are never freed: a
// later board uses one again of which nothing is left.
struct Account {
  alignas(64) std::atomic<int64_t> bytes{
      0};  // below 0 while a thread has not told yet what it added
  std::atomic<int64_t> most_bytes{0};
  alignas(64) std::atomic<uint64_t> waiting{0};  // threads that wait until there is room
  std::atomic<uint32_t> room{0};  // counts up when bytes were given back while somebody waits
  bool has_bound = false;         // then every change is told at once

  static Account* open(bool has_bound);
  void close();

  void add(int64_t more);
  void give_back(int64_t less);

 private:
  bool is_open_ = false;
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
