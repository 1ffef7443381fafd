// A board for tests: entries are numbers, operations are lambdas.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "refrain/blackboard.h"

namespace refrain::blackboard {

using Payloads = std::vector<int>;
using Operation = std::function<void(refrain_blackboard*, refrain_entry* const*, const Payloads&)>;

class Board {
 public:
  explicit Board(int workers, size_t most_bytes = 0)
      : board_(refrain_blackboard_new(workers, most_bytes)) {}
  ~Board() { refrain_blackboard_free(board_); }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  refrain_source add(const std::vector<refrain_type>& types, Operation operation) {
    const int count = static_cast<int>(types.size());
    return refrain_source_add_owning(board_, "a source", types.data(), count, call,
                                     new Operation(std::move(operation)), forget);
  }
  static void call(refrain_blackboard* board, refrain_entry* const* entries, int count,
                   void* context) {
    Payloads payloads;
    for (int i = 0; i < count; ++i) payloads.push_back(number_of(entries[i]));
    (*static_cast<Operation*>(context))(board, entries, payloads);
  }
  static void forget(void* context) { delete static_cast<Operation*>(context); }
  static int number_of(const refrain_entry* entry) {
    int number = 0;
    std::memcpy(&number, refrain_entry_data(entry), sizeof number);
    return number;
  }
  static int submit(refrain_blackboard* board, refrain_type type, int number) {
    return refrain_blackboard_submit_copy(board, type, &number, sizeof number);
  }
  int submit(refrain_type type, int number) { return submit(board_, type, number); }
  void wait() { EXPECT_EQ(refrain_blackboard_wait(board_), 0); }
  refrain_blackboard_counts counts() {
    refrain_blackboard_counts counts;
    refrain_blackboard_count(board_, &counts);
    return counts;
  }
  refrain_blackboard* get() { return board_; }

 private:
  refrain_blackboard* board_;
};

}  // namespace refrain::blackboard
