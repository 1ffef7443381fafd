// What a shared board needs of the other ranks: a ring of bytes from each to each, and sums over
// all. MPI is one implementation (mpi/), a test has another.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace refrain::blackboard {

class Mailboxes {
 public:
  using Sums = std::array<int64_t, 2>;

  virtual ~Mailboxes() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Puts as many of the bytes as there is room for into the ring that `to` reads, without its help:
  // how many; below 0: it failed. Bytes of one writer arrive in order.
  virtual int64_t write(int to, const char* data, size_t bytes) = 0;
  // Whether anything may have come since the last call: looking into each ring can cost more.
  virtual bool has_news() = 0;
  // Takes at most `capacity` bytes that `from` has put: how many; below 0: it failed.
  virtual int64_t read(int from, char* data, size_t capacity) = 0;

  // Collective, and does not wait: adds up what every rank gives. One sum at a time.
  virtual bool begin_sum(const Sums& own) = 0;  // false: it failed
  // 1: *totals is there; 0: not yet; below 0: it failed.
  virtual int test_sum(Sums* totals) = 0;

  // Lets others work; `round` counts the calls in a row.
  virtual void pause(int round) = 0;
};

}  // namespace refrain::blackboard
