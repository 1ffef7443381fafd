// Which call of the trace the program makes now.
//
// A call that calls back functions of the program stands behind the calls that those make: the trace
// has calls in the order of their ends. So where the next recorded call is another one, and the
// program has given MPI functions to call, the call is looked for further on.

#include <cstdio>
#include <string>

#include "mpi/call_ids.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

constexpr size_t kMostInside = 4096;  // calls that the callbacks of one call may make
thread_local void* g_mine = nullptr;  // a Player::Thread

}  // namespace

Player::Thread* Player::known_thread() { return static_cast<Thread*>(g_mine); }

// Threads have the numbers of their first calls.
Player::Thread& Player::thread_of(mpi::CallId call, uintptr_t site) {
  if (Thread* const known = known_thread()) return *known;
  const size_t locations = trace_->locations(options_.rank).size();
  size_t chosen = SIZE_MAX;
  std::vector<bool> taken(locations, false);
  for (const auto& thread : threads_)
    if (thread->location < locations) taken[thread->location] = true;
  for (size_t i = 0; i < locations; ++i) {
    if (taken[i]) continue;
    if (chosen == SIZE_MAX) chosen = i;
    auto cursor = reader_->cursor(static_cast<uint32_t>(i));
    const Call* const first = cursor.ok() ? cursor->next() : nullptr;
    if (first == nullptr || !is_call({first->signature, 0}, call, site)) continue;
    chosen = i;
    break;
  }
  if (chosen == SIZE_MAX) chosen = locations + threads_.size();
  auto thread = std::make_unique<Thread>();
  thread->location = static_cast<uint32_t>(chosen);
  if (auto cursor = reader_->cursor(thread->location); cursor.ok())
    thread->cursor.emplace(std::move(*cursor));
  thread->units.begin(options_.units, thread->location);
  g_mine = thread.get();
  threads_.push_back(std::move(thread));
  if (threads_.size() > 1) measure_on_the_wall();
  return *threads_.back();
}

bool Player::fill(Thread& thread, size_t count) {
  while (thread.ahead.size() < count) {
    const Call* const call = thread.cursor ? thread.cursor->next() : nullptr;
    if (call == nullptr) return false;
    thread.ahead.push_back({call->signature, call->seq});
  }
  return true;
}

bool Player::is_call(const Record& record, mpi::CallId call, uintptr_t site) {
  if (record.signature->call != call) return false;
  const uintptr_t recorded = sites_->address_of(record.signature->site);
  return recorded == 0 || site == 0 || recorded == site;
}

// Fills in the recorded call. Returns how many calls in front of it its callbacks are to make.
size_t Player::take(Frame& frame) {
  Thread& thread = frame.thread;
  if (!fill(thread, 1)) return 0;
  const mpi::CallId call = frame.info.id;
  size_t at = 0;
  if (!is_call(thread.ahead.front(), call, frame.site) && (callbacks_ > 0 || operators_ > 0)) {
    for (size_t i = 1; i < kMostInside && fill(thread, i + 1); ++i)
      if (is_call(thread.ahead[i], call, frame.site)) {
        at = i;
        break;
      }
  }
  const Record record = thread.ahead[at];
  frame.seq = record.seq;
  if (record.signature->call != call)
    differ(frame, "the program calls " + std::string(frame.info.name) + ", the trace has " +
                      std::string(record.signature->name));
  frame.signature = record.signature;
  thread.ahead.erase(thread.ahead.begin() + static_cast<std::ptrdiff_t>(at));
  ++thread.answered;
  return at;
}

// Calls of reduction operators are left over: the operators are not called.
void Player::end_inner(Frame& frame, size_t inner, uint64_t answered_before) {
  const uint64_t made = frame.thread.answered - answered_before;
  if (made >= inner) return;
  if (operators_ == 0)
    differ(frame, "the program's function that this call calls made " + std::to_string(made) +
                      " calls, in the trace " + std::to_string(inner));
  for (uint64_t i = made; i < inner && !frame.thread.ahead.empty(); ++i) {
    frame.thread.ahead.pop_front();
    ++counts_.skipped;
  }
}

}  // namespace refrain::replay::solo
