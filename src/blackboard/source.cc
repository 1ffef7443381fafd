#include "blackboard/source.h"

#include <utility>

#include "blackboard/entry.h"

namespace refrain::blackboard {

bool Source::offer(refrain_entry* entry, Job* job) {
  if (is_removed_.load(std::memory_order_acquire)) return false;
  if (waiting_.size() == 1) {  // nothing waits, so there is nothing to lock
    job->source = shared_from_this();
    job->entries.add(EntryRef(refrain_entry_keep(entry)));
    return true;
  }
  const std::lock_guard lock(lock_);
  if (is_removed_.load(std::memory_order_relaxed)) return false;
  std::deque<EntryRef>* shortest = nullptr;
  for (size_t i = 0; i < waiting_.size(); ++i)
    if (settings_.sensitivities[i] == entry->type &&
        (shortest == nullptr || waiting_[i].size() < shortest->size()))
      shortest = &waiting_[i];
  if (shortest->empty()) ++satisfied_;
  shortest->emplace_back(refrain_entry_keep(entry));
  if (satisfied_ < waiting_.size()) return false;
  satisfied_ = 0;
  job->source = shared_from_this();
  for (std::deque<EntryRef>& queue : waiting_) {
    job->entries.add(std::move(queue.front()));
    queue.pop_front();
    if (!queue.empty()) ++satisfied_;
  }
  return true;
}

void Source::remove() {
  std::vector<std::deque<EntryRef>> released(settings_.sensitivities.size());
  const std::lock_guard lock(lock_);
  is_removed_.store(true, std::memory_order_release);
  waiting_.swap(released);
  satisfied_ = 0;
}

}  // namespace refrain::blackboard
