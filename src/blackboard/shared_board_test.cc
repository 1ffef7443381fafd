// Boards of several ranks, which are threads of the test, against one rank that does everything.
#include "blackboard/shared_board.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace refrain::blackboard {
namespace {

// The rings and sums of all ranks.
struct World {
  World(int size_, size_t room_) : size(size_), room(room_) {}
  const int size;
  const size_t room;  // of a ring
  std::mutex lock;
  std::map<std::pair<int, int>, std::deque<char>> rings;  // from, to
  std::vector<Mailboxes::Sums> sums;                      // one behind the other
  std::vector<int> counted;
};

class Boxes : public Mailboxes {
 public:
  Boxes(World& world, int rank) : world_(world), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return world_.size; }
  int64_t write(int to, const char* data, size_t bytes) override {
    const std::lock_guard lock(world_.lock);
    std::deque<char>& ring = world_.rings[{rank_, to}];
    const size_t now = std::min(bytes, world_.room - ring.size());
    ring.insert(ring.end(), data, data + now);
    return static_cast<int64_t>(now);
  }
  bool has_news() override { return true; }
  int64_t read(int from, char* data, size_t capacity) override {
    const std::lock_guard lock(world_.lock);
    std::deque<char>& ring = world_.rings[{from, rank_}];
    const size_t now = std::min(capacity, ring.size());
    std::copy_n(ring.begin(), now, data);
    ring.erase(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(now));
    return static_cast<int64_t>(now);
  }
  bool begin_sum(const Sums& own) override {
    const std::lock_guard lock(world_.lock);
    if (world_.sums.size() == begun_) {
      world_.sums.push_back({});
      world_.counted.push_back(0);
    }
    for (size_t i = 0; i < own.size(); ++i) world_.sums[begun_][i] += own[i];
    ++world_.counted[begun_++];
    return true;
  }
  int test_sum(Sums* totals) override {
    const std::lock_guard lock(world_.lock);
    if (world_.counted[begun_ - 1] < world_.size) return 0;
    *totals = world_.sums[begun_ - 1];
    return 1;
  }
  void pause(int) override { std::this_thread::yield(); }

 private:
  World& world_;
  int rank_;
  size_t begun_ = 0;
};

// A random flow of data whose result does not depend on order: a source sums up the numbers of its
// entries, and submits what it was given times its factor, as long as that is small.
struct Flow {
  struct Part {
    std::vector<refrain_type> types;
    refrain_type out;
    uint64_t factor;
  };
  std::vector<Part> parts;
  std::vector<std::pair<refrain_type, uint64_t>> entries;
  size_t padding;  // bytes behind each number
};

Flow random_flow(uint32_t seed) {
  std::mt19937 random(seed);
  Flow flow;
  for (size_t i = 0, count = 1 + random() % 6; i < count; ++i) {
    // Those of two entries are of one type, so that pairs are of any two of its numbers.
    const refrain_type type = 1 + random() % 5;
    flow.parts.push_back({std::vector<refrain_type>(1 + random() % 2, type),
                          type + 1 + random() % 2, 2 + random() % 3});
  }
  flow.entries.resize(random() % 100);
  for (auto& [type, number] : flow.entries) {
    type = 1 + random() % 5;
    number = 1 + random() % 1000;
  }
  flow.padding = random() % 3 == 0 ? 5000 : random() % 20;
  return flow;
}

struct Context {
  Context(SharedBoard* board_, const Flow* flow_, const Flow::Part* part_)
      : board(board_), flow(flow_), part(part_) {}
  SharedBoard* board;
  const Flow* flow;
  const Flow::Part* part;
  std::atomic<uint64_t> sum{0}, jobs{0};
};

void put(SharedBoard& board, refrain_type type, uint64_t number, size_t padding) {
  EntryRef entry(refrain_entry_new(type, sizeof number + padding));
  char* const data = static_cast<char*>(refrain_entry_write(entry.get()));
  std::memcpy(data, &number, sizeof number);
  std::memset(data + sizeof number, static_cast<int>(number % 251), padding);
  ASSERT_EQ(board.submit(std::move(entry)), 0);
}

void operate(refrain_blackboard*, refrain_entry* const* entries, int count, void* context) {
  Context& c = *static_cast<Context*>(context);
  c.jobs.fetch_add(1);
  for (int i = 0; i < count; ++i) {
    uint64_t number = 0;
    const char* const data = static_cast<const char*>(refrain_entry_data(entries[i]));
    std::memcpy(&number, data, sizeof number);
    ASSERT_EQ(refrain_entry_bytes(entries[i]), sizeof number + c.flow->padding);
    for (size_t b = 0; b < c.flow->padding; ++b)
      ASSERT_EQ(data[sizeof number + b], static_cast<char>(number % 251));
    c.sum.fetch_add(number);
    // Each entry goes on by itself, so pairs may be any.
    put(*c.board, c.part->out, number * c.part->factor, c.flow->padding);
  }
}

using Result = std::vector<std::pair<uint64_t, uint64_t>>;  // jobs and sum of each part

// Of pairs one entry may be left over, which one is open: so these are counted, not summed up.
bool is_pair(const Flow::Part& part) { return part.types.size() == 2; }

void be_rank(World& world, int rank, int workers, size_t bound, const Flow& flow, Result* result,
             std::mutex* lock) {
  Boxes boxes(world, rank);
  SharedBoard board(boxes, refrain_blackboard_new(workers, 0), workers, bound);
  std::vector<std::unique_ptr<Context>> contexts;
  for (const Flow::Part& part : flow.parts) {
    contexts.push_back(std::make_unique<Context>(&board, &flow, &part));
    const int at = board.add("part", part.types.data(), static_cast<int>(part.types.size()),
                             operate, contexts.back().get());
    ASSERT_EQ(at, board.owner(part.types[0]));
  }
  for (size_t i = 0; i < flow.entries.size(); ++i)
    if (static_cast<int>(i) % world.size == rank)
      put(board, flow.entries[i].first, flow.entries[i].second, flow.padding);
  ASSERT_EQ(board.wait(), 0);
  const std::lock_guard guard(*lock);
  for (size_t i = 0; i < contexts.size(); ++i) {
    (*result)[i].first += contexts[i]->jobs.load();
    if (!is_pair(flow.parts[i])) (*result)[i].second += contexts[i]->sum.load();
  }
}

Result run(const Flow& flow, int ranks, int workers, size_t bound, size_t room) {
  World world(ranks, room);
  Result result(flow.parts.size());
  std::mutex lock;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { be_rank(world, rank, workers, bound, flow, &result, &lock); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& [pair, ring] : world.rings) EXPECT_TRUE(ring.empty());
  return result;
}

// Only parts that no pair comes before have sums that are known.
bool has_pairs(const Flow& flow) {
  return std::any_of(flow.parts.begin(), flow.parts.end(), is_pair);
}

TEST(SharedBoard, ResultsDoNotDependOnRanksAndThreads) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    Flow flow = random_flow(seed);
    if (has_pairs(flow) && seed % 2 == 0)
      for (Flow::Part& part : flow.parts) part.types.resize(1);
    // Which entry of a pair is left over is open, and so are the sums behind it.
    const bool only_counts = has_pairs(flow);
    const auto of = [&](Result result) {
      if (only_counts)
        for (auto& [jobs, sum] : result) sum = 0;
      return result;
    };
    const Result expected = of(run(flow, 1, 0, 0, 1 << 16));
    for (const int ranks : {1, 2, 4})
      for (const int workers : {0, 1, 4})
        ASSERT_EQ(of(run(flow, ranks, workers, 0, 1 << 16)), expected)
            << "seed " << seed << ", " << ranks << " ranks, " << workers << " workers";
    // A ring that holds a part of an entry, and a board that is full after some entries.
    ASSERT_EQ(of(run(flow, 3, 2, 0, 13)), expected) << "seed " << seed;
    ASSERT_EQ(of(run(flow, 3, 2, 64, 100)), expected) << "seed " << seed;
    ASSERT_EQ(of(run(flow, 2, 0, 64, 100)), expected) << "seed " << seed;
  }
}

TEST(SharedBoard, SourcesOfSeveralTypesGetThemFromEverywhere) {
  World world(3, 64);
  std::vector<std::thread> threads;
  static std::atomic<int> pairs{0};
  pairs = 0;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      Boxes boxes(world, rank);
      SharedBoard board(boxes, refrain_blackboard_new(1, 0), 1, 0);
      ASSERT_EQ(board.give(7, 2), 0);
      ASSERT_EQ(board.give(8, 3), REFRAIN_BOARD_EINVALID);
      const refrain_type types[] = {7, 4};
      const auto count = [](refrain_blackboard*, refrain_entry* const* entries, int, void*) {
        pairs += refrain_entry_type(entries[0]) == 7 && refrain_entry_type(entries[1]) == 4;
      };
      ASSERT_EQ(board.add("both", types, 2, count, nullptr), 2);
      ASSERT_EQ(board.give(4, 0), REFRAIN_BOARD_EINVALID);  // it has a source
      // Twice over: a board goes on after its end.
      for (int turn = 1; turn <= 2; ++turn) {
        if (rank == 0)
          for (int i = 0; i < 100; ++i) put(board, 7, 1, 0);
        if (rank == 1)
          for (int i = 0; i < 100; ++i) put(board, 4, 1, 0);
        put(board, 99, 1, 0);  // nobody's
        ASSERT_EQ(board.wait(), 0);
        EXPECT_EQ(pairs, 100 * turn);
        ASSERT_EQ(board.wait(), 0);  // nobody submits before all have looked
      }
    });
  for (std::thread& thread : threads) thread.join();
}

// Entries that go from rank to rank, and make others that end at the next one: while some ranks
// have counted and others have not, as many may seem to have been taken as were sent.
struct Hops {
  SharedBoard* board;
  std::atomic<int>* count;
  std::mt19937 random;
};

void hop(refrain_blackboard*, refrain_entry* const* entries, int, void* context) {
  Hops& hops = *static_cast<Hops*>(context);
  uint64_t left = 0;
  std::memcpy(&left, refrain_entry_data(entries[0]), sizeof left);
  ++*hops.count;
  std::this_thread::sleep_for(std::chrono::microseconds(hops.random() % 3 * 50));
  if (left == 1) return;
  put(*hops.board, 10 + hops.random() % 4, left - 1, 0);
  put(*hops.board, 10 + hops.random() % 4, 1, 0);  // goes no further
}

TEST(SharedBoard, TheEndIsWhenNothingIsOnItsWay) {
  constexpr int kTurns = 30, kTokens = 2, kHops = 20;
  World world(4, 1 << 16);
  std::atomic<int> count{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world.size; ++rank)
    threads.emplace_back([&, rank] {
      Boxes boxes(world, rank);
      SharedBoard board(boxes, refrain_blackboard_new(1, 0), 1, 0);
      Hops hops{&board, &count, std::mt19937(static_cast<uint32_t>(rank))};
      for (int r = 0; r < world.size; ++r) {
        const refrain_type type = 10 + static_cast<refrain_type>(r);
        ASSERT_EQ(board.give(type, r), 0);
        ASSERT_EQ(board.add("hop", &type, 1, hop, &hops), r);
      }
      for (int turn = 1; turn <= kTurns; ++turn) {
        if (rank == 0)
          for (int i = 0; i < kTokens; ++i) put(board, 10 + static_cast<refrain_type>(i), kHops, 0);
        ASSERT_EQ(board.wait(), 0);
        EXPECT_EQ(count.load(), turn * kTokens * (2 * kHops - 1));
        ASSERT_EQ(board.wait(), 0);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

// What waits for others does not keep anybody: a bound that is reached by it is passed.
TEST(SharedBoard, ABoundHoldsWhileJobsRun) {
  World world(2, 4096);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      Boxes boxes(world, rank);
      SharedBoard board(boxes, refrain_blackboard_new(1, 0), 1, 4000);
      ASSERT_EQ(board.give(1, 1), 0);
      const refrain_type type = 1;
      const auto nothing = [](refrain_blackboard*, refrain_entry* const*, int, void*) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      };
      const refrain_type pair[] = {5, 6};
      ASSERT_EQ(board.add("slow", &type, 1, nothing, nullptr), 1);
      ASSERT_EQ(board.give(5, 1), 0);
      ASSERT_EQ(board.add("never", pair, 2, nothing, nullptr), 1);
      if (rank == 0)
        for (int i = 0; i < 200; ++i) put(board, 1, 1, 992);
      if (rank == 0)
        for (int i = 0; i < 20; ++i) put(board, 5, 1, 992);
      ASSERT_EQ(board.wait(), 0);
      refrain_blackboard_counts counts;
      refrain_blackboard_count(board.local(), &counts);
      EXPECT_EQ(counts.entries, rank == 0 ? 0u : 220u);
      EXPECT_LE(counts.most_bytes, 21000u);  // 20 that wait for others, not 220
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace refrain::blackboard
