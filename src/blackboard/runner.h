// A thread that runs jobs of a board, from the first one until it finds none.
//
// What all threads count together moves between their caches with each change, which takes longer
// than a short job. So a runner counts for itself, and tells the others now and then: it keeps a
// stock of the count of what is under way, from which its operations' jobs are begun and to which
// jobs that end return; the bytes that entries came to; and references to sources.
//
// Threads: a runner is its thread's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "blackboard/entry.h"
#include "blackboard/source.h"
#include "blackboard/under_way.h"

namespace refrain::blackboard {

class Runner {
 public:
  Runner(UnderWay& under_way, Account& account);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The innermost one: an operation may run the jobs of another board.
  static Runner* of_thread();
  bool counts_for(const Account* account) const { return account == &account_; }

  // Jobs that an operation of this runner makes; the job that has run.
  void begin_jobs(int64_t jobs);
  void end_job(SourceRef source);
  void change_bytes(int64_t more);
  // Tells everything. Whoever finds no job calls this before it waits.
  void put_back();

 private:
  struct Held {
    Source* source = nullptr;
    int64_t references = 0;
  };
  void release(Held& held);
  void tell_bytes();

  UnderWay& under_way_;
  Account& account_;
  Runner* const outer_;
  int64_t stock_ = 0;
  int64_t bytes_ = 0;
  uint32_t jobs_ = 0;
  std::array<Held, 4> held_;
};

}  // namespace refrain::blackboard
