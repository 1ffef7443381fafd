// Lanes of requests: many threads, each with what it made itself and with what others made.
#include "tracer/requests/request_lanes.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <latch>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace refrain::tracer {
namespace {

// A request on its way from the thread that makes it to the one that completes it, as the program
// hands it over.
struct Letter {
  uint64_t key = 0;
  const char* variable = nullptr;
  uint32_t number = 0;
};

class Mailbox {
 public:
  void put(const Letter& letter) {
    const std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_TRUE(numbers_.insert(letter.number).second) << "two requests alive have one number";
    letters_.push_back(letter);
  }
  std::optional<Letter> take(std::mt19937& random) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (letters_.empty()) return std::nullopt;
    std::swap(letters_[random() % letters_.size()], letters_.back());
    const Letter letter = letters_.back();
    letters_.pop_back();
    // Its position is free no earlier than when the completing thread has removed it.
    numbers_.erase(letter.number);
    return letter;
  }

 private:
  std::mutex mutex_;
  std::vector<Letter> letters_;
  std::set<uint32_t> numbers_;
};

class Worker {
 public:
  Worker(RequestLanes& lanes, Mailbox& box, uint32_t seed)
      : lanes_(lanes), box_(box), random_(seed), lane_(&lanes.join()) {}
  ~Worker() { lanes_.leave(*lane_); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void make(bool shared_handle) {
    RequestEntry e;
    e.pool = random_() % 3;
    {
      OwnLane own(*lane_);
      e.position = own->take_position(e.pool);
    }
    Letter letter;
    letter.number = e.pool << 28 ^ lanes_.number_of(*lane_, e.position);
    letter.variable = new char;
    letter.key = shared_handle ? 7 : reinterpret_cast<uintptr_t>(letter.variable);
    e.key = letter.key;
    e.variable = letter.variable;
    e.terminal = letter.number;
    add_request(*lane_, e);
    box_.put(letter);
  }

  // As RequestSnapshot does it.
  void complete() {
    const auto letter = box_.take(random_);
    if (!letter) return;
    if (complete_own(*letter)) {
      ++own_count;
    } else {
      ++foreign_count;
      complete_elsewhere(*letter);
    }
    delete letter->variable;
  }

  uint64_t own_count = 0, foreign_count = 0;

 private:
  bool complete_own(const Letter& letter) {
    RequestEntry* claimed = nullptr;
    {
      OwnLane own(*lane_);
      const uint32_t found = own->find(letter.key, letter.variable);
      if (found == RequestTable::kNone || own->at(found).variable != letter.variable) return false;
      claimed = &own->at(found);
      own->claim(*claimed);
    }
    EXPECT_EQ(claimed->terminal, letter.number);  // nobody else may touch it now
    OwnLane own(*lane_);
    own->remove(*claimed);
    return true;
  }
  void complete_elsewhere(const Letter& letter) {
    RequestEntry* claimed = nullptr;
    {
      AllLanes all(*lane_);
      claimed = all.find(letter.key, letter.variable);
      ASSERT_NE(claimed, nullptr);
      all.table_of(*claimed).claim(*claimed);
    }
    EXPECT_EQ(claimed->terminal, letter.number);
    AllLanes all(*lane_);
    if (random_() % 4 == 0) {  // not over yet after all
      all.table_of(*claimed).give_back(*claimed);
      ASSERT_EQ(all.find(letter.key, letter.variable), claimed);
      all.table_of(*claimed).claim(*claimed);
    }
    all.table_of(*claimed).remove(*claimed);
  }

  RequestLanes& lanes_;
  Mailbox& box_;
  std::mt19937 random_;
  RequestLane* lane_;
};

// Threads come and go, and complete what they find, whoever made it.
void make_and_complete() {
  constexpr int kThreads = 4, kLives = 12, kSteps = 2000;
  RequestLanes lanes;
  lanes.begin_threads();
  Mailbox box;
  std::atomic<uint64_t> own_count{0}, foreign_count{0};
  // What is not theirs is there from the begin, however the threads take turns.
  Worker first(lanes, box, 99);
  for (int i = 0; i < 100; ++i) first.make(i % 2 == 0);
  std::latch all_there(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      all_there.arrive_and_wait();
      for (int life = 0; life < kLives; ++life) {
        Worker worker(lanes, box, static_cast<uint32_t>(t * kLives + life));
        std::mt19937 random(static_cast<uint32_t>(t + 100 * life));
        for (int step = 0; step < kSteps; ++step) {
          random() % 2 == 0 ? worker.make(random() % 3 == 0) : worker.complete();
          if (random() % 32 == 0) std::this_thread::yield();
        }
        own_count += worker.own_count;
        foreign_count += worker.foreign_count;
      }
    });
  for (std::thread& t : threads) t.join();
  Worker last(lanes, box, 1);
  while (true) {
    const uint64_t before = last.own_count + last.foreign_count;
    last.complete();
    if (last.own_count + last.foreign_count == before) break;
  }
  EXPECT_GT(own_count.load(), 0u);
  EXPECT_GT(foreign_count.load(), 0u);
  // Nothing is left behind.
  RequestLane& any = lanes.join();
  AllLanes all(any);
  EXPECT_EQ(all.find(7, nullptr), nullptr);
}

// A counter that loses counts when two are at it.
class Counter {
 public:
  void count(uint32_t pause) {
    const uint64_t before = value_;
    for (uint32_t i = 0; i < pause % 32; ++i) value_ = before;
    value_ = before + 1;
  }
  uint64_t value() const { return value_; }

 private:
  volatile uint64_t value_ = 0;
};

// An owner that is in and out of its lane, and others that look into it.
void exclude_each_other() {
  constexpr uint32_t kVisitors = 2, kVisits = 10000;
  RequestLanes lanes;
  lanes.begin_threads();
  Counter counter;
  std::atomic<uint32_t> visiting{kVisitors};
  uint64_t entered = 0;
  std::latch all_there(kVisitors + 1);
  std::vector<std::thread> threads;
  RequestLane& lane = lanes.join();
  threads.emplace_back([&] {
    all_there.arrive_and_wait();
    for (; visiting.load(std::memory_order_relaxed) > 0; ++entered) {
      OwnLane own(lane);
      counter.count(static_cast<uint32_t>(entered));
    }
  });
  for (uint32_t v = 0; v < kVisitors; ++v)
    threads.emplace_back([&] {
      RequestLane& mine = lanes.join();
      all_there.arrive_and_wait();
      for (uint32_t i = 0; i < kVisits; ++i) {
        AllLanes all(mine);
        counter.count(i);
      }
      --visiting;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(counter.value(), entered + kVisitors * kVisits);
}

TEST(RequestLanes, NobodyIsInALaneTogetherWithItsOwner) { exclude_each_other(); }

TEST(RequestLanes, EveryRequestIsFoundOnceByWhoeverCompletesIt) { make_and_complete(); }

// From here on the calling thread, and those that it starts, live on a kernel without membarrier.
bool forget_membarrier() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) == -1;
}

TEST(RequestLanes, TheSameWithoutMembarrier) {
  bool is_forgotten = false;
  std::thread([&] {
    is_forgotten = forget_membarrier();
    if (!is_forgotten) return;
    make_and_complete();
    exclude_each_other();
  }).join();
  if (!is_forgotten) GTEST_SKIP() << "this machine allows no seccomp filter";
}

TEST(RequestLanes, OneLaneForAllWithoutThreads) {
  RequestLanes lanes;
  RequestLane& first = lanes.join();
  EXPECT_EQ(&lanes.join(), &first);
  EXPECT_EQ(&lanes.leave(first), &first);
  EXPECT_EQ(lanes.number_of(first, RequestLane::kPositions), RequestLane::kPositions);
}

TEST(RequestLanes, AThreadTakesOverTheLaneOfOneThatEnded) {
  RequestLanes lanes;
  RequestLane& main = lanes.join();
  lanes.begin_threads();
  RequestLane& a = lanes.join();
  RequestLane& b = lanes.join();
  EXPECT_EQ(main.number, 0);
  EXPECT_EQ(a.number, 1);
  EXPECT_EQ(b.number, 2);
  EXPECT_EQ(lanes.number_of(b, 3), 2 * RequestLane::kPositions + 3);
  char variable = 0;
  RequestEntry e;
  e.key = 5;
  e.variable = &variable;
  {
    OwnLane own(a);
    e.position = own->take_position(0);
  }
  add_request(a, e);
  RequestLane& rest = lanes.leave(a);
  EXPECT_EQ(rest.number, RequestLane::kShared);
  RequestLane& heir = lanes.join();
  EXPECT_EQ(&heir, &a);
  OwnLane own(heir);
  EXPECT_NE(own->find(5, &variable), RequestTable::kNone);
}

TEST(RequestLanes, NumbersAreUniqueWhateverTheLaneAndThePosition) {
  RequestLanes lanes;
  lanes.begin_threads();
  std::set<const RequestLane*> seen;
  std::set<uint32_t> numbers;
  for (int t = 0; t < RequestLane::kShared + 10; ++t) {
    RequestLane& lane = lanes.join();
    const bool is_new = seen.insert(&lane).second;
    EXPECT_EQ(is_new, t < RequestLane::kShared);  // the rest shares one
    if (!is_new) continue;
    for (const uint32_t position : {0u, 1u, RequestLane::kPositions - 1, RequestLane::kPositions})
      EXPECT_TRUE(numbers.insert(lanes.number_of(lane, position)).second);
  }
}

// A handle that stands for requests of several threads: the variable says which is meant.
TEST(RequestLanes, AVariableTellsRequestsOfSeveralLanesApart) {
  RequestLanes lanes;
  lanes.begin_threads();
  RequestLane& mine = lanes.join();
  RequestLane& other = lanes.join();
  char variables[3];
  for (int i = 0; i < 2; ++i) {
    RequestLane& lane = i == 0 ? mine : other;
    RequestEntry e;
    e.key = 9;
    e.variable = &variables[i];
    e.terminal = static_cast<uint32_t>(100 + i);
    {
      OwnLane own(lane);
      e.position = own->take_position(0);
    }
    add_request(lane, e);
  }
  AllLanes all(mine);
  EXPECT_EQ(all.find(9, &variables[0])->terminal, 100u);
  EXPECT_EQ(all.find(9, &variables[1])->terminal, 101u);
  EXPECT_EQ(all.find(9, &variables[2])->terminal, 100u);  // copied: our own first
  EXPECT_EQ(all.find(8, &variables[0]), nullptr);
}

TEST(RequestLanes, SharedHandlesAreLearnt) {
  RequestLanes lanes;
  lanes.begin_threads();
  RequestLane& lane = lanes.join();
  char variables[2];
  for (char& variable : variables) {
    EXPECT_FALSE(lanes.is_shared_handle(4));
    RequestEntry e;
    e.key = 4;
    e.variable = &variable;
    {
      OwnLane own(lane);
      e.position = own->take_position(0);
    }
    add_request(lane, e);
  }
  EXPECT_TRUE(lanes.is_shared_handle(4));
  EXPECT_FALSE(lanes.is_shared_handle(5));
}

// What a thread remembers of its calls ends with it.
TEST(RequestLanes, APlaceThatIsKeptComesBack) {
  RequestTable table;
  RequestEntry e;
  e.position = table.take_position(0);
  RequestEntry* const place = table.keep(e);
  table.unkeep(*place);
  e.key = 3;
  EXPECT_EQ(table.add(e), place->index);
}

// A pool may be forgotten when no request of any thread is in it, and no call that repeats.
TEST(RequestLanes, PoolsOfAllLanesAreInUse) {
  RequestLanes lanes;
  lanes.begin_threads();
  RequestLane &one = lanes.join(), &other = lanes.join();
  const auto entry_in = [](RequestLane& lane, uint32_t pool) {
    RequestEntry e;
    e.key = pool;
    e.pool = pool;
    OwnLane own(lane);
    e.position = own->take_position(pool);
    return e;
  };
  RequestEntry repeated = entry_in(one, 1);
  add_request(one, repeated);
  RequestEntry* kept = nullptr;
  {
    OwnLane own(one);
    kept = own->keep(repeated);
    own->remove(own->at(own->find(repeated.key, nullptr)));
  }
  add_request(other, entry_in(other, 3));
  entry_in(other, 4);  // its call is not over yet
  using Pools = std::vector<bool>;
  EXPECT_EQ(AllLanes(one).pools_in_use(), (Pools{false, true, false, true, true}));
  {
    OwnLane own(one);
    own->unkeep(*kept);
  }
  EXPECT_EQ(AllLanes(other).pools_in_use(), (Pools{false, false, false, true, true}));
}

}  // namespace
}  // namespace refrain::tracer
