#include "stream/block_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace refrain::stream {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(BlockMemory, WhatIsGivenBackIsTheNextOfItsSize) {
  char* const first = new_block(kMiB);
  char* const other = new_block(2 * kMiB);
  free_block(first, kMiB);
  free_block(other, 2 * kMiB);
  char* const again = new_block(kMiB);
  EXPECT_EQ(again, first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(again) % 4096, 0u);
  free_block(again, kMiB);
}

TEST(BlockMemory, NoMoreIsKeptThanTheLimitAndNoSmallBlocks) {
  const size_t before = kept_bytes();
  std::vector<char*> blocks;
  for (size_t i = 0; i < 40; ++i) blocks.push_back(new_block(kMiB));
  char* const small = new_block(100);
  std::memset(small, 1, 100);
  const size_t without_small = kept_bytes();
  free_block(small, 100);
  EXPECT_EQ(kept_bytes(), without_small);
  for (char* const block : blocks) free_block(block, kMiB);
  EXPECT_GE(kept_bytes(), before);
  EXPECT_LE(kept_bytes(), kMostKeptBytes);
  EXPECT_GE(kept_bytes(), kMostKeptBytes - 2 * kMiB);
  // One that is larger than all that is kept is not.
  char* const large = new_block(kMostKeptBytes + kMiB);
  const size_t full = kept_bytes();
  free_block(large, kMostKeptBytes + kMiB);
  EXPECT_EQ(kept_bytes(), full);
  free_block(nullptr, kMiB);
  EXPECT_EQ(kept_bytes(), full);
}

}  // namespace
}  // namespace refrain::stream
