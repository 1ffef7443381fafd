#include "sim/run/fill_ahead.h"

#include <utility>

namespace refrain::sim {

void FillAhead::start(size_t agents) {
  asked_.resize(agents + 1);
  for (AgentId id = 0; id < agents; ++id) {
    slots_.push_back(std::make_unique<Slot>());
    ask(id);
  }
  thread_ = std::thread([this] { work(); });
}

void FillAhead::ask(AgentId agent) {
  const size_t at = asked_until_.load(std::memory_order_relaxed);
  asked_[at % asked_.size()] = agent;
  asked_until_.store(at + 1, std::memory_order_release);
  asked_until_.notify_one();
}

void FillAhead::fill(AgentId agent, Batch& batch) {
  Slot& slot = *slots_[agent];
  slot.is_ready.wait(false, std::memory_order_acquire);
  slot.made.get();
  std::swap(batch, slot.batch);
  if (batch.actions.empty()) return;  // its end
  slot.is_ready.store(false, std::memory_order_relaxed);
  ask(agent);
}

void FillAhead::work() {
  for (size_t at = 0;; ++at) {
    asked_until_.wait(at, std::memory_order_acquire);
    const AgentId agent = asked_[at % asked_.size()];
    if (agent == kNobody) return;
    Slot& slot = *slots_[agent];
    std::packaged_task<void()> task([&] {
      slot.batch.clear();
      source_.fill(agent, slot.batch);
    });
    slot.made = task.get_future();
    task();
    slot.is_ready.store(true, std::memory_order_release);
    slot.is_ready.notify_one();
  }
}

void FillAhead::stop() {
  if (!thread_.joinable()) return;
  ask(kNobody);
  thread_.join();
}

}  // namespace refrain::sim
