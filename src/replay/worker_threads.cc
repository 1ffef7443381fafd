// The threads of a rank: each makes the calls that a thread of the program made, and waits before
// those that need what another one does.

#include <utility>

#include "replay/engine.h"
#include "replay/threads/touches.h"

namespace refrain::replay {

// Called when MPI is there. Threads are numbered by their first calls, so those are in order.
void Engine::begin_threads() {
  const size_t count = trace_.locations(rank_).size();
  if (count <= 1) return;
  if (state_.order.of_thread.empty()) state_.order = thread_order_of(trace_, rank_);
  state_.returned.assign(count, 0);
  state_.make_places(count);
  next_wait_ = next_maker_ = 0;
  makers_.clear();
  state_.threads_there = 1;
  state_.has_threads = true;
  state_.lock();
  for (uint32_t t = 1; t < count; ++t)
    state_.workers.emplace_back([this, t] { Engine(*this, t).work(); });
}

// Before MPI_Finalize. The thread goes on alone.
base::Status Engine::end_threads() {
  if (!state_.has_threads) return base::Done{};
  state_.unlock();
  for (std::thread& worker : state_.workers) worker.join();
  state_.workers.clear();
  state_.has_threads = false;
  if (state_.failure) return *state_.failure;
  return base::Done{};
}

// Each begins when the one before it is there.
void Engine::work() {
  {
    std::unique_lock lock(state_.mutex);
    state_.changed.wait(lock, [&] { return state_.threads_there == thread_; });
    places_of_calls_.begin_thread();
    ++state_.threads_there;
  }
  state_.changed.notify_all();
  state_.lock();
  auto good = run_once();
  if (auto ended = end_endless(); good.ok() && !ended.ok()) good = ended;
  state_.wanted_ns += pace_.wanted_ns();
  state_.spent_ns += pace_.spent_ns();
  const bool is_first_failure = !good.ok() && !state_.failure;
  if (is_first_failure) state_.failure = good.error();
  state_.changed.notify_all();
  state_.unlock();
  if (is_first_failure && options_.on_failure) options_.on_failure(good.error());
}

base::Status Engine::wait_for_others(uint64_t seq) {
  if (!state_.has_threads) return base::Done{};
  const std::vector<ThreadOrder::Wait>& waits = state_.order.of_thread[thread_];
  const auto get_on = [&](auto is_there) {
    std::unique_lock lock(state_.mutex, std::adopt_lock);
    state_.changed.wait(lock, [&] { return state_.failure || is_there(); });
    lock.release();
  };
  const std::vector<ThreadOrder::Maker>& makers = state_.order.makers[thread_];
  for (; next_maker_ < makers.size() && makers[next_maker_].seq <= seq; ++next_maker_)
    makers_[makers[next_maker_].thing] = makers[next_maker_].thread;
  for (; next_wait_ < waits.size() && waits[next_wait_].seq <= seq; ++next_wait_) {
    const ThreadOrder::Wait& wait = waits[next_wait_];
    get_on([&] { return state_.returned[wait.other] > wait.after; });
  }
  if (state_.failure) return *state_.failure;
  return base::Done{};
}

// Where the thing is that this thread means by its name.
RankState::Made& Engine::made_with(const Thing& thing) {
  if (makers_.empty()) return own_;
  const auto found = makers_.find(thing);
  return found == makers_.end() ? own_ : state_.made_by(found->second);
}

RankState::Made& Engine::made_with(const ObjectKey& object) {
  return made_with(Thing{static_cast<uint8_t>(object.first), object.second});
}

Engine::Request* Engine::find_request(const Value& value) {
  if (value.kind != ValueKind::kRequest) return nullptr;
  const SignatureId maker = value.request_signature();
  auto& requests = made_with(request_thing(maker)).requests;
  const auto found = requests.find(maker);
  return found == requests.end() ? nullptr : &found->second;
}

void Engine::note_returned(uint64_t seq) {
  if (!state_.has_threads) return;
  state_.returned[thread_] = seq + 1;
  state_.changed.notify_all();
}

}  // namespace refrain::replay
