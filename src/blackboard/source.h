// A knowledge source: its sensitivities, each with the entries that wait for the others, and its
// operation.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "blackboard/job_queues.h"
#include "refrain/blackboard.h"

namespace refrain::blackboard {

constexpr size_t kMostSensitivities = 64;

class Source : public std::enable_shared_from_this<Source> {
 public:
  struct Settings {
    std::string name;
    std::vector<refrain_type> sensitivities;
    refrain_operation operation;
    void* context;
    void (*done)(void*);  // or null
  };
  explicit Source(Settings settings)
      : settings_(std::move(settings)), waiting_(settings_.sensitivities.size()) {}
  // The last job of the source has ended.
  ~Source() {
    if (settings_.done != nullptr) settings_.done(settings_.context);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // Puts the entry behind the others of its type: at the sensitivity of this type where the fewest
  // wait, the first of such. True when that was the last one that was missing: then `job` is
  // filled. False after remove(), too.
  bool offer(refrain_entry* entry, Job* job);
  // No further jobs.
  void remove();

  const Settings& settings() const { return settings_; }

 private:
  const Settings settings_;
  std::mutex lock_;
  std::atomic<bool> is_removed_{false};
  size_t satisfied_ = 0;  // sensitivities with an entry
  std::vector<std::deque<EntryRef>> waiting_;
};

}  // namespace refrain::blackboard
