// A knowledge source: its sensitivities, each with the entries that wait for the others, and its
// operation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "refrain/blackboard.h"

namespace refrain::blackboard {

constexpr size_t kMostSensitivities = 64;
// Of a board: who submits has one, who changes the table all (board.h).
constexpr size_t kTableLocks = 8;

struct Job;

// Counts its references itself: each table lock has a stock of them, so that threads that make jobs
// change nothing together.
class alignas(64) Source {
 public:
  struct Settings {
    std::string name;
    std::vector<refrain_type> sensitivities;
    refrain_operation operation;
    void* context;
    void (*done)(void*);  // or null
  };
  // One reference, the caller's.
  explicit Source(Settings settings)
      : settings_(std::move(settings)), waiting_(settings_.sensitivities.size()) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // Puts the entry behind the others of its type: at the sensitivity of this type where the fewest
  // wait, the first of such. True when that was the last one that was missing: then `job` is
  // filled. False after remove(), too. The caller has that table lock.
  bool offer(refrain_entry* entry, size_t table_lock, Job* job);
  // No further jobs.
  void remove();
  bool is_removed() const { return is_removed_.load(std::memory_order_acquire); }

  void release(int64_t references);
  // Those in stock. The caller has all table locks, and nobody will offer any more.
  void release_stock();

  const Settings& settings() const { return settings_; }

 private:
  struct alignas(64) Stock {
    int64_t references = 0;
  };
  // The last job of the source has ended.
  ~Source() {
    if (settings_.done != nullptr) settings_.done(settings_.context);
  }
  Source* reference(size_t table_lock);

  const Settings settings_;
  std::mutex lock_;
  std::atomic<bool> is_removed_{false};
  size_t satisfied_ = 0;  // sensitivities with an entry
  std::vector<std::deque<EntryRef>> waiting_;
  std::array<Stock, kTableLocks> stock_;
  alignas(64) std::atomic<int64_t> references_{1};
};

// One reference.
class SourceRef {
 public:
  SourceRef() = default;
  explicit SourceRef(Source* source) : source_(source) {}  // takes the reference
  SourceRef(SourceRef&& other) noexcept : source_(other.give()) {}
  SourceRef& operator=(SourceRef&& other) noexcept {
    std::swap(source_, other.source_);
    return *this;
  }
  ~SourceRef() {
    if (source_ != nullptr) source_->release(1);
  }
  Source* get() const { return source_; }
  Source* operator->() const { return source_; }
  explicit operator bool() const { return source_ != nullptr; }
  Source* give() { return std::exchange(source_, nullptr); }

 private:
  Source* source_ = nullptr;
};

}  // namespace refrain::blackboard
