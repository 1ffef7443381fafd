// The recorder's tables against obvious references.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "tracer/handle_map.h"
#include "tracer/intern_table.h"

namespace refrain::tracer {
namespace {

using Kind = format::DefinitionKind;

TEST(HandleMap, FollowsAMapThroughRandomPutsAndErases) {
  std::mt19937_64 random(7);
  HandleMap map;
  std::map<std::pair<Kind, uint64_t>, uint32_t> reference;
  for (int step = 0; step < 200000; ++step) {
    const Kind kind = random() % 2 == 0 ? Kind::kComm : Kind::kDatatype;
    const uint64_t key = random() % 300 * 64;  // handles come in strides
    switch (random() % 3) {
      case 0:
        map.put(kind, key, static_cast<uint32_t>(step));
        reference[{kind, key}] = static_cast<uint32_t>(step);
        break;
      case 1:
        map.erase(kind, key);
        reference.erase({kind, key});
        break;
      default: {
        const auto it = reference.find({kind, key});
        ASSERT_EQ(map.find(kind, key), it == reference.end() ? HandleMap::kMissing : it->second);
      }
    }
  }
  for (const auto& [key, value] : reference) EXPECT_EQ(map.find(key.first, key.second), value);
}

TEST(HandleMap, KindsAreApart) {
  HandleMap map;
  map.put(Kind::kComm, 5, 1);
  EXPECT_EQ(map.find(Kind::kGroup, 5), HandleMap::kMissing);
  map.put(Kind::kGroup, 5, 2);
  map.erase(Kind::kComm, 5);
  EXPECT_EQ(map.find(Kind::kComm, 5), HandleMap::kMissing);
  EXPECT_EQ(map.find(Kind::kGroup, 5), 2u);
}

TEST(IdPool, HandsOutTheLowestFreeId) {
  std::mt19937 random(3);
  IdPool pool;
  std::set<uint32_t> used;
  for (int step = 0; step < 20000; ++step) {
    if (used.empty() || random() % 2 == 0) {
      uint32_t lowest = 0;
      while (used.count(lowest) > 0) ++lowest;
      ASSERT_EQ(pool.take(), lowest);
      used.insert(lowest);
    } else {
      auto it = used.begin();
      std::advance(it, random() % used.size());
      pool.give_back(*it);
      used.erase(it);
    }
    ASSERT_EQ(pool.any(), !used.empty());
  }
}

TEST(InternTable, NumbersStringsInOrderOfFirstAppearance) {
  std::mt19937 random(11);
  InternTable table;
  std::map<std::string, uint32_t> reference;
  for (int step = 0; step < 50000; ++step) {
    std::string s(random() % 40, 'x');
    for (char& c : s) c = static_cast<char>(random() % 3);
    const bool was_known = reference.count(s) > 0;
    EXPECT_EQ(table.find(s), was_known ? reference[s] : InternTable::kMissing);
    bool is_new = false;
    const uint32_t index = table.intern(s, &is_new);
    EXPECT_EQ(is_new, !was_known);
    const auto [it, inserted] = reference.try_emplace(s, static_cast<uint32_t>(reference.size()));
    ASSERT_EQ(index, it->second);
  }
  ASSERT_EQ(table.size(), reference.size());
  for (const auto& [s, index] : reference) EXPECT_EQ(table.at(index), s);
}

}  // namespace
}  // namespace refrain::tracer
