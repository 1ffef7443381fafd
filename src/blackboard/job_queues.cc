#include "blackboard/job_queues.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace refrain::blackboard {
namespace {

// Jobs that a thread takes at once from a queue that is not its own: half of them, at most this.
constexpr size_t kMostStolen = 16;
// After so many jobs of its own queue a thread looks at another one first, so that a job that makes
// the next one for ever does not keep out all others.
constexpr uint32_t kOwnInARow = 64;

// Of this thread.
struct Place {
  uint64_t random;
  size_t number;
  uint32_t own_in_a_row = 0;
  bool found_few = false;  // in the last queue of another thread that had any
  const JobQueues* worker_of = nullptr;
  size_t worker = 0;  // its number there
};

Place& place() {
  static std::atomic<size_t> threads{0};
  thread_local Place here = [] {
    const size_t number = threads.fetch_add(1);
    return Place{(number + 1) * 0x9e3779b97f4a7c15u, number};
  }();
  return here;
}

size_t next_random() {
  uint64_t& state = place().random;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 16;
}

// A thread that is as fast as the one that submits would take each job as soon as it is there: then
// the lock and the jobs go from core to core each time, which takes longer than a short job does.
void let_jobs_gather() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(1);
  while (std::chrono::steady_clock::now() < until) {
  }
}

}  // namespace

void JobQueues::begin_worker(size_t worker) {
  place().worker_of = this;
  place().worker = worker;
}

size_t JobQueues::place_of_thread() const {
  const Place& here = place();
  return here.worker_of == this ? here.worker : workers_ + here.number;
}

JobQueues::Queue& JobQueues::own_queue() {
  const size_t place = place_of_thread();
  return queues_[place < workers_ ? place : workers_ + (place - workers_) % others(workers_)];
}

void JobQueues::push(std::vector<Job>& jobs) {
  {
    Queue& queue = own_queue();
    const std::lock_guard lock(queue.lock);
    for (Job& job : jobs) queue.jobs.push_back(std::move(job));
    queue.count.store(queue.jobs.size());
  }
  wake(jobs.size());
  jobs.clear();
}

// Whoever counts itself a sleeper after this began sees the jobs before it sleeps.
void JobQueues::wake(size_t jobs) {
  if (sleepers_.load() == 0) return;
  const std::lock_guard lock(sleep_lock_);
  if (jobs == 1)
    wake_.notify_one();
  else
    wake_.notify_all();
}

bool JobQueues::take_own(Job* job) {
  Queue& queue = own_queue();
  if (queue.count.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(queue.lock);
  if (queue.jobs.empty()) return false;
  *job = std::move(queue.jobs.front());
  queue.jobs.pop_front();
  queue.count.store(queue.jobs.size(), std::memory_order_relaxed);
  return true;
}

// The first job of some other queue; what comes along goes to the own one, where others may take
// it.
bool JobQueues::steal(Job* job) {
  std::array<Job, kMostStolen> taken;
  size_t count = 0;
  Queue& own = own_queue();
  const size_t begin = next_random();
  for (size_t i = 0; i < queues_.size() && count == 0; ++i) {
    Queue& queue = queues_[(begin + i) % queues_.size()];
    if (queue.count.load(std::memory_order_relaxed) == 0) continue;
    const std::unique_lock lock(queue.lock, std::try_to_lock);
    if (!lock.owns_lock()) continue;
    const size_t wanted = &queue == &own ? 1 : std::min(kMostStolen, (queue.jobs.size() + 1) / 2);
    for (; count < std::min(wanted, queue.jobs.size()) && count < kMostStolen;) {
      taken[count++] = std::move(queue.jobs.front());
      queue.jobs.pop_front();
    }
    queue.count.store(queue.jobs.size(), std::memory_order_relaxed);
  }
  if (count == 0) return false;
  place().found_few = count < kMostStolen;
  *job = std::move(taken[0]);
  if (count == 1) return true;
  {
    const std::lock_guard lock(own.lock);
    own.jobs.insert(own.jobs.end(), std::make_move_iterator(taken.begin() + 1),
                    std::make_move_iterator(taken.begin() + static_cast<std::ptrdiff_t>(count)));
    own.count.store(own.jobs.size());
  }
  wake(1);  // of those who found nothing while the jobs were in no queue
  return true;
}

bool JobQueues::is_any_queued() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return queue.count.load() > 0; });
}

bool JobQueues::try_pop(Job* job) {
  if (queues_.size() == 1) return take_own(job);
  uint32_t& in_a_row = place().own_in_a_row;
  // A sweep passes over queues that somebody else has locked: while there are jobs, look again.
  do {
    if (++in_a_row < kOwnInARow) {
      if (take_own(job)) return true;
      if (place().found_few) let_jobs_gather();
    }
    in_a_row = 0;
    if (steal(job)) return true;
  } while (is_any_queued());
  return false;
}

void JobQueues::wake_all() {
  const std::lock_guard lock(sleep_lock_);
  wake_.notify_all();
}

}  // namespace refrain::blackboard
