// What a blackboard does with entries, jobs and sources.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "blackboard/testing/test_board.h"
#include "refrain/blackboard.h"

namespace refrain::blackboard {
namespace {

// Types 1, 2, 3, ... are as good as names.

TEST(Blackboard, TypesAreLevelAndName) {
  EXPECT_EQ(refrain_type_of("a", "b"), refrain_type_of("a", "b"));
  const std::set<refrain_type> all{refrain_type_of("a", "b"),  refrain_type_of("b", "a"),
                                   refrain_type_of("ab", ""),  refrain_type_of("", "ab"),
                                   refrain_type_of("a", "bb"), refrain_type_of("", "")};
  EXPECT_EQ(all.size(), 6u);
  EXPECT_EQ(refrain_blackboard_version(), REFRAIN_BLACKBOARD_VERSION);
}

TEST(Blackboard, EntriesAreWritableAtOneReference) {
  refrain_entry* const entry = refrain_entry_new(7, 4);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(refrain_entry_type(entry), 7u);
  EXPECT_EQ(refrain_entry_bytes(entry), 4u);
  EXPECT_EQ(refrain_entry_write(entry), refrain_entry_data(entry));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(refrain_entry_data(entry)) % alignof(std::max_align_t), 0u);
  EXPECT_EQ(refrain_entry_keep(entry), entry);
  EXPECT_EQ(refrain_entry_write(entry), nullptr);
  refrain_entry_release(entry);
  EXPECT_NE(refrain_entry_write(entry), nullptr);
  const EntryRef first(entry);
  const EntryRef second = first;
  EXPECT_EQ(refrain_entry_write(entry), nullptr);
  EXPECT_EQ(refrain_entry_new(1, SIZE_MAX - 8), nullptr);
}

// Two jobs that wait for each other, and one worker: the other is run by the thread that waits.
TEST(Blackboard, WhoWaitsRunsJobsToo) {
  Board board(1);
  std::atomic<int> begun{0};
  std::atomic<int> alone{0};
  board.add({1}, [&](refrain_blackboard*, refrain_entry* const*, const Payloads&) {
    begun.fetch_add(1);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (begun.load() < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    if (begun.load() < 2) alone.fetch_add(1);
  });
  board.submit(1, 0);
  board.submit(1, 1);
  board.wait();
  EXPECT_EQ(alone.load(), 0);
}

TEST(Blackboard, TheOnlySourceOfAnEntryMayWriteToIt) {
  for (const int sources : {1, 2}) {
    Board board(0);
    int written = 0;
    const Operation operation = [&](refrain_blackboard*, refrain_entry* const* e, const Payloads&) {
      written += refrain_entry_write(e[0]) != nullptr ? 1 : 0;
    };
    for (int i = 0; i < sources; ++i) board.add({1}, operation);
    board.submit(1, 5);
    board.wait();
    // Of two, the second to run has it for itself.
    EXPECT_EQ(written, 1);
    EXPECT_EQ(board.counts().bytes, 0u);
    EXPECT_EQ(board.counts().most_bytes, sizeof(int));
  }
}

// A data flow: an entry of type t makes some of higher types; sums at the end do not depend on the
// order.
TEST(Blackboard, OperationsSubmit) {
  constexpr refrain_type kTypes = 6;
  // What one entry of a type comes to.
  const std::function<int64_t(refrain_type, int)> sum_of = [&](refrain_type type, int number) {
    int64_t sum = number;
    for (refrain_type next = type + 1; next <= kTypes; ++next) sum += sum_of(next, number % 10 + 1);
    return sum;
  };
  for (const int workers : {0, 1, 4}) {
    Board board(workers, 64);
    std::atomic<int64_t> sum{0};
    for (refrain_type type = 1; type <= kTypes; ++type)
      board.add({type},
                [&, type](refrain_blackboard* b, refrain_entry* const*, const Payloads& numbers) {
                  sum += numbers[0];
                  for (refrain_type next = type + 1; next <= kTypes; ++next)
                    EXPECT_EQ(Board::submit(b, next, numbers[0] % 10 + 1), 0);
                  EXPECT_EQ(refrain_blackboard_wait(b), REFRAIN_BOARD_EINVALID);
                });
    int64_t expected = 0;
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(board.submit(1, i), 0);
      expected += sum_of(1, i);
    }
    board.wait();
    EXPECT_EQ(sum, expected);
    EXPECT_EQ(board.counts().bytes, 0u);
  }
}

// Opportunistic reasoning: a source removes itself and registers another one.
TEST(Blackboard, OperationsAddAndRemoveSources) {
  for (const int workers : {0, 3}) {
    Board board(workers);
    std::atomic<int> first{0}, second{0};
    std::atomic<refrain_source> own{0};
    own = board.add({1}, [&](refrain_blackboard* b, refrain_entry* const*, const Payloads&) {
      ++first;
      EXPECT_EQ(refrain_source_remove(b, own), 0);
      EXPECT_EQ(refrain_source_remove(b, own), REFRAIN_BOARD_EINVALID);
      board.add({1, 1},
                [&](refrain_blackboard*, refrain_entry* const*, const Payloads&) { ++second; });
    });
    board.submit(1, 0);
    board.wait();
    for (int i = 0; i < 7; ++i) board.submit(1, i);
    board.wait();
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 3);
    EXPECT_EQ(board.counts().bytes, sizeof(int));  // the seventh waits for an eighth
  }
}

TEST(Blackboard, ManyThreadsSubmitAddAndRemove) {
  constexpr int kThreads = 4, kEach = 500;
  Board board(3, 4096);
  std::atomic<int64_t> sum{0};
  std::atomic<int> others{0};
  board.add({1},
            [&](refrain_blackboard*, refrain_entry* const*, const Payloads& n) { sum += n[0]; });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        EXPECT_EQ(board.submit(1, i), 0);
        if (i % 50 != t) continue;
        const refrain_source mine = board.add(
            {1, 1}, [&](refrain_blackboard*, refrain_entry* const*, const Payloads&) { ++others; });
        EXPECT_GT(mine, 0);
        if (i % 100 == t) refrain_source_remove(board.get(), mine);
      }
    });
  for (std::thread& thread : threads) thread.join();
  board.wait();
  EXPECT_EQ(sum, int64_t{kThreads} * kEach * (kEach - 1) / 2);
  EXPECT_GT(others, 0);
}

TEST(Blackboard, ASourceThatWasRemovedIsGoneWhenItsJobsHaveEnded) {
  for (const int workers : {0, 3}) {
    Board board(workers);
    std::atomic<int> jobs{0}, gone{0};
    struct Mark {
      std::atomic<int>* gone;
      ~Mark() { ++*gone; }
    };
    constexpr int kSources = 20, kEntries = 300;
    for (int i = 0; i < kSources; ++i) {
      const auto mark = std::make_shared<Mark>(&gone);
      const refrain_source source = board.add(
          {1}, [&, mark](refrain_blackboard*, refrain_entry* const*, const Payloads&) { ++jobs; });
      for (int n = 0; n < kEntries; ++n) EXPECT_EQ(board.submit(1, n), 0);
      EXPECT_EQ(refrain_source_remove(board.get(), source), 0);
    }
    board.wait();
    EXPECT_EQ(jobs, kSources * kEntries);
    EXPECT_EQ(gone, kSources);
    EXPECT_EQ(board.counts().jobs, static_cast<uint64_t>(kSources * kEntries));
    EXPECT_EQ(board.counts().bytes, 0u);
  }
}

TEST(Blackboard, AnEntryMayOutliveItsBoard) {
  EntryRef kept;
  {
    Board board(1);
    board.add({1}, [&](refrain_blackboard*, refrain_entry* const* e, const Payloads&) {
      kept = EntryRef(refrain_entry_keep(e[0]));
    });
    EXPECT_EQ(board.submit(1, 77), 0);
    board.wait();
    EXPECT_EQ(board.counts().bytes, sizeof(int));
  }
  Board other(1);
  EXPECT_EQ(Board::number_of(kept.get()), 77);
  kept = EntryRef();
  EXPECT_EQ(other.counts().bytes, 0u);
  EXPECT_EQ(other.counts().most_bytes, 0u);
}

TEST(Blackboard, IsFullUntilJobsEnd) {
  Board board(2, 10 * sizeof(int));
  std::atomic<int> done{0};
  board.add({1}, [&](refrain_blackboard*, refrain_entry* const*, const Payloads&) {
    std::this_thread::yield();
    ++done;
  });
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(board.submit(1, i), 0);
  board.wait();
  EXPECT_EQ(done, 1000);
  EXPECT_LE(board.counts().most_bytes, 10 * sizeof(int));
}

TEST(Blackboard, IsFullForGoodWhenEntriesWaitForOthers) {
  for (const int workers : {0, 2}) {
    Board board(workers, 10 * sizeof(int));
    board.add({1, 2}, [](refrain_blackboard*, refrain_entry* const*, const Payloads&) {});
    for (int i = 0; i < 10; ++i) EXPECT_EQ(board.submit(1, i), 0);
    EXPECT_EQ(board.submit(1, 10), REFRAIN_BOARD_EFULL);
    EXPECT_EQ(board.counts().entries, 10u);
  }
}

TEST(Blackboard, AJobThatMakesTheNextOneForEverKeepsNobodyOut) {
  Board board(1);
  std::atomic<bool> is_over{false};
  board.add({1}, [&](refrain_blackboard* b, refrain_entry* const*, const Payloads&) {
    if (!is_over.load()) {
      EXPECT_EQ(Board::submit(b, 1, 0), 0);
    }
  });
  board.add({2},
            [&](refrain_blackboard*, refrain_entry* const*, const Payloads&) { is_over = true; });
  EXPECT_EQ(board.submit(1, 0), 0);
  EXPECT_EQ(board.submit(2, 0), 0);
  board.wait();  // for ever, were the second one never taken
  EXPECT_EQ(refrain_blackboard_is_idle(board.get()), 1);
}

TEST(Blackboard, ASourceThatThrowsIsNamedAndGetsNoMore) {
  for (const int workers : {0, 2}) {
    Board board(workers);
    std::atomic<int> good{0};
    board.add({1}, [](refrain_blackboard*, refrain_entry* const*, const Payloads&) {
      throw std::runtime_error("no such function");
    });
    board.add({1}, [&](refrain_blackboard*, refrain_entry* const*, const Payloads&) { ++good; });
    for (int i = 0; i < 5; ++i) {
      board.submit(1, i);
      board.wait();
    }
    EXPECT_EQ(good, 5);
    EXPECT_EQ(board.counts().failed_jobs, 1u);
    char text[100];
    const size_t bytes = refrain_blackboard_failures(board.get(), text, sizeof text);
    EXPECT_STREQ(text, "a source: no such function\n");
    EXPECT_EQ(bytes, std::strlen(text));
    EXPECT_EQ(refrain_blackboard_failures(board.get(), text, 4), bytes);
    EXPECT_STREQ(text, "a s");
  }
}

TEST(Blackboard, RefusesWhatMakesNoSense) {
  Board board(0);
  const refrain_type type = 1;
  const refrain_operation none = [](refrain_blackboard*, refrain_entry* const*, int, void*) {};
  EXPECT_EQ(refrain_source_add(board.get(), "x", &type, 0, none, nullptr), REFRAIN_BOARD_EINVALID);
  EXPECT_EQ(refrain_source_add(board.get(), "x", &type, 65, none, nullptr), REFRAIN_BOARD_EINVALID);
  EXPECT_EQ(refrain_source_add(board.get(), nullptr, &type, 1, none, nullptr),
            REFRAIN_BOARD_EINVALID);
  EXPECT_EQ(refrain_source_add(board.get(), "x", &type, 1, nullptr, nullptr),
            REFRAIN_BOARD_EINVALID);
  EXPECT_EQ(refrain_source_remove(board.get(), 1), REFRAIN_BOARD_EINVALID);
  EXPECT_EQ(refrain_blackboard_submit(board.get(), nullptr), REFRAIN_BOARD_EINVALID);
}

}  // namespace
}  // namespace refrain::blackboard
