// FillAhead: a source whose batches are made by a thread of its own, one ahead of the engine.
//
//   FillAhead ahead(source);
//   Engine engine(costs, ahead, options);
//   ... engine.add(...) ...
//   ahead.start(agents);
//   engine.run();
//   ahead.stop();                       // from here on, `source` belongs to the caller again
//
// Half of a simulation is reading the trace, and none of it depends on what the engine does: so
// both go on side by side. That holds for sources whose agents are all known before the engine
// runs, and which give an agent the same actions in whatever order agents ask; others have to be
// asked directly. Agents are filled in the order in which the engine took their last batches, which
// is the same each time.
//
// Errors: what the source throws is thrown again by fill(). Threads: one calls this, one is made.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "sim/engine/action.h"

namespace refrain::sim {

class FillAhead : public ActionSource {
 public:
  explicit FillAhead(ActionSource& source) : source_(source) {}
  ~FillAhead() override { stop(); }
  FillAhead(const FillAhead&) = delete;

  void start(size_t agents);
  void fill(AgentId agent, Batch& batch) override;
  // When all that was asked for is there.
  void stop();

 private:
  static constexpr AgentId kNobody = UINT32_MAX;
  struct alignas(64) Slot {
    Batch batch;
    std::future<void> made;  // what was thrown
    std::atomic<bool> is_ready = false;
  };

  void ask(AgentId agent);
  void work();

  ActionSource& source_;
  std::vector<std::unique_ptr<Slot>> slots_;  // by agent
  // A ring: an agent is asked for once at a time, and nobody in the end.
  std::vector<AgentId> asked_;
  std::atomic<size_t> asked_until_ = 0;
  std::thread thread_;
};

}  // namespace refrain::sim
