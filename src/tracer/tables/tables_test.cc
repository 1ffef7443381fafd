// The recorder's tables against obvious references.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mpi_runtime/handle_map.h"
#include "tracer/requests/request_pools.h"
#include "tracer/tables/id_pool.h"
#include "tracer/tables/intern_table.h"
#include "tracer/tables/stable_array.h"

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

// Handles that stay are found beside a writer who moves them about; the others are there or not.
TEST(HandleMap, IsReadBesideAWriter) {
  constexpr uint64_t kStay = 100, kAll = 4000, kStride = 64;
  HandleMap map;
  map.share();
  for (uint64_t k = 0; k < kStay; ++k) map.put(Kind::kComm, k * kStride, static_cast<uint32_t>(k));
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  std::atomic<uint64_t> found{0};
  for (uint32_t r = 0; r < 3; ++r)
    readers.emplace_back([&, r] {
      std::mt19937_64 random(r);
      for (uint64_t n = 0; n < 1000 || !over.load(); ++n) {
        const uint64_t k = random() % kAll;
        uint32_t value = 0;
        if (!map.try_find(Kind::kComm, k * kStride, &value)) continue;
        if (k < kStay || value != HandleMap::kMissing) {
          ASSERT_EQ(value, k);
        }
        if (map.try_find(Kind::kGroup, k * kStride, &value)) {
          ASSERT_EQ(value, HandleMap::kMissing);
        }
        ++found;
      }
    });
  std::mt19937_64 random(9);
  for (int step = 0; step < 30000; ++step) {
    const uint64_t k = kStay + random() % (kAll - kStay);
    if (random() % 2 == 0)
      map.put(Kind::kComm, k * kStride, static_cast<uint32_t>(k));
    else
      map.erase(Kind::kComm, k * kStride);
  }
  over = true;
  for (std::thread& t : readers) t.join();
  EXPECT_GT(found.load(), 0u);
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

// What has been added is found from then on, by threads that take no lock.
TEST(InternTable, IsReadBesideAWriter) {
  constexpr uint32_t kStrings = 20000;
  const auto text = [](uint32_t i) { return std::string(i % 50, 'x') + std::to_string(i); };
  InternTable table;
  table.share();
  std::atomic<uint32_t> ready{0};
  std::vector<std::thread> readers;
  for (uint32_t r = 0; r < 3; ++r)
    readers.emplace_back([&, r] {
      std::mt19937 random(r);
      ++ready;
      while (true) {
        const uint32_t known = table.size();
        const uint32_t i = random() % kStrings;
        const uint32_t found = table.find(text(i));
        if (found != InternTable::kMissing) {
          ASSERT_EQ(found, i);
          ASSERT_EQ(table.at(i), text(i));
        } else {
          ASSERT_GE(i, known - std::min(known, 1u));  // the last one may be on its way
        }
        if (known == kStrings) break;
      }
    });
  while (ready.load() < readers.size()) std::this_thread::yield();
  for (uint32_t i = 0; i < kStrings; ++i) ASSERT_EQ(table.intern(text(i)), i);
  for (std::thread& t : readers) t.join();
}

TEST(InternTable, BeginsAnew) {
  InternTable table;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 1000; ++i)
      EXPECT_EQ(table.intern(std::to_string(i + 500 * round)), i) << round;
    table.clear();
    EXPECT_EQ(table.size(), 0u);
    EXPECT_EQ(table.find("1200"), InternTable::kMissing);
  }
}

TEST(RequestPools, APoolThatIsInUseKeepsItsNumber) {
  RequestPools pools;
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(pools.find_or_make(std::to_string(i)), i);
  pools.keep([](uint32_t pool) { return pool == 3 || pool == 7; });
  EXPECT_TRUE(pools.is(7, "7"));
  EXPECT_FALSE(pools.is(7, "3"));
  EXPECT_FALSE(pools.is(2, "2"));
  EXPECT_FALSE(pools.is(RequestPools::kNone, "2"));
  EXPECT_EQ(pools.find_or_make("3"), 3u);
  // Numbers that are free are given out again, and none twice.
  std::set<uint32_t> used{3, 7};
  for (int i = 10; i < 20; ++i) {
    const uint32_t pool = pools.find_or_make(std::to_string(i));
    EXPECT_TRUE(used.insert(pool).second);
    EXPECT_LT(pool, 12u);
    EXPECT_TRUE(pools.is(pool, std::to_string(i)));
  }
  const uint32_t last = pools.find_or_make("19");
  pools.keep([&](uint32_t pool) { return pool == 3 || pool == last; });
  EXPECT_EQ(pools.find_or_make("19"), last);
  EXPECT_EQ(pools.find_or_make("3"), 3u);
  EXPECT_FALSE(pools.is(7, "7"));
}

TEST(StableArray, NothingMoves) {
  StableArray<uint32_t> array;
  std::vector<const uint32_t*> places;
  size_t bytes = 0;
  for (uint32_t i = 0; i < 100000; ++i) {
    bytes += array.next_growth();
    array.push_back(i);
    places.push_back(&array[i]);
  }
  ASSERT_EQ(array.size(), 100000u);
  for (uint32_t i = 0; i < array.size(); ++i) {
    ASSERT_EQ(&array[i], places[i]);
    ASSERT_EQ(array[i], i);
  }
  EXPECT_GE(bytes, 100000 * sizeof(uint32_t));
  EXPECT_LE(bytes, 2 * (100000 + 64) * sizeof(uint32_t));
}

}  // namespace
}  // namespace refrain::tracer
