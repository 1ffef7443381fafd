// The request table against a list that is searched from its begin.
#include "tracer/requests/requests.h"

#include <gtest/gtest.h>

#include <list>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "tracer/symbolic/comm_ids.h"

namespace refrain::tracer {
namespace {

struct Reference {
  struct Entry {
    uint64_t key;
    const void* variable;
    uint32_t index;
    bool claimed;
  };
  std::list<Entry> entries;  // in order of creation

  uint32_t find(uint64_t key, const void* variable) const {
    uint32_t oldest = RequestTable::kNone, exact = RequestTable::kNone;
    for (const Entry& e : entries) {
      if (e.key != key || e.claimed) continue;
      if (oldest == RequestTable::kNone) oldest = e.index;
      if (e.variable == variable) exact = e.index;
    }
    return exact != RequestTable::kNone ? exact : oldest;
  }
  Entry& at(uint32_t index) {
    for (Entry& e : entries)
      if (e.index == index) return e;
    throw std::logic_error("no such entry");
  }
  void remove(uint32_t index) {
    entries.remove_if([&](const Entry& e) { return e.index == index; });
  }
};

// Calls that complete some of the requests they name, as MPI_Testsome does.
TEST(RequestTable, FindsWhatALinearSearchFinds) {
  std::mt19937 random(5);
  static char variables[64];
  for (int round = 0; round < 40; ++round) {
    RequestTable table;
    Reference reference;
    for (int step = 0; step < 500; ++step) {
      if (random() % 3 != 0) {
        RequestEntry e;
        e.key = random() % 4;  // shared handles
        e.variable = &variables[random() % sizeof variables];
        bool in_use = false;  // a variable holds one live request
        for (const auto& r : reference.entries) in_use = in_use || r.variable == e.variable;
        if (in_use) continue;
        e.pool = random() % 3;
        e.position = table.take_position(e.pool);
        reference.entries.push_back({e.key, e.variable, table.add(e), false});
        continue;
      }
      if (random() % 8 == 0 && !reference.entries.empty()) {  // another handle
        Reference::Entry renamed = reference.entries.front();
        renamed.key = random() % 4;
        table.rename(table.at(renamed.index), renamed.key);
        reference.remove(renamed.index);
        reference.entries.push_back(renamed);
      }
      std::vector<uint32_t> claimed;
      for (int i = 0; i < 8; ++i) {
        const uint64_t key = random() % 4;
        const void* variable = &variables[random() % sizeof variables];
        const uint32_t found = table.find(key, variable);
        ASSERT_EQ(found, reference.find(key, variable));
        if (found == RequestTable::kNone) continue;
        table.claim(table.at(found));
        reference.at(found).claimed = true;
        claimed.push_back(found);
      }
      // What is over goes; the rest is put back and stands in front of what nobody asked for.
      for (auto it = claimed.rbegin(); it != claimed.rend(); ++it) {
        if (random() % 2 == 0) {
          table.remove(table.at(*it));
          reference.remove(*it);
          continue;
        }
        table.give_back(table.at(*it));
        Reference::Entry entry = reference.at(*it);
        entry.claimed = false;
        const bool alone = [&] {
          int others = 0;
          for (const auto& e : reference.entries) others += e.key == entry.key ? 1 : 0;
          return others == 1;
        }();
        if (alone) {
          reference.at(*it).claimed = false;
          continue;
        }
        reference.remove(*it);
        reference.entries.push_front(entry);
      }
    }
  }
}

TEST(RequestTable, ManyOfOneHandleAreCompletedInAnyOrder) {
  constexpr uint32_t kMany = 200000;  // a walk for each would take hours
  std::vector<char> variables(kMany);
  RequestTable table;
  for (uint32_t i = 0; i < kMany; ++i) {
    RequestEntry e;
    e.key = 7;
    e.variable = &variables[i];
    e.position = table.take_position(0);
    ASSERT_EQ(table.add(e), i);
  }
  for (uint32_t i = 0; i < kMany; i += 2) {
    const uint32_t at = kMany - 1 - i;
    ASSERT_EQ(table.find(7, &variables[at]), at);
    table.claim(table.at(at));
  }
  for (uint32_t i = 0; i < kMany; ++i) {
    // Those that are claimed are passed by: the oldest of the others stands in for them.
    const uint32_t found = table.find(7, &variables[i]);
    if (i % 2 == 0) {
      ASSERT_EQ(found, i);
      table.remove(table.at(i));
    } else {
      ASSERT_EQ(found, i + 1 < kMany ? i + 1 : RequestTable::kNone);
    }
  }
  EXPECT_EQ(table.find(7, nullptr), RequestTable::kNone);
  table.give_back_all();
  EXPECT_NE(table.find(7, nullptr), RequestTable::kNone);
}

TEST(CommIds, NumbersAreUniqueAlsoBeyondTheMask) {
  CommIds ids;
  std::set<int64_t> seen;
  for (int f = 0; f < CommIds::kFirst; ++f) ids.start_family(f);
  for (int i = 0; i < 700; ++i) {
    uint64_t mask[CommIds::kMaskWords];
    ids.used_families(mask);
    int family = CommIds::lowest_free(mask);
    if (family == CommIds::kMaskFamilies) family = ids.above_all();
    ASSERT_TRUE(ids.start_family(family));
    ASSERT_FALSE(ids.start_family(family));
    ASSERT_TRUE(seen.insert(CommIds::id_of(family, 0)).second);
    for (int m = 1; m < 40; ++m)
      ASSERT_TRUE(seen.insert(CommIds::id_of(family, ids.take_member(family))).second);
  }
  EXPECT_NE(CommIds::id_of(65536, 0), CommIds::id_of(0, 16));
}

TEST(CommIds, SearchBeginsWhereItIsToldTo) {
  CommIds ids;
  for (int f = 0; f < 5; ++f) ids.start_family(f);
  uint64_t mask[CommIds::kMaskWords];
  ids.used_families(mask);
  EXPECT_EQ(CommIds::lowest_free(mask), 5);
  EXPECT_EQ(CommIds::lowest_free(mask, 100), 100);
  for (int f = 100; f < CommIds::kMaskFamilies; ++f) ids.start_family(f);
  ids.used_families(mask);
  EXPECT_EQ(CommIds::lowest_free(mask, 100), 5);
}

}  // namespace
}  // namespace refrain::tracer
