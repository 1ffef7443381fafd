#include "blackboard/source.h"

#include <utility>

#include "blackboard/entry.h"
#include "blackboard/job_queues.h"

namespace refrain::blackboard {

Source* Source::reference(size_t table_lock) {
  constexpr int64_t kTaken = 256;
  int64_t& stock = stock_[table_lock].references;
  if (stock == 0) {
    references_.fetch_add(kTaken, std::memory_order_relaxed);
    stock = kTaken;
  }
  --stock;
  return this;
}

void Source::release(int64_t references) {
  if (references_.fetch_sub(references, std::memory_order_acq_rel) == references) delete this;
}

void Source::release_stock() {
  int64_t all = 0;
  for (Stock& stock : stock_) all += std::exchange(stock.references, 0);
  if (all > 0) release(all);
}

bool Source::offer(refrain_entry* entry, size_t table_lock, Job* job) {
  if (is_removed()) return false;
  if (waiting_.size() == 1) {  // nothing waits, so there is nothing to lock
    job->source = SourceRef(reference(table_lock));
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
  job->source = SourceRef(reference(table_lock));
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
