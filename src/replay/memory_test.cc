#include "replay/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace refrain::replay {
namespace {

TEST(Arena, BlocksInUseDoNotOverlap) {
  Arena arena(1 << 20, 1);
  std::vector<Arena::Block> blocks;
  for (const uint64_t bytes : {1u, 64u, 65u, 1000u, 4096u, 0u})
    blocks.push_back(arena.take(bytes, false));
  const uint64_t sizes[] = {1, 64, 65, 1000, 4096, 0};
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t k = 0; k < blocks.size(); ++k) {
      if (i == k) continue;
      EXPECT_TRUE(blocks[i].data() + sizes[i] <= blocks[k].data() ||
                  blocks[k].data() + std::max<uint64_t>(sizes[k], 1) <= blocks[i].data());
    }
}

TEST(Arena, GivesABlockAgainOnceItIsFree) {
  Arena arena(1 << 20, 1);
  const std::byte* first = nullptr;
  {
    const Arena::Block block = arena.take(500, false);
    first = block.data();
  }
  const Arena::Block again = arena.take(400, false);
  EXPECT_EQ(again.data(), first);
}

TEST(Arena, KeepsToItsLimit) {
  Arena arena(4096, 1);
  EXPECT_FALSE(arena.take(4097, false));
  EXPECT_FALSE(arena.take(UINT64_MAX, false));
  const Arena::Block block = arena.take(4096, false);
  EXPECT_TRUE(block);
  EXPECT_FALSE(arena.take(1, false));
}

TEST(Arena, ContentsAreFiniteAndFollowTheSeed) {
  Arena one(1 << 16, 7), same(1 << 16, 7), other(1 << 16, 8);
  const Arena::Block a = one.take(4096, false), b = same.take(4096, false),
                     c = other.take(4096, false);
  EXPECT_EQ(std::memcmp(a.data(), b.data(), 4096), 0);
  EXPECT_NE(std::memcmp(a.data(), c.data(), 4096), 0);
  for (size_t i = 0; i + 8 <= 4096; i += 4) {
    double d = 0;
    float f = 0;
    std::memcpy(&d, a.data() + i, sizeof(d));
    std::memcpy(&f, a.data() + i, sizeof(f));
    EXPECT_TRUE(std::isnormal(d) && std::fabs(d) < 2) << i;
    EXPECT_TRUE(std::isnormal(f) && std::fabs(f) < 2) << i;
  }
}

TEST(Arena, SparseBlocksTakeAddressesAlone) {
  Arena arena(4096, 1);
  const Arena::Block block = arena.take_sparse(uint64_t{1} << 36);
  ASSERT_TRUE(block);
  block.data()[(uint64_t{1} << 36) - 1] = std::byte{1};
  EXPECT_EQ(arena.taken_bytes(), 0u);
}

TEST(FixedPages, AreThereOnceAndTouchNothingElse) {
  constexpr uintptr_t kPlace = (uintptr_t{1} << 45) + 1000, kLimit = 1 << 20;
  FixedPages pages;
  ASSERT_TRUE(pages.map(kPlace, kPlace + 100000, kLimit));
  auto* const bytes = reinterpret_cast<char*>(kPlace);
  bytes[0] = 'a';
  bytes[99999] = 'b';
  // Of what is asked for again, and of what overlaps, the contents stay.
  ASSERT_TRUE(pages.map(kPlace, kPlace + 10, kLimit));
  ASSERT_TRUE(pages.map(kPlace + 90000, kPlace + 300000, kLimit));
  EXPECT_EQ(bytes[0], 'a');
  EXPECT_EQ(bytes[99999], 'b');
  EXPECT_EQ(bytes[299999], 0);
  EXPECT_FALSE(pages.map(kPlace, kPlace + 10 * kLimit, kLimit));
  EXPECT_FALSE(pages.map(UINTPTR_MAX - 10, UINTPTR_MAX, kLimit));
  FixedPages others;  // of another owner, who has them
  EXPECT_FALSE(others.map(kPlace, kPlace + 10, kLimit));
}

}  // namespace
}  // namespace refrain::replay
