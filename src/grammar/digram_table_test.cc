#include "grammar/digram_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace refrain::grammar {
namespace {

// Against std::map, with few different hashes, so that chains are long and wrap around.
TEST(DigramTable, LikeAMap) {
  for (const uint32_t spread : {1u, 7u, 64u, 100000u}) {
    std::mt19937 random(spread);
    DigramTable table;
    std::map<uint32_t, uint32_t> hash_of;  // by node
    for (int step = 0; step < 20000; ++step) {
      const uint32_t node = 1 + random() % 90;
      const auto it = hash_of.find(node);
      if (it == hash_of.end()) {
        const uint32_t hash = UINT32_MAX - 20 + random() % spread;
        ASSERT_TRUE(table.insert(hash, node, SIZE_MAX));
        hash_of[node] = hash;
      } else if (random() % 3 != 0) {
        table.erase(it->second, node);
        hash_of.erase(it);
      }
      ASSERT_EQ(table.size(), hash_of.size());
      if (step % 50 != 0) continue;
      for (uint32_t n = 1; n <= 90; ++n) {
        const auto entry = hash_of.find(n);
        const uint32_t hash = entry == hash_of.end() ? UINT32_MAX - 20 : entry->second;
        ASSERT_EQ(table.find(hash, [n](uint32_t other) { return other == n; }),
                  entry == hash_of.end() ? 0 : n);
      }
    }
  }
}

TEST(DigramTable, RefusesToGrowPastItsBound) {
  DigramTable table;
  EXPECT_FALSE(table.insert(1, 1, 100));
  EXPECT_EQ(table.find(1, [](uint32_t) { return true; }), 0u);
  uint32_t n = 1;
  while (table.insert(n, n, 1024)) ++n;
  EXPECT_EQ(table.size(), n - 1);
  EXPECT_LE(table.memory_bytes(), 1024u);
  EXPECT_EQ(table.find(1, [](uint32_t node) { return node == 1; }), 1u);
}

}  // namespace
}  // namespace refrain::grammar
