// KeyMap against a map of the library: any order of putting, erasing and finding.
#include "replay/solo/key_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace refrain::replay::solo {
namespace {

TEST(KeyMap, IsAMap) {
  std::mt19937 random(11);
  int values[64];
  KeyMap<int> map;
  std::map<uint64_t, int*> reference;
  for (int step = 0; step < 200000; ++step) {
    // Few keys, so that they are there; far apart and side by side, so that they collide.
    const uint64_t key = (random() % 40) << (random() % 2 * 32);
    int* const value = &values[random() % 64];
    if (random() % 3 == 0) {
      map.erase(key);
      reference.erase(key);
    } else {
      map.put(key, value);
      reference[key] = value;
    }
    const uint64_t asked = (random() % 40) << (random() % 2 * 32);
    const auto found = reference.find(asked);
    ASSERT_EQ(map.find(asked), found == reference.end() ? nullptr : found->second);
  }
}

TEST(KeyMap, Grows) {
  std::vector<int> values(10000);
  KeyMap<int> map;
  for (uint64_t i = 0; i < values.size(); ++i) map.put(i * 4096, &values[i]);
  for (uint64_t i = 0; i < values.size(); ++i) ASSERT_EQ(map.find(i * 4096), &values[i]);
  for (uint64_t i = 0; i < values.size(); i += 2) map.erase(i * 4096);
  for (uint64_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(map.find(i * 4096), i % 2 == 0 ? nullptr : &values[i]);
}

}  // namespace
}  // namespace refrain::replay::solo
