// The blackboard against a reference that does everything at once, in order, with plain containers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "blackboard/testing/test_board.h"
#include "refrain/blackboard.h"

namespace refrain::blackboard {
namespace {

// Which numbers came together, for each source, and what was left.
struct Found {
  std::map<int, std::multiset<Payloads>> jobs;
  uint64_t unwanted = 0;
  bool operator==(const Found&) const = default;
};

struct Plan {
  std::vector<std::vector<refrain_type>> sources;
  std::vector<std::pair<refrain_type, int>> entries;  // and the source to remove before, or -1
};

Plan random_plan(std::mt19937& random, bool removes) {
  Plan plan;
  const size_t types = 1 + random() % 4;
  for (size_t s = 0, count = 1 + random() % 6; s < count; ++s) {
    std::vector<refrain_type> types_of(1 + random() % 4);
    for (refrain_type& type : types_of) type = 1 + random() % types;
    plan.sources.push_back(types_of);
  }
  for (size_t i = 0, count = random() % 200; i < count; ++i) {
    const bool is_removal = removes && random() % 50 == 0;
    // One type more than anybody wants.
    plan.entries.emplace_back(1 + random() % (types + 1),
                              is_removal ? static_cast<int>(random() % plan.sources.size()) : -1);
  }
  return plan;
}

// Slow and obvious: all entries that wait are searched for each one that comes.
Found reference(const Plan& plan) {
  Found found;
  std::vector<std::vector<std::deque<int>>> slots;
  for (const auto& types : plan.sources) slots.emplace_back(types.size());
  std::set<int> removed;
  for (size_t number = 0; number < plan.entries.size(); ++number) {
    const auto& [type, removal] = plan.entries[number];
    removed.insert(removal);
    bool is_wanted = false;
    for (size_t s = 0; s < slots.size(); ++s) {
      if (removed.contains(static_cast<int>(s))) continue;
      int best = -1;
      for (size_t i = 0; i < slots[s].size(); ++i)
        if (plan.sources[s][i] == type &&
            (best < 0 || slots[s][i].size() < slots[s][static_cast<size_t>(best)].size()))
          best = static_cast<int>(i);
      if (best < 0) continue;
      is_wanted = true;
      slots[s][static_cast<size_t>(best)].push_back(static_cast<int>(number));
      if (std::any_of(slots[s].begin(), slots[s].end(), [](const auto& q) { return q.empty(); }))
        continue;
      Payloads job;
      for (std::deque<int>& queue : slots[s]) {
        job.push_back(queue.front());
        queue.pop_front();
      }
      found.jobs[static_cast<int>(s)].insert(job);
    }
    found.unwanted += is_wanted ? 0 : 1;
  }
  return found;
}

Found run(const Plan& plan, int workers) {
  Found found;
  std::mutex lock;
  Board board(workers);
  std::vector<refrain_source> numbers;
  for (size_t s = 0; s < plan.sources.size(); ++s)
    numbers.push_back(board.add(
        plan.sources[s], [&, s](refrain_blackboard*, refrain_entry* const*, const Payloads& job) {
          const std::lock_guard guard(lock);
          found.jobs[static_cast<int>(s)].insert(job);
        }));
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    const auto& [type, removal] = plan.entries[i];
    if (removal >= 0) refrain_source_remove(board.get(), numbers[static_cast<size_t>(removal)]);
    EXPECT_EQ(board.submit(type, static_cast<int>(i)), 0);
  }
  board.wait();
  found.unwanted = board.counts().unwanted;
  EXPECT_EQ(board.counts().entries, plan.entries.size());
  return found;
}

TEST(Blackboard, JobsAreThoseOfTheReference) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Plan plan = random_plan(random, seed % 2 == 1);
    const Found expected = reference(plan);
    for (const int workers : {0, 1, 3})
      ASSERT_EQ(run(plan, workers), expected) << "seed " << seed << ", " << workers << " workers";
  }
}

}  // namespace
}  // namespace refrain::blackboard
