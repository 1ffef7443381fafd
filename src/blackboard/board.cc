#include "blackboard/board.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

using refrain::EntryRef;

namespace {

// The board whose operation this thread is in.
thread_local const refrain_blackboard* g_working_for = nullptr;

}  // namespace

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
      account_(refrain::blackboard::Account::open(most_bytes != 0)),
      jobs_(static_cast<size_t>(workers)),
      under_way_(*account_, jobs_) {
  try {
    for (int i = 0; i < workers; ++i)
      workers_.emplace_back([this, i] { work(static_cast<size_t>(i)); });
  } catch (const std::system_error&) {
    stop();
    account_->close();
    throw;
  }
}

refrain_blackboard::~refrain_blackboard() {
  static_cast<void>(wait());
  stop();
  for (const auto& [number, source] : sources_) {
    source->remove();
    source->release_stock();
  }
  sources_.clear();
  account_->close();
}

void refrain_blackboard::stop() {
  is_stopped_.store(true);
  jobs_.wake_all();
  for (std::thread& worker : workers_) worker.join();
}

bool refrain_blackboard::is_in_operation() const { return g_working_for == this; }

// -- submitting --

// Nobody gives memory back when no job is left.
int refrain_blackboard::wait_for_room(size_t bytes) {
  if (most_bytes_ == 0 || is_in_operation()) return 0;
  const auto is_full = [&] {
    const int64_t held = std::max<int64_t>(account_->bytes.load(), 0);
    return static_cast<uint64_t>(held) + bytes > most_bytes_;
  };
  if (!is_full()) return 0;
  if (workers_.empty()) {
    Runner runner(under_way_, *account_);
    Job job;
    while (is_full()) {
      if (!jobs_.try_pop(&job)) return REFRAIN_BOARD_EFULL;
      run(std::exchange(job, Job()), runner);
    }
    return 0;
  }
  int code = 0;
  account_->waiting.fetch_add(1);
  for (;;) {
    const uint32_t seen = account_->room.load();
    const bool is_idle = under_way_.is_nothing();
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

// The first board that an entry is submitted to counts its bytes.
void refrain_blackboard::account_for(refrain_entry* entry, Runner* runner) {
  refrain::blackboard::Account* none = nullptr;
  if (!entry->account.compare_exchange_strong(none, account_)) return;
  const int64_t bytes = static_cast<int64_t>(entry->bytes);
  if (runner != nullptr)
    runner->change_bytes(bytes);
  else
    account_->add(bytes);
}

void refrain_blackboard::make_jobs(refrain_entry* entry, std::vector<Job>* jobs) {
  const size_t own = jobs_.place_of_thread() % table_locks_.size();
  TableLock& table = table_locks_[own];
  const std::lock_guard lock(table.lock);
  ++table.entries;
  const auto place = table_.find(entry->type);
  if (place == table_.end()) {
    ++table.unwanted;
    return;
  }
  for (Source* const source : place->second) {
    Job job;
    if (source->offer(entry, own, &job)) jobs->push_back(std::move(job));
  }
  table.jobs += jobs->size();
}

int refrain_blackboard::submit(EntryRef entry) {
  if (const int code = wait_for_room(entry.get()->bytes); code < 0) return code;
  Runner* const runner = is_in_operation() ? Runner::of_thread() : nullptr;
  // Of this thread, so that it has memory already. What is left by a failure is of no use.
  thread_local std::vector<Job> jobs;
  jobs.clear();
  int64_t counted = 0;
  if (runner == nullptr) under_way_.begin(counted = 1);  // a job that runs is under way itself
  try {
    account_for(entry.get(), runner);
    make_jobs(entry.get(), &jobs);
    // Where that of a job is the only one left, its operation may write: so before any job can
    // begin.
    entry = EntryRef();
    if (!jobs.empty()) {
      begin_jobs(static_cast<int64_t>(jobs.size()), runner);
      counted = static_cast<int64_t>(jobs.size());
      jobs_.push(jobs);
      return 0;
    }
  } catch (const std::bad_alloc&) {
    counted -= std::count_if(jobs.begin(), jobs.end(), [](const Job& job) { return !job.source; });
    under_way_.end(counted);  // those that were not pushed
    throw;
  }
  under_way_.end(counted);
  return 0;
}

void refrain_blackboard::begin_jobs(int64_t jobs, Runner* runner) {
  if (runner == nullptr)
    under_way_.begin(jobs - 1);  // what was counted for the submission is the first one's
  else
    runner->begin_jobs(jobs);
}

// -- sources --

refrain_source refrain_blackboard::add(Source::Settings settings) {
  std::vector<refrain_type> types = settings.sensitivities;
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  SourceRef source(new Source(std::move(settings)));
  const WholeTable lock(*this);
  // First where it is kept: the table has bare pointers.
  const SourceRef& kept = sources_.emplace(++last_source_, std::move(source)).first->second;
  for (const refrain_type type : types) table_[type].push_back(kept.get());
  return last_source_;
}

int refrain_blackboard::remove(refrain_source number) {
  SourceRef source;
  {
    const WholeTable lock(*this);
    const auto place = sources_.find(number);
    if (place == sources_.end()) return REFRAIN_BOARD_EINVALID;
    source = std::move(place->second);
    sources_.erase(place);
    forget(source.get());
    source->release_stock();
  }
  source->remove();
  return 0;
}

// The caller has all locks.
void refrain_blackboard::forget(Source* source) {
  for (const refrain_type type : source->settings().sensitivities) {
    const auto place = table_.find(type);
    if (place == table_.end()) continue;  // an equal one came before
    std::erase(place->second, source);
    if (place->second.empty()) table_.erase(place);
  }
}

// -- jobs --

void refrain_blackboard::run(Job job, Runner& runner) {
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
  job.entries = refrain::blackboard::JobEntries();  // releases them
  runner.end_job(std::move(job.source));
}

void refrain_blackboard::note_failure(const Job& job, const char* what) {
  failed_count_.fetch_add(1);
  {
    const std::lock_guard lock(failures_lock_);
    failures_ += job.source->settings().name + ": " + what + "\n";
  }
  job.source->remove();
}

void refrain_blackboard::work(size_t worker) {
  jobs_.begin_worker(worker);
  Runner runner(under_way_, *account_);
  Job job;
  for (;;) {
    while (jobs_.try_pop(&job)) run(std::exchange(job, Job()), runner);
    runner.put_back();
    if (!jobs_.pop(&job, [this] { return is_stopped_.load(); })) return;
    run(std::exchange(job, Job()), runner);
  }
}

int refrain_blackboard::wait() {
  if (is_in_operation()) return REFRAIN_BOARD_EINVALID;
  Runner runner(under_way_, *account_);
  Job job;
  for (;;) {
    while (jobs_.try_pop(&job)) run(std::exchange(job, Job()), runner);
    runner.put_back();
    if (!jobs_.pop(&job, [this] { return is_idle(); })) return 0;
    run(std::exchange(job, Job()), runner);
  }
}

void refrain_blackboard::count(refrain_blackboard_counts* counts) const {
  *counts = {};
  for (TableLock& one : table_locks_) {
    const std::lock_guard lock(one.lock);
    counts->entries += one.entries;
    counts->unwanted += one.unwanted;
    counts->jobs += one.jobs;
  }
  counts->failed_jobs = failed_count_.load();
  counts->bytes = static_cast<uint64_t>(std::max<int64_t>(account_->bytes.load(), 0));
  counts->most_bytes = static_cast<uint64_t>(account_->most_bytes.load());
}

std::string refrain_blackboard::failures() const {
  const std::lock_guard lock(failures_lock_);
  return failures_;
}
