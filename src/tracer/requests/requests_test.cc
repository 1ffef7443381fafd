// The request table against a list that is searched from its begin.
#include "tracer/requests/requests.h"

#include <gtest/gtest.h>

#include <list>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
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

// An array that is remembered, beside one whose requests are all claimed by each call.
class PolledArray : public testing::Test {
 protected:
  static constexpr size_t kSlots = 200;

  uint32_t add(uint64_t key, const uint64_t* variable) {
    uint32_t index = 0;
    for (RequestTable* t : {&polled_, &plain_}) {
      RequestEntry e;
      e.key = key;
      e.variable = variable;
      e.terminal = next_;
      e.position = t->take_position(0);
      index = t->add(e);
    }
    ++next_;
    return index;
  }
  // MPI_Wait on a copy of the handle.
  void wait(uint64_t& handle) {
    for (RequestTable* t : {&polled_, &plain_}) t->remove(*t->find_and_claim(handle, &handle));
    handle = 0;
  }
  RequestArray& array() {
    if (polled_.find_array(handles_) == nullptr) polled_.add_array(handles_);
    return *polled_.find_array(handles_);
  }
  // A call with the first n, of which some end.
  void call(size_t n, bool is_nested) {
    RequestArray& a = array();
    polled_.use(a);
    a.begin(handles_, n, uint64_t{0}, [](uint64_t key) { return key; });
    std::vector<RequestEntry*> claimed(n);
    bool same = true;
    for (size_t i = 0; i < n; ++i) {
      if (handles_[i] != 0) claimed[i] = plain_.find_and_claim(handles_[i], &handles_[i]);
      const uint64_t word = handles_[i] == 0        ? request_word::kNull
                            : claimed[i] == nullptr ? request_word::kUnknown
                                                    : claimed[i]->terminal;
      ASSERT_EQ(a.words()[i], word) << i;
      same = same && i < last_.size() && last_[i] == word;
      if (i < last_.size()) last_[i] = word;
    }
    if (a.version() == last_version_) {
      ASSERT_TRUE(same && last_.size() == n);
    }
    last_.assign(a.words(), a.words() + n);
    last_version_ = a.version();
    if (is_nested) {
      polled_.claim_in_use();
      for (size_t i = 0; i < n; ++i) {
        const uint32_t expected = plain_.find(handles_[i], &handles_[i]);
        if (handles_[i] != 0) {
          ASSERT_EQ(polled_.find(handles_[i], &handles_[i]), expected);
        }
      }
    }
    for (size_t i = 0; i < n; ++i) {
      if (claimed[i] == nullptr || random_() % 16 != 0) continue;
      plain_.remove(*std::exchange(claimed[i], nullptr));
      handles_[i] = 0;
      a.remove(i, uint64_t{0});
    }
    polled_.end_use(a);
    for (size_t i = n; i-- > 0;)
      if (claimed[i] != nullptr) plain_.give_back(*claimed[i]);
  }

  std::mt19937 random_{7};
  RequestTable polled_, plain_;
  uint64_t handles_[kSlots] = {};
  uint32_t next_ = 0;
  std::vector<uint64_t> last_;
  uint64_t last_version_ = 0;
};

TEST_F(PolledArray, KnowsWhatEachRequestIs) {
  uint64_t key = 1;
  for (int step = 0; step < 3000; ++step) {
    uint64_t& handle = handles_[random_() % kSlots];
    uint64_t& other = handles_[random_() % kSlots];
    const auto what = random_() % 16;
    if (what < 6 && handle == 0) {
      handle = random_() % 8 == 0 ? 1 + random_() % 3 : 8 + key++ % 300;  // some share their handle
      if (random_() % 20 != 0) add(handle, &handle);                      // some are not known
    } else if (what < 8 && handle != 0 && plain_.find(handle, &handle) != RequestTable::kNone) {
      wait(handle);
    } else if (what < 9) {
      std::swap(handle, other);
    } else if (what < 10 && handle != 0 && plain_.find(handle, &handle) != RequestTable::kNone) {
      for (RequestTable* t : {&polled_, &plain_})
        t->rename(t->at(t->find(handle, &handle)), 1000 + key);
      handle = 1000 + key++;
    } else {
      ASSERT_NO_FATAL_FAILURE(call(kSlots - (what == 15 ? random_() % 100 : 0), what == 14));
    }
  }
}

TEST_F(PolledArray, StaysAsItIsWhileNothingChanges) {
  for (uint64_t& handle : handles_) add(handle = 100 + next_, &handle);
  RequestArray& a = array();
  uint64_t version = 0;
  for (int i = 0; i < 3; ++i) {
    polled_.use(a);
    a.begin(handles_, kSlots, uint64_t{0}, [](uint64_t key) { return key; });
    EXPECT_TRUE(i == 0 || a.version() == version);
    version = a.version();
    EXPECT_EQ(polled_.find_array(handles_), nullptr) << "in use";
    polled_.end_use(a);
  }
  // The handle of another one, for a new request.
  wait(handles_[3]);
  handles_[3] = 103;
  add(103, &handles_[3]);
  polled_.use(a);
  a.begin(handles_, kSlots, uint64_t{0}, [](uint64_t key) { return key; });
  EXPECT_NE(a.version(), version);
  EXPECT_EQ(a.words()[3], kSlots);
  polled_.end_use(a);
  // A jump out of a call leaves nothing claimed.
  polled_.use(a);
  a.begin(handles_, kSlots, uint64_t{0}, [](uint64_t key) { return key; });
  polled_.claim_in_use();
  EXPECT_EQ(polled_.find(100, &handles_[0]), RequestTable::kNone);
  polled_.give_back_all();
  EXPECT_EQ(polled_.find(100, &handles_[0]), 0u);
  EXPECT_EQ(polled_.find_array(handles_), nullptr);
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
