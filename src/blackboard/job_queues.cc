#include "blackboard/job_queues.h"

#include <thread>
#include <utility>

namespace refrain::blackboard {
namespace {

// Of this thread: which queue is next does not matter, only that threads differ.
size_t next_random() {
  static std::atomic<uint64_t> seeds{0x9e3779b97f4a7c15u};
  thread_local uint64_t state = seeds.fetch_add(0x9e3779b97f4a7c15u);
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 16;
}

}  // namespace

void JobQueues::push(Job job) {
  {
    Queue& queue = queues_[queues_.size() == 1 ? 0 : next_random() % queues_.size()];
    const std::lock_guard lock(queue.lock);
    queue.jobs.push_back(std::move(job));
  }
  queued_.fetch_add(1);
  // Whoever counts itself a sleeper after this line sees the job before it sleeps.
  if (sleepers_.load() == 0) return;
  const std::lock_guard lock(sleep_lock_);
  wake_.notify_one();
}

bool JobQueues::sweep(Job* job) {
  const size_t begin = queues_.size() == 1 ? 0 : next_random();
  for (size_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[(begin + i) % queues_.size()];
    const std::unique_lock lock(queue.lock, std::try_to_lock);
    if (!lock.owns_lock() || queue.jobs.empty()) continue;
    *job = std::move(queue.jobs.front());
    queue.jobs.pop_front();
    return true;
  }
  return false;
}

bool JobQueues::try_pop(Job* job) {
  // A sweep passes over queues that somebody else has locked: while there are jobs, look again. A
  // job that was pushed is counted a moment later, so the count may be below zero for that long.
  do {
    if (sweep(job)) {
      queued_.fetch_sub(1);
      return true;
    }
  } while (queued_.load() > 0);
  return false;
}

bool JobQueues::pop(Job* job) {
  constexpr int kLooks = 10;
  for (;;) {
    for (int look = 0; look < kLooks; ++look) {
      if (try_pop(job)) return true;
      if (stopped_.load()) return false;
      for (int i = 0; i < look; ++i) std::this_thread::yield();
    }
    std::unique_lock lock(sleep_lock_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, [&] { return queued_.load() > 0 || stopped_.load(); });
    sleepers_.fetch_sub(1);
  }
}

void JobQueues::stop() {
  const std::lock_guard lock(sleep_lock_);
  stopped_.store(true);
  wake_.notify_all();
}

}  // namespace refrain::blackboard
