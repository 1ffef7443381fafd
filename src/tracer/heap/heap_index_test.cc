// The index of blocks against a sorted map of them.
#include "tracer/heap/heap_index.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace refrain::tracer {
namespace {

using Found = HeapIndex::Found;

constexpr uintptr_t kBase = 0x7f0012340000;

// Live blocks: begin -> bytes. Addresses only: nothing is allocated there.
struct Reference {
  std::map<uintptr_t, size_t> blocks;

  uintptr_t find(uintptr_t address) const {
    auto it = blocks.upper_bound(address);
    if (it == blocks.begin()) return 0;
    --it;
    // The index knows a block's end to 16 bytes.
    const size_t bytes = ((it->second == 0 ? 1 : it->second) + 15) / 16 * 16;
    return address < it->first + bytes ? it->first : 0;
  }
  bool free_for(uintptr_t begin, size_t bytes) const {
    auto it = blocks.lower_bound(begin);
    if (it != blocks.end() && it->first < begin + (bytes | 15) + 1) return false;
    return find(begin) == 0;
  }
};

void expect_same_around(const HeapIndex& index, const Reference& reference, uintptr_t begin,
                        size_t bytes) {
  for (const uintptr_t address :
       {begin - 17, begin - 16, begin - 1, begin, begin + 1, begin + bytes / 2, begin + bytes - 1,
        begin + bytes + 15, begin + bytes + 16, begin + bytes + 65536})
    ASSERT_EQ(index.find(address), reference.find(address)) << std::hex << address;
}

// Sizes as programs have them: most are small, some fill regions, a few are huge.
size_t random_size(std::mt19937_64& random, uint64_t huge) {
  switch (random() % 16) {
    case 0: return 65536 + random() % 4 * 65536 + random() % 3 * 8 - 8;
    case 1: return random() % (random() % 32 == 0 ? huge : 300000);
    case 2:
    case 3: return 4096 + random() % 61440;
    default: return random() % 700;
  }
}

TEST(HeapIndex, AnswersAsASortedMapDoes) {
  std::mt19937_64 random(7);
  for (const uint64_t span : {uint64_t{1} << 18, uint64_t{1} << 24, uint64_t{5} << 32}) {
    auto index = std::make_unique<HeapIndex>();
    Reference reference;
    std::vector<uintptr_t> live;
    int entered = 0;
    for (int step = 0; step < 30000; ++step) {
      const uintptr_t begin = kBase + random() % span / 16 * 16;
      const size_t bytes = random_size(random, span / 2);
      if (random() % 5 < 3 && reference.free_for(begin, bytes)) {
        index->insert(begin, bytes);
        reference.blocks[begin] = bytes;
        live.push_back(begin);
        ++entered;
        expect_same_around(*index, reference, begin, bytes);
      } else if (!live.empty()) {
        const size_t i = random() % live.size();
        const uintptr_t gone = live[i];
        const size_t size = reference.blocks[gone];
        ASSERT_EQ(index->bytes_of(gone), ((size == 0 ? 1 : size) + 15) / 16 * 16);
        ASSERT_EQ(index->remove(gone), Found::kBlock);
        ASSERT_EQ(index->remove(gone), Found::kNothing);
        reference.blocks.erase(gone);
        live[i] = live.back();
        live.pop_back();
        expect_same_around(*index, reference, gone, size);
      }
      const uintptr_t anywhere = kBase - 70000 + random() % (span + 140000);
      ASSERT_EQ(index->find(anywhere), reference.find(anywhere)) << std::hex << anywhere;
    }
    EXPECT_GT(entered, 3000);
    EXPECT_EQ(index->refused(), 0u);
  }
}

TEST(HeapIndex, MarksGoWithTheirBlock) {
  auto index = std::make_unique<HeapIndex>();
  for (const size_t bytes : {size_t{1}, size_t{300}, size_t{70000}, size_t{9} << 30}) {
    index->insert(kBase, bytes);
    index->mark(kBase);
    EXPECT_EQ(index->find(kBase + bytes - 1), kBase);
    EXPECT_EQ(index->remove(kBase), Found::kMarked);
    index->insert(kBase, bytes);
    EXPECT_EQ(index->remove(kBase), Found::kBlock) << "a mark outlived its block";
    EXPECT_EQ(index->find(kBase), 0u);
    EXPECT_EQ(index->bytes_of(kBase), 0u);
  }
}

TEST(HeapIndex, NeighboursThatTouchStayApart) {
  auto index = std::make_unique<HeapIndex>();
  uintptr_t at = kBase;
  std::vector<std::pair<uintptr_t, size_t>> blocks;
  for (const size_t bytes : {16, 32, 512, 65520, 65536, 16, 131072, 131088, 48}) {
    index->insert(at, static_cast<size_t>(bytes));
    blocks.emplace_back(at, bytes);
    at += static_cast<size_t>(bytes);
  }
  for (const auto& [begin, bytes] : blocks) {
    EXPECT_EQ(index->find(begin), begin);
    EXPECT_EQ(index->find(begin + bytes - 1), begin);
  }
  EXPECT_EQ(index->find(at), 0u);
  for (const auto& [begin, bytes] : blocks) {
    EXPECT_EQ(index->remove(begin), Found::kBlock);
    EXPECT_EQ(index->find(begin), 0u);
    EXPECT_EQ(index->find(begin + bytes - 1), 0u);
  }
}

TEST(HeapIndex, AddressesThatCannotBeAreRefused) {
  auto index = std::make_unique<HeapIndex>();
  EXPECT_EQ(index->find(0), 0u);
  EXPECT_EQ(index->find(UINTPTR_MAX), 0u);
  EXPECT_EQ(index->remove(UINTPTR_MAX - 15), Found::kNothing);
  index->insert(UINTPTR_MAX - 15, 64);
  index->insert(uintptr_t{1} << 50, 64);
  EXPECT_EQ(index->refused(), 2u);
  EXPECT_FALSE(index->used());
}

// A block that vanished without a word does not hide the one that takes its place.
TEST(HeapIndex, ForgottenBlocksGiveWay) {
  auto index = std::make_unique<HeapIndex>();
  for (int i = 0; i < 8; ++i) index->insert(kBase + i * 64, 40);
  index->insert(kBase, 500);
  EXPECT_EQ(index->find(kBase + 300), kBase);
  EXPECT_EQ(index->remove(kBase), Found::kBlock);
  EXPECT_EQ(index->find(kBase + 300), 0u);
}

// Each thread allocates in turns of 48 bytes, so that threads share words, and checks its own.
TEST(HeapIndex, ThreadsShareWords) {
  constexpr int kThreads = 4, kBlocks = 2000, kRounds = 100;
  auto index = std::make_unique<HeapIndex>();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const auto place = [t](int i) { return kBase + (i * kThreads + t) * uintptr_t{48}; };
      const auto large = [t](int i) {
        return kBase + (uintptr_t{1} << 33) + (i * kThreads + t) * uintptr_t{200016};
      };
      for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < kBlocks; ++i) index->insert(place(i), 33);
        for (int i = 0; i < 20; ++i) index->insert(large(i), 200016);
        for (int i = 0; i < kBlocks; ++i) {
          if (index->find(place(i) + 40) != place(i)) ++wrong;
          if (i % 3 == 0) index->mark(place(i));
        }
        for (int i = 0; i < 20; ++i)
          if (index->find(large(i) + 200000) != large(i)) ++wrong;
        for (int i = 0; i < kBlocks; ++i)
          if (index->remove(place(i)) != (i % 3 == 0 ? Found::kMarked : Found::kBlock)) ++wrong;
        for (int i = 0; i < 20; ++i)
          if (index->remove(large(i)) != Found::kBlock) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (uintptr_t a = 0; a < 4096; a += 16) ASSERT_EQ(index->find(kBase + a), 0u);
}

}  // namespace
}  // namespace refrain::tracer
