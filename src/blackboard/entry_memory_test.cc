// Memory of entries: what one thread gives is for others, and nobody has what another has.
#include "blackboard/entry_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "blackboard/short_lock.h"

namespace refrain::blackboard {
namespace {

struct Piece {
  unsigned char* memory;
  size_t bytes;
  unsigned char mark;
};

Piece take(size_t bytes, unsigned char mark) {
  auto* const memory = static_cast<unsigned char*>(take_memory(bytes));
  EXPECT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t), 0U);
  std::memset(memory, mark, bytes);
  return {memory, bytes, mark};
}

void give(const Piece& piece) {
  for (size_t i = 0; i < piece.bytes; ++i) ASSERT_EQ(piece.memory[i], piece.mark);
  give_memory(piece.memory, piece.bytes);
}

// Each thread takes, and gives what any of them took: marks are still there.
TEST(EntryMemory, NobodyHasWhatAnotherHas) {
  constexpr int kThreads = 4, kRounds = 30000;
  ShortLock lock;
  std::vector<Piece> all;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < kRounds; ++i) {
        const Piece mine = take(1 + random() % 400, static_cast<unsigned char>(random()));
        Piece other = mine;
        {
          const std::lock_guard hold(lock);
          all.push_back(mine);
          std::swap(all[random() % all.size()], all.back());
          if (all.size() < 500) continue;
          other = all.back();
          all.pop_back();
        }
        give(other);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const Piece& piece : all) give(piece);
}

// One thread makes entries, another frees them: after a while the first gets those back.
TEST(EntryMemory, WhatOneThreadGivesAnotherTakes) {
  if (!keeps_memory()) GTEST_SKIP() << "memory goes back to the heap";
  constexpr size_t kMany = 1000, kBytes = 40;
  std::set<void*> seen;
  std::vector<void*> pieces(kMany);
  for (void*& piece : pieces) seen.insert(piece = take_memory(kBytes));
  std::thread([&] {
    for (void* const piece : pieces) give_memory(piece, kBytes);
  }).join();
  size_t again = 0;
  for (void*& piece : pieces) again += seen.count(piece = take_memory(kBytes));
  EXPECT_GT(again, kMany / 2);
  for (void* const piece : pieces) give_memory(piece, kBytes);
}

// Entries may be released behind the destructors of the thread's magazines.
TEST(EntryMemory, IsGivenBehindDestructors) {
  struct Late {
    void* memory = nullptr;
    ~Late() { give_memory(memory, 64); }
  };
  std::thread([] {
    thread_local Late late;  // before the magazines, so it is destroyed behind them
    late.memory = take_memory(64);
  }).join();
}

TEST(ShortLock, IsOneThreadsAtATime) {
  constexpr int kThreads = 4, kRounds = 50000;
  ShortLock lock;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const std::lock_guard hold(lock);
        count = count + 1;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, int64_t{kThreads} * kRounds);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
}

}  // namespace
}  // namespace refrain::blackboard
