#include "tracer/state/memo_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "tracer/state/call_memo.h"

namespace refrain::tracer {
namespace {

uint64_t hash_of(uint32_t call, uint32_t path, const std::vector<uint64_t>& words) {
  return MemoIndex::hash(call, path, words.data(), words.size());
}

TEST(MemoIndex, EachPartOfACallCounts) {
  std::set<uint64_t> hashes;
  const std::vector<std::vector<uint64_t>> words = {{}, {0}, {0, 0}, {1, 2}, {2, 1}, {1, 3}, {3}};
  for (const uint32_t call : {1u, 2u})
    for (const uint32_t path : {1u, 2u, UINT32_MAX})
      for (const auto& w : words) hashes.insert(hash_of(call, path, w));
  EXPECT_EQ(hashes.size(), 2 * 3 * words.size());
}

// Addresses in steps of a page and small numbers are what words mostly are.
TEST(MemoIndex, RegularWordsAreSpread) {
  std::set<uint64_t> low;
  for (uint64_t i = 0; i < 1024; ++i)
    low.insert(hash_of(7, 3, {0x7f0000001000 + (i / 32) * 4096, i % 32, 0x4c00080b}) % 1024);
  EXPECT_GT(low.size(), 1024u / 2);  // by chance 1 - 1/e of them
}

TEST(MemoIndex, FindsWhatWasPutLast) {
  MemoIndex index;
  EXPECT_TRUE(index.empty());
  EXPECT_EQ(index.find(5), nullptr);
  CallMemo one, two;
  index.put(5, &one, 1);
  EXPECT_FALSE(index.empty());
  EXPECT_EQ(index.find(5), &one);
  EXPECT_EQ(index.find(6), nullptr);
  index.put(5, &two, 2);
  EXPECT_EQ(index.find(5), &two);
  index.clear();
  EXPECT_TRUE(index.empty());
  EXPECT_EQ(index.find(5), nullptr);
}

// What is known is known anew after it grew; it has a bound.
TEST(MemoIndex, GrowsWithTheMemos) {
  MemoIndex index;
  CallMemo memo;
  index.put(1, &memo, 1);
  for (size_t memos : {size_t{100}, size_t{3000}, size_t{1} << 20}) {
    for (uint64_t hash = 0; hash < 64; ++hash) index.put(hash, &memo, memos);
    for (uint64_t hash = 0; hash < 64; ++hash) ASSERT_EQ(index.find(hash), &memo) << memos;
  }
  index.put(MemoIndex::kMostSlots + 3, &memo, 1);
  EXPECT_EQ(index.find(3), &memo) << "the same slot";
}

}  // namespace
}  // namespace refrain::tracer
