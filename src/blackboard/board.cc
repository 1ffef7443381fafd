#include "blackboard/board.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

using refrain::EntryRef;

namespace {

// Of a paper's "array of FIFOs": enough that workers seldom look into the same one.
constexpr size_t kQueuesOfWorker = 4;

// The board whose operation this thread is in.
thread_local const refrain_blackboard* g_working_for = nullptr;

size_t table_lock_of_thread(size_t locks) {
  static std::atomic<size_t> threads{0};
  thread_local const size_t number = threads.fetch_add(1);
  return number % locks;
}

size_t queues_for(int workers) {
  return workers == 0 ? 1 : kQueuesOfWorker * static_cast<size_t>(workers);
}

}  // namespace

class refrain_blackboard::UnderWay {
 public:
  explicit UnderWay(refrain_blackboard& board) : board_(board) { board_.unfinished_.fetch_add(1); }
  ~UnderWay() { board_.end_one(); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  refrain_blackboard& board_;
};

class refrain_blackboard::WholeTable {
 public:
  explicit WholeTable(refrain_blackboard& board) : board_(board) {
    for (TableLock& one : board_.table_locks_) one.lock.lock();
  }
  ~WholeTable() {
    for (TableLock& one : board_.table_locks_) one.lock.unlock();
  }
  WholeTable(const WholeTable&) = delete;
  WholeTable& operator=(const WholeTable&) = delete;

 private:
  refrain_blackboard& board_;
};

refrain_blackboard::refrain_blackboard(int workers, size_t most_bytes)
    : most_bytes_(most_bytes),
      account_(new refrain::blackboard::Account),
      jobs_(queues_for(workers)) {
  try {
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    stop();
    account_->release();
    throw;
  }
}

refrain_blackboard::~refrain_blackboard() {
  static_cast<void>(wait());
  stop();
  for (const auto& [number, source] : sources_) source->remove();
  sources_.clear();
  table_.clear();
  account_->release();
}

void refrain_blackboard::stop() {
  jobs_.stop();
  for (std::thread& worker : workers_) worker.join();
}

bool refrain_blackboard::is_in_operation() const { return g_working_for == this; }

// -- submitting --

// Nobody gives memory back when no job is left.
int refrain_blackboard::wait_for_room(size_t bytes) {
  if (most_bytes_ == 0 || is_in_operation()) return 0;
  const auto is_full = [&] { return account_->bytes.load() + bytes > most_bytes_; };
  if (!is_full()) return 0;
  Job job;
  while (workers_.empty() && is_full()) {
    if (!jobs_.try_pop(&job)) return REFRAIN_BOARD_EFULL;
    run(std::exchange(job, Job()));
  }
  int code = 0;
  account_->waiting.fetch_add(1);
  for (;;) {
    const uint32_t seen = account_->room.load();
    const bool is_idle = unfinished_.load() == 0;
    if (!is_full()) break;
    if (is_idle) {
      code = REFRAIN_BOARD_EFULL;
      break;
    }
    account_->room.wait(seen);
  }
  account_->waiting.fetch_sub(1);
  return code;
}

int refrain_blackboard::submit(EntryRef entry) {
  const size_t bytes = entry.get()->bytes;
  if (const int code = wait_for_room(bytes); code < 0) return code;
  // A job that runs is under way itself.
  std::optional<UnderWay> submission;
  if (!is_in_operation()) submission.emplace(*this);
  refrain::blackboard::Account* none = nullptr;
  if (entry.get()->account.compare_exchange_strong(none, account_)) {
    account_->references.fetch_add(1);
    account_->add(bytes);
  }
  entry_count_.fetch_add(1, std::memory_order_relaxed);
  Job first;
  std::vector<Job> others;
  {
    const std::lock_guard lock(table_locks_[table_lock_of_thread(kTableLocks)].lock);
    const auto place = table_.find(entry.get()->type);
    if (place == table_.end()) {
      unwanted_count_.fetch_add(1, std::memory_order_relaxed);
    } else {
      for (const std::shared_ptr<Source>& source : place->second) {
        Job job;
        if (!source->offer(entry.get(), &job)) continue;
        if (first.source == nullptr) {
          first = std::move(job);
        } else {
          if (others.empty()) others.reserve(place->second.size() - 1);
          others.push_back(std::move(job));
        }
      }
    }
  }
  // Where that of a job is the only one left, its operation may write: so before any job can begin.
  entry = EntryRef();
  if (first.source != nullptr) enqueue(std::move(first));
  for (Job& job : others) enqueue(std::move(job));
  return 0;
}

void refrain_blackboard::enqueue(Job job) {
  job_count_.fetch_add(1, std::memory_order_relaxed);
  unfinished_.fetch_add(1);
  try {
    jobs_.push(std::move(job));
  } catch (const std::bad_alloc&) {
    end_one();
    throw;
  }
}

void refrain_blackboard::end_one() {
  if (unfinished_.fetch_sub(1) != 1) return;
  {
    const std::lock_guard lock(finished_lock_);
    finished_.notify_all();
  }
  // Whoever waits for room learns that nobody will give any.
  account_->room.fetch_add(1);
  account_->room.notify_all();
}

// -- sources --

refrain_source refrain_blackboard::add(Source::Settings settings) {
  std::vector<refrain_type> types = settings.sensitivities;
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  auto source = std::make_shared<Source>(std::move(settings));
  const WholeTable lock(*this);
  for (const refrain_type type : types) table_[type].push_back(source);
  sources_.emplace(++last_source_, std::move(source));
  return last_source_;
}

int refrain_blackboard::remove(refrain_source number) {
  std::shared_ptr<Source> source;
  {
    const WholeTable lock(*this);
    const auto place = sources_.find(number);
    if (place == sources_.end()) return REFRAIN_BOARD_EINVALID;
    source = std::move(place->second);
    sources_.erase(place);
    forget(source);
  }
  source->remove();
  return 0;
}

// The caller has all locks.
void refrain_blackboard::forget(const std::shared_ptr<Source>& source) {
  for (const refrain_type type : source->settings().sensitivities) {
    const auto place = table_.find(type);
    if (place == table_.end()) continue;  // an equal one came before
    std::erase(place->second, source);
    if (place->second.empty()) table_.erase(place);
  }
}

// -- jobs --

void refrain_blackboard::run(Job job) {
  const Source::Settings& settings = job.source->settings();
  std::array<refrain_entry*, refrain::blackboard::kMostSensitivities> entries;
  const size_t count = job.entries.size();
  for (size_t i = 0; i < count; ++i) entries[i] = job.entries.at(i);
  const refrain_blackboard* const outer = std::exchange(g_working_for, this);
  try {
    settings.operation(this, entries.data(), static_cast<int>(count), settings.context);
  } catch (const std::exception& thrown) {
    note_failure(job, thrown.what());
  } catch (...) {
    note_failure(job, "something that is no std::exception");
  }
  g_working_for = outer;
  job = Job();  // releases the entries, and may end the source
  end_one();
}

void refrain_blackboard::note_failure(const Job& job, const char* what) {
  failed_count_.fetch_add(1);
  {
    const std::lock_guard lock(failures_lock_);
    failures_ += job.source->settings().name + ": " + what + "\n";
  }
  job.source->remove();
}

void refrain_blackboard::work() {
  Job job;
  while (jobs_.pop(&job)) run(std::exchange(job, Job()));
}

int refrain_blackboard::wait() {
  if (is_in_operation()) return REFRAIN_BOARD_EINVALID;
  if (workers_.empty()) {
    Job job;
    while (jobs_.try_pop(&job)) run(std::exchange(job, Job()));
  }
  std::unique_lock lock(finished_lock_);
  finished_.wait(lock, [&] { return unfinished_.load() == 0; });
  return 0;
}

void refrain_blackboard::count(refrain_blackboard_counts* counts) const {
  counts->entries = entry_count_.load();
  counts->unwanted = unwanted_count_.load();
  counts->jobs = job_count_.load();
  counts->failed_jobs = failed_count_.load();
  counts->bytes = account_->bytes.load();
  counts->most_bytes = account_->most_bytes.load();
}

std::string refrain_blackboard::failures() const {
  const std::lock_guard lock(failures_lock_);
  return failures_;
}
