#include "blackboard/runner.h"

#include <utility>

namespace refrain::blackboard {
namespace {

constexpr int64_t kStock = 64;          // of what is under way, taken and given back at once
constexpr int64_t kUntoldBytes = 1024;  // at most
// So many jobs after its last one a source that was removed is gone, at the latest.
constexpr uint32_t kJobsBetweenReleases = 64;

thread_local Runner* g_runner = nullptr;

}  // namespace

Runner::Runner(UnderWay& under_way, Account& account)
    : under_way_(under_way), account_(account), outer_(std::exchange(g_runner, this)) {}

Runner::~Runner() {
  put_back();
  g_runner = outer_;
}

Runner* Runner::of_thread() { return g_runner; }

void Runner::begin_jobs(int64_t jobs) {
  if (stock_ < jobs) {
    under_way_.begin(kStock + jobs);
    stock_ += kStock + jobs;
  }
  stock_ -= jobs;
}

void Runner::end_job(SourceRef source) {
  Source* const one = source.give();
  Held& held = held_[reinterpret_cast<uintptr_t>(one) / alignof(Source) % held_.size()];
  if (held.source != one) release(held);
  held.source = one;
  ++held.references;
  if (one->is_removed()) release(held);
  if (++jobs_ % kJobsBetweenReleases == 0)
    for (Held& each : held_) release(each);
  // The last thing: where this was the last job, whoever waits goes on.
  if (++stock_ >= 2 * kStock) {
    const int64_t given_back = stock_ - kStock;
    stock_ = kStock;
    under_way_.end(given_back);
  }
}

void Runner::change_bytes(int64_t more) {
  bytes_ += more;
  if (account_.has_bound || bytes_ >= kUntoldBytes || bytes_ <= -kUntoldBytes) tell_bytes();
}

void Runner::tell_bytes() {
  const int64_t bytes = std::exchange(bytes_, 0);
  if (bytes > 0)
    account_.add(bytes);
  else if (bytes < 0)
    account_.give_back(-bytes);
}

void Runner::release(Held& held) {
  const Held all = std::exchange(held, Held());
  if (all.source != nullptr) all.source->release(all.references);
}

void Runner::put_back() {
  for (Held& each : held_) release(each);
  tell_bytes();
  under_way_.end(std::exchange(stock_, 0));
}

}  // namespace refrain::blackboard
