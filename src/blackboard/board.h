// The blackboard of refrain/blackboard.h: who is sensitive to what, and the workers.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "blackboard/entry.h"
#include "blackboard/job_queues.h"
#include "blackboard/source.h"

struct refrain_blackboard {
 public:
  refrain_blackboard(int workers, size_t most_bytes);
  ~refrain_blackboard();

  int wait();
  bool is_idle() const { return unfinished_.load() == 0; }
  int submit(refrain::EntryRef entry);
  refrain_source add(refrain::blackboard::Source::Settings settings);
  int remove(refrain_source source);
  void count(refrain_blackboard_counts* counts) const;
  std::string failures() const;

 private:
  using Source = refrain::blackboard::Source;
  using Job = refrain::blackboard::Job;
  using Sensitive = std::vector<std::shared_ptr<Source>>;

  // What is under way: a submission, or a job that waits or runs.
  class UnderWay;

  bool is_in_operation() const;
  int wait_for_room(size_t bytes);
  void enqueue(Job job);
  void end_one();
  void stop();
  void run(Job job);
  void work();
  void note_failure(const Job& job, const char* what);
  void forget(const std::shared_ptr<Source>& source);

  const size_t most_bytes_;
  refrain::blackboard::Account* const account_;
  refrain::blackboard::JobQueues jobs_;
  std::vector<std::thread> workers_;

  // Whoever submits locks one of them, whoever changes the table locks all.
  struct alignas(64) TableLock {
    std::mutex lock;
  };
  class WholeTable;
  static constexpr size_t kTableLocks = 8;
  std::array<TableLock, kTableLocks> table_locks_;
  std::unordered_map<refrain_type, Sensitive> table_;
  std::unordered_map<refrain_source, std::shared_ptr<Source>> sources_;
  refrain_source last_source_ = 0;

  // What changes with every entry shares a line of the cache with nothing else.
  alignas(64) std::atomic<int64_t> unfinished_{0};  // what is under way
  std::atomic<uint64_t> entry_count_{0}, unwanted_count_{0}, job_count_{0}, failed_count_{0};
  alignas(64) std::mutex finished_lock_;
  std::condition_variable finished_;

  mutable std::mutex failures_lock_;
  std::string failures_;
};
