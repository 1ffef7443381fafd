// RandomScript: programs for tests that compare the engine with its reference.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "sim/engine/testing/script.h"

namespace refrain::sim::testing {

// Random programs without circles: each call's ends belong to messages in one order for all ranks.
class RandomScript {
 public:
  // `to_self`: ranks send to themselves as well.
  RandomScript(uint32_t seed, uint32_t ranks, bool to_self = false)
      : random_(seed), to_self_(to_self) {
    script.ranks.resize(ranks);
    open_.resize(ranks);
    for (int step = 0; step < 30; ++step) one_message(ranks);
    for (uint32_t r = 0; r < ranks; ++r)
      while (!open_[r].empty()) finish(r);
  }
  Script script;

 private:
  uint32_t pick(uint32_t below) { return random_() % below; }
  uint64_t pause() { return pick(3) == 0 ? 0 : 17 + pick(4000); }
  void finish(uint32_t rank) {
    ScriptCall call;
    call.computes = pause();
    const size_t count = 1 + pick(static_cast<uint32_t>(open_[rank].size()));
    for (size_t i = 0; i < count; ++i) {
      call.waits.push_back(open_[rank].back());
      open_[rank].pop_back();
    }
    script.ranks[rank].push_back(call);
  }
  // Nonblocking on at least one side; the blocking ends of a message come in one order for all.
  void one_message(uint32_t ranks) {
    const uint32_t from = pick(ranks);
    const uint32_t to = to_self_ && pick(3) == 0 ? from : (from + 1 + pick(ranks - 1)) % ranks;
    const uint64_t sizes[] = {0, 64, 1000, 1001, 20000};
    const uint32_t channel = from * ranks + to;
    const bool is_synchronous = pick(5) == 0;
    const uint64_t bytes = sizes[pick(5)];
    for (const bool sends : {false, true}) {
      const uint32_t me = sends ? from : to;
      const uint32_t request = next_++;
      ScriptCall call;
      call.computes = pause();
      call.posts = {{sends, channel, to, request, bytes, sends && is_synchronous}};
      // Nobody waits before both ends are posted.
      open_[me].push_back(request);
      script.ranks[me].push_back(call);
    }
    if (pick(2) == 0) finish(from);
    if (pick(2) == 0 && !open_[to].empty()) finish(to);
  }

  std::mt19937 random_;
  const bool to_self_;
  uint32_t next_ = 0;
  std::vector<std::vector<uint32_t>> open_;
};

}  // namespace refrain::sim::testing
