#include "replay/threads/thread_order.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace refrain::replay {
namespace {

struct Step {
  std::vector<Touch> touches;
  uint64_t begin_ns = 0;
};
using Steps = std::vector<Step>;

class Listed : public TouchStream {
 public:
  explicit Listed(const Steps& steps) : steps_(steps) {}
  bool next(Call& call) override {
    if (at_ == steps_.size()) return false;
    call = {at_, steps_[at_].begin_ns, 0, &steps_[at_].touches};
    ++at_;
    return true;
  }
  void rewind() override { at_ = 0; }

 private:
  const Steps& steps_;
  size_t at_ = 0;
};

ThreadOrder order_of(const std::vector<Steps>& threads, bool has_times = false) {
  std::vector<std::unique_ptr<TouchStream>> streams;
  for (const Steps& steps : threads) streams.push_back(std::make_unique<Listed>(steps));
  return order_threads(streams, has_times);
}

Touch make(int64_t n) { return {{1, n}, Effect::kMake}; }
Touch use(int64_t n) { return {{1, n}, Effect::kUse}; }
Touch end(int64_t n) { return {{1, n}, Effect::kFree}; }
Touch turn(int64_t n) { return {{kTurns, n}, Effect::kTurn}; }

using Waits = std::vector<ThreadOrder::Wait>;

TEST(ThreadOrder, AnotherThreadUsesItBetweenMakingAndFreeing) {
  const ThreadOrder order = order_of({{{{make(3)}}, {{end(3)}}}, {{{use(3)}}, {{use(3)}}}});
  EXPECT_EQ(order.forced, 0u);
  EXPECT_EQ(order.of_thread[0], (Waits{{1, 1, 1}}));
  EXPECT_EQ(order.of_thread[1], (Waits{{0, 0, 0}}));  // once is enough
}

TEST(ThreadOrder, NamesOfOneThreadAloneNeedNoWaiting) {
  const ThreadOrder order = order_of({{{{make(3)}}, {{end(3)}}}, {{{make(4)}}, {{end(4)}}}});
  EXPECT_TRUE(order.of_thread[0].empty());
  EXPECT_TRUE(order.of_thread[1].empty());
}

TEST(ThreadOrder, ANameThatIsGivenAgainIsNoReasonToWait) {
  const ThreadOrder order = order_of({{{{make(3)}}, {{end(3)}}}, {{{make(3)}}, {{end(3)}}}});
  EXPECT_EQ(order.forced, 0u);
  EXPECT_TRUE(order.of_thread[0].empty());
  EXPECT_TRUE(order.of_thread[1].empty());
  EXPECT_TRUE(order.makers[0].empty());
  EXPECT_TRUE(order.makers[1].empty());
}

TEST(ThreadOrder, AThreadIsToldWhoseNameItUses) {
  const ThreadOrder order =
      order_of({{{{make(3)}}}, {{{use(3)}}, {{end(3)}}, {{make(3)}}, {{use(3)}}}});
  EXPECT_EQ(order.makers[1], (std::vector<ThreadOrder::Maker>{{0, {1, 3}, 0}, {2, {1, 3}, 1}}));
}

TEST(ThreadOrder, AChannelHasAnOrderWhereSomebodyLooksIntoIt) {
  const Touch take{{kChannel, 5}, Effect::kTurn}, look{{kChannel, 5}, Effect::kLook};
  EXPECT_TRUE(order_of({{{{take}}}, {{{take}}}}).of_thread[1].empty());
  EXPECT_EQ(order_of({{{{look}}, {{take}}}, {{{take}}}}).of_thread[1], (Waits{{0, 0, 1}}));
}

// Threads that come and go: each second one ends what the one before it has begun.
TEST(ThreadOrder, WhatAThreadEndsIsWhatALowerOneHasMade) {
  const Steps begins = {{{turn(0)}}, {{make(3)}}}, ends = {{{end(3)}}};
  const ThreadOrder order = order_of({begins, ends, begins, ends});
  EXPECT_EQ(order.forced, 0u);
  EXPECT_EQ(order.of_thread[1], (Waits{{0, 0, 1}}));
  EXPECT_EQ(order.of_thread[2], (Waits{{0, 0, 0}}));
  EXPECT_EQ(order.of_thread[3], (Waits{{0, 2, 1}}));
}

TEST(ThreadOrder, TimesDecideWhoIsFirst) {
  const std::vector<Steps> threads = {{{{turn(0)}, 50}, {{turn(0)}, 60}},
                                      {{{turn(0)}, 10}, {{turn(0)}, 70}}};
  const ThreadOrder order = order_of(threads, true);
  EXPECT_EQ(order.of_thread[0], (Waits{{0, 1, 0}}));
  EXPECT_EQ(order.of_thread[1], (Waits{{1, 0, 1}}));
}

// A name stood for one object and then for one of another kind: a thread that only uses both does
// so while each is there.
TEST(ThreadOrder, AThreadWaitsForTheObjectThatItMeans) {
  const auto as = [](Touch touch, int64_t what) {
    touch.made_as = what;
    return touch;
  };
  const Steps makes = {
      {{as(make(3), 7)}}, {{as(end(3), 7)}}, {{as(make(3), 8)}}, {{as(end(3), 8)}}};
  const ThreadOrder order = order_of({makes, {{{as(use(3), 7)}}, {{as(use(3), 8)}}}});
  EXPECT_EQ(order.forced, 0u);
  EXPECT_EQ(order.of_thread[0], (Waits{{1, 1, 0}, {3, 1, 1}}));
  EXPECT_EQ(order.of_thread[1], (Waits{{0, 0, 0}, {1, 0, 2}}));
  // What nobody has made as that is the one that is there.
  EXPECT_EQ(order_of({{{{as(make(3), 7)}}}, {{{as(use(3), 9)}}}}).forced, 0u);
}

TEST(ThreadOrder, WhatIsNeverMadeWasThere) {
  const ThreadOrder order = order_of({{{{use(3)}}}, {{{use(3)}}, {{end(3)}}}});
  EXPECT_EQ(order.forced, 0u);
  EXPECT_EQ(order.of_thread[1], (Waits{{1, 0, 0}}));
}

TEST(ThreadOrder, WhatCannotBeOrderedIsCounted) {
  const ThreadOrder order = order_of({{{{use(4)}}, {{make(3)}}}, {{{use(3)}}, {{make(4)}}}});
  EXPECT_GT(order.forced, 0u);
}

// Threads that run as they like, but for the waits: each call must find what it needs.
void run_at_random(const std::vector<Steps>& threads, const ThreadOrder& order,
                   std::mt19937& random) {
  std::vector<size_t> at(threads.size());
  std::vector<std::set<int64_t>> there(threads.size());  // by thread that made it
  while (true) {
    std::vector<size_t> can;
    bool is_over = true;
    for (size_t t = 0; t < threads.size(); ++t) {
      if (at[t] == threads[t].size()) continue;
      is_over = false;
      const bool waits = std::any_of(
          order.of_thread[t].begin(), order.of_thread[t].end(),
          [&](const ThreadOrder::Wait& w) { return w.seq <= at[t] && at[w.other] <= w.after; });
      if (!waits) can.push_back(t);
    }
    if (is_over) return;
    ASSERT_FALSE(can.empty()) << "all wait";
    const size_t t = can[random() % can.size()];
    for (const Touch& touch : threads[t][at[t]].touches) {
      const int64_t n = touch.thing.number;
      uint32_t maker = static_cast<uint32_t>(t);
      for (const ThreadOrder::Maker& known : order.makers[t])
        if (known.seq <= at[t] && known.thing == touch.thing) maker = known.thread;
      if (touch.effect == Effect::kMake)
        ASSERT_TRUE(there[t].insert(n).second);
      else
        ASSERT_EQ(there[maker].count(n), 1u);
      if (touch.effect == Effect::kFree) there[maker].erase(n);
    }
    ++at[t];
  }
}

// Programs that ran once: names are the lowest free ones, threads use and free what others made.
TEST(ThreadOrder, RandomProgramsFindWhatTheyNeed) {
  std::mt19937 random(7);
  for (int program = 0; program < 100; ++program) {
    const size_t count = 2 + random() % 3;
    std::vector<Steps> threads(count);
    std::set<int64_t> there;
    for (uint64_t now = 1; now < 80; ++now) {
      Steps& steps = threads[random() % count];
      if (there.empty() || (random() % 3 == 0 && there.size() < 6)) {
        int64_t lowest = 0;
        while (there.count(lowest) != 0) ++lowest;
        there.insert(lowest);
        steps.push_back({{make(lowest)}, now});
        continue;
      }
      const int64_t one = *std::next(there.begin(), static_cast<int>(random() % there.size()));
      const bool ends = random() % 3 == 0;
      steps.push_back({{ends ? end(one) : use(one)}, now});
      if (ends) there.erase(one);
    }
    for (const bool has_times : {true, false}) {
      const ThreadOrder order = order_of(threads, has_times);
      if (has_times) {
        ASSERT_EQ(order.forced, 0u);
      }
      if (order.forced == 0)
        for (int i = 0; i < 5; ++i) run_at_random(threads, order, random);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace refrain::replay
