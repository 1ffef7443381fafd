// The blackboard of refrain/blackboard.h: who is sensitive to what, and the workers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "blackboard/entry.h"
#include "blackboard/job_queues.h"
#include "blackboard/runner.h"
#include "blackboard/short_lock.h"
#include "blackboard/source.h"
#include "blackboard/under_way.h"

struct refrain_blackboard {
 public:
  refrain_blackboard(int workers, size_t most_bytes);
  ~refrain_blackboard();

  int wait();
  bool is_idle() const { return under_way_.is_nothing(); }
  int submit(refrain::EntryRef entry);
  refrain_source add(refrain::blackboard::Source::Settings settings);
  int remove(refrain_source source);
  void count(refrain_blackboard_counts* counts) const;
  std::string failures() const;

 private:
  using Source = refrain::blackboard::Source;
  using Job = refrain::blackboard::Job;
  using Runner = refrain::blackboard::Runner;
  using SourceRef = refrain::blackboard::SourceRef;

  bool is_in_operation() const;
  int wait_for_room(size_t bytes);
  void account_for(refrain_entry* entry, Runner* runner);
  void make_jobs(refrain_entry* entry, std::vector<Job>* jobs);
  void begin_jobs(int64_t jobs, Runner* runner);
  void stop();
  void run(Job job, Runner& runner);
  void work(size_t worker);
  void note_failure(const Job& job, const char* what);
  void forget(Source* source);

  const size_t most_bytes_;
  refrain::blackboard::Account* const account_;
  refrain::blackboard::JobQueues jobs_;
  std::vector<std::thread> workers_;
  std::atomic<bool> is_stopped_{false};

  // Whoever submits locks one of them, whoever changes the table locks all. Each counts what was
  // submitted under it.
  struct alignas(64) TableLock {
    refrain::blackboard::ShortLock lock;
    uint64_t entries = 0, unwanted = 0, jobs = 0;
  };
  class WholeTable;
  mutable std::array<TableLock, refrain::blackboard::kTableLocks> table_locks_;
  std::unordered_map<refrain_type, std::vector<Source*>> table_;
  std::unordered_map<refrain_source, SourceRef> sources_;
  refrain_source last_source_ = 0;

  refrain::blackboard::UnderWay under_way_;
  std::atomic<uint64_t> failed_count_{0};
  mutable std::mutex failures_lock_;
  std::string failures_;
};
