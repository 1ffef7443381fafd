// Names of blocks and areas: order of first use, reuse, offsets, and what may be remembered of
// them.
#include "tracer/heap/heap_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace refrain::tracer {
namespace {

using format::BufferClass;

constexpr uintptr_t kBase = 0x560000000000;

// As a dump has it.
std::string text(HeapNames& names, uintptr_t address) {
  BufferName n;
  if (!names.name(address, &n)) return "";
  std::string out = n.where == BufferClass::kHeap      ? "heap"
                    : n.where == BufferClass::kManaged ? "managed"
                    : n.where == BufferClass::kPinned  ? "pinned"
                                                       : "device";
  if (n.where == BufferClass::kDevice) out.append(std::to_string(n.device));
  out.append("#").append(std::to_string(n.id));
  return n.offset == 0 ? out : out.append("+").append(std::to_string(n.offset));
}

class Names : public testing::Test {
 protected:
  std::unique_ptr<HeapNames> owner_ = std::make_unique<HeapNames>();
  HeapNames& names_ = *owner_;
};

TEST_F(Names, ByFirstUseAndReused) {
  for (int i = 0; i < 5; ++i) names_.allocated(kBase + i * 1024, 1000);
  EXPECT_EQ(text(names_, kBase + 3 * 1024 + 8), "heap#0+8");
  EXPECT_EQ(text(names_, kBase + 1024), "heap#1");
  EXPECT_EQ(text(names_, kBase), "heap#2");
  EXPECT_EQ(text(names_, kBase + 3 * 1024), "heap#0");
  EXPECT_EQ(text(names_, kBase + 1010), "") << "behind the end of the first";
  names_.freed(kBase + 4 * 1024);  // never used: frees no id
  names_.freed(kBase + 1024);
  EXPECT_EQ(text(names_, kBase + 1024), "");
  EXPECT_EQ(text(names_, kBase + 2 * 1024), "heap#1");
  names_.allocated(kBase + 1024, 1000);
  EXPECT_EQ(text(names_, kBase + 1024), "heap#3");
}

TEST_F(Names, ReallocKeepsTheName) {
  names_.allocated(kBase, 64);
  names_.allocated(kBase + 4096, 64);
  EXPECT_EQ(text(names_, kBase + 8), "heap#0+8");
  names_.moved(names_.taken(kBase), kBase + 65536, 200000);
  EXPECT_EQ(text(names_, kBase + 65536 + 150000), "heap#0+150000");
  EXPECT_EQ(text(names_, kBase), "");
  EXPECT_EQ(text(names_, kBase + 4096), "heap#1");
  // It failed: all is as it was.
  const HeapNames::Taken taken = names_.taken(kBase + 4096);
  EXPECT_EQ(taken.bytes, 64u);
  names_.moved(taken, kBase + 4096, taken.bytes);
  EXPECT_EQ(text(names_, kBase + 4096 + 63), "heap#1+63");
  EXPECT_EQ(text(names_, kBase + 4096 + 64), "");
  // It was a free.
  names_.ended(names_.taken(kBase + 4096));
  EXPECT_EQ(text(names_, kBase + 4096), "");
  names_.allocated(kBase + 8192, 16);
  EXPECT_EQ(text(names_, kBase + 8192), "heap#1");
}

TEST_F(Names, AreasOfEachKindCountForThemselves) {
  names_.add_area(0xd00000000, 4096, BufferClass::kDevice, 0);
  names_.add_area(0xd10000000, 4096, BufferClass::kDevice, 3);
  names_.add_area(0xd20000000, 4096, BufferClass::kManaged, 0);
  names_.add_area(0xd30000000, 4096, BufferClass::kPinned, 0);
  names_.add_area(0xd40000000, 4096, BufferClass::kDevice, 3);
  EXPECT_EQ(text(names_, 0xd40000000 + 64), "device3#0+64");
  EXPECT_EQ(text(names_, 0xd10000000), "device3#1");
  EXPECT_EQ(text(names_, 0xd00000000), "device0#0");
  EXPECT_EQ(text(names_, 0xd20000000), "managed#0");
  EXPECT_EQ(text(names_, 0xd30000fff), "pinned#0+4095");
  EXPECT_EQ(text(names_, 0xd30001000), "");
  names_.remove_area(0xd40000000);
  EXPECT_EQ(text(names_, 0xd40000000), "");
  names_.add_area(0xd50000000, 16, BufferClass::kDevice, 3);
  EXPECT_EQ(text(names_, 0xd50000000), "device3#0");
  names_.remove_area(0xd10000010);  // not a begin: nothing happens
  EXPECT_EQ(text(names_, 0xd10000000), "device3#1");
}

// Memory from MPI lies in a block of malloc, or where an area was that is gone unnoticed.
TEST_F(Names, AreasComeFirst) {
  names_.allocated(kBase, 5000);
  names_.add_area(kBase + 64, 4096, BufferClass::kHeap, 0);
  EXPECT_EQ(text(names_, kBase + 64), "heap#0");
  EXPECT_EQ(text(names_, kBase), "heap#1");
  names_.add_area(kBase + 1000, 100, BufferClass::kHeap, 0);
  EXPECT_EQ(text(names_, kBase + 64), "heap#1+64") << "what overlaps is gone";
  EXPECT_EQ(text(names_, kBase + 1099), "heap#0+99");
  names_.remove_area(kBase + 1000);
  names_.freed(kBase);
  EXPECT_EQ(text(names_, kBase + 1000), "");
}

TEST_F(Names, WhoRemembersANameIsTold) {
  std::atomic<uint64_t> changes{0};
  names_.watch(&changes);
  names_.allocated(kBase, 100);
  names_.allocated(kBase + 128, 100);
  text(names_, kBase);
  names_.freed(kBase + 128);
  EXPECT_EQ(changes, 0u) << "no name was lost";
  names_.freed(kBase);
  EXPECT_EQ(changes, 1u);
  names_.allocated(kBase, 100);
  text(names_, kBase);
  names_.moved(names_.taken(kBase), kBase, 90);
  EXPECT_EQ(changes, 2u);
  names_.add_area(kBase + 4096, 10, BufferClass::kPinned, 0);
  const uint64_t before = changes;
  names_.remove_area(kBase + 4096);
  EXPECT_GT(changes, before);
}

// Many names, so that the table grows and entries move up, against a map.
TEST_F(Names, AnswersAsAMapDoes) {
  std::mt19937_64 random(3);
  std::map<uintptr_t, int64_t> ids;  // of named blocks
  std::set<int64_t> used;
  std::vector<uintptr_t> live;
  for (int step = 0; step < 60000; ++step) {
    if (live.size() < 5 || random() % 8 < 5) {
      const uintptr_t begin = kBase + random() % 100000 * 128;
      if (std::find(live.begin(), live.end(), begin) != live.end()) continue;
      names_.allocated(begin, 100);
      live.push_back(begin);
      continue;
    }
    const size_t i = random() % live.size();
    const uintptr_t begin = live[i];
    if (random() % 2 == 0) {
      BufferName n;
      ASSERT_TRUE(names_.name(begin + 5, &n));
      if (!ids.contains(begin)) {
        int64_t lowest = 0;
        for (const int64_t id : used) {
          if (id != lowest) break;
          ++lowest;
        }
        ids[begin] = lowest;
        used.insert(lowest);
      }
      ASSERT_EQ(n.id, ids[begin]);
      ASSERT_EQ(n.offset, 5);
      continue;
    }
    names_.freed(begin);
    if (ids.contains(begin)) used.erase(ids[begin]);
    ids.erase(begin);
    live[i] = live.back();
    live.pop_back();
  }
  EXPECT_GT(used.size(), 600u) << "the table has not grown";
}

TEST_F(Names, ThreadsGetNamesOfTheirOwn) {
  constexpr int kThreads = 4, kRounds = 3000;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const uintptr_t begin = kBase + (round % 16 * kThreads + t) * uintptr_t{64};
        names_.allocated(begin, 50);
        BufferName one, again;
        if (!names_.name(begin + 49, &one) || !names_.name(begin, &again)) ++wrong;
        if (one.id != again.id || one.offset != 49 || one.id < 0 || one.id >= kThreads) ++wrong;
        names_.freed(begin);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace refrain::tracer
