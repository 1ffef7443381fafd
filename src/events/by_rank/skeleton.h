// Skeleton: the operations of a rank for simulators (ti, goal): computation between calls, messages
// with both ends, collectives. The simulator determines the times of communication.
//
// It has only messages with both ends in the conversion, and collectives that all members call; for
// others a simulator would wait for ever. A tag identifies one message of a pair of ranks at any
// time, because replays have neither communicators nor MPI's matching order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "events/by_rank/rank_events.h"
#include "events/by_rank/survey.h"
#include "events/by_rank/tags.h"
#include "reader/call_gaps.h"

namespace refrain::events {

// One end of a message; ranks are positions among those that are converted.
struct SkeletonEnd {
  bool sends = false;
  int64_t peer = 0;
  uint32_t tag = 0;
  uint64_t bytes = 0;
};

class SkeletonSink {
 public:
  virtual ~SkeletonSink() = default;
  // Whose calls come now.
  virtual void thread(uint32_t) {}
  virtual void compute(uint64_t ns) = 0;
  // Some messages at once; the rank goes on when all of them are done.
  virtual void exchange(const std::vector<SkeletonEnd>& all) = 0;
  virtual void post(const SkeletonEnd& transfer, uint64_t request) = 0;
  virtual void wait(uint64_t request) = 0;
  // The `number`-th of its communicator; with a request it is nonblocking.
  virtual void collective(const Op& op, const Signature& call, uint64_t number,
                          std::optional<uint64_t> request) = 0;
};

// A sink that knows one thread only gets the calls of all, in the order of their ends: in that
// order they have happened, so that a blocking call does not keep another thread's from ending it.
enum class Threads : uint8_t { kApart, kAsOne };

class Skeleton {
 public:
  Skeleton(Scope& scope, Survey& survey, Tags& tags, SkeletonSink& sink, Threads threads)
      : scope_(scope), survey_(survey), tags_(tags), sink_(sink), threads_(threads) {}
  // Of all calls of a rank, in order, also those outside of the window.
  void add(const Event& event);
  // Waits for what the program left open.
  void finish();

 private:
  std::optional<SkeletonEnd> transfer(const Step& step);
  // Every member of the communicator is converted and makes this collective.
  bool is_whole(const Op& op, uint64_t number);
  void add_step(const Step& step, std::vector<SkeletonEnd>& together);

  Scope& scope_;
  Survey& survey_;
  Tags& tags_;
  SkeletonSink& sink_;
  Threads threads_;
  struct Thread {
    reader::CallGaps gaps;
    uint64_t computed_ns = 0;  // not told to the sink yet
  };
  void take(const Event& event);
  void take_first();
  void flush();
  // From when on the other threads of the rank compute.
  uint64_t begin_of_others(const Event& first) const;

  struct Later {
    bool operator()(const Event& a, const Event& b) const { return a.end_ns > b.end_ns; }
  };
  std::optional<bool> turns_;  // several threads become one
  std::vector<Event> held_;    // a heap: the first to end on top
  std::map<uint32_t, Thread> state_;
  Thread* now_ = nullptr;
  uint64_t begin_ns_ = 0;              // of the rank's other threads
  std::unordered_set<uint64_t> open_;  // requests that the sink knows
};

// Walks all ranks by `walk`, once more without writing before if the tags need it. Fails too where
// anything that a walk read from outside of memory could not be read.
Status with_tags(Scope& scope, Survey& survey, Tags& tags,
                 const std::function<Status(bool writes)>& walk);

}  // namespace refrain::events
