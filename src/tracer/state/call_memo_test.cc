#include "tracer/state/call_memo.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "mpi/call_ids.h"
#include "tracer/state/seen_path.h"

namespace refrain::tracer {
namespace {

SeenPath a_path() {
  SeenPath path{};
  path.definition = 7;
  return path;
}

TEST(CallMemo, KnowsACallByItsWords) {
  const SeenPath path = a_path();
  CallMemo memo;
  const uint64_t words[] = {1, 2, 3};
  ASSERT_TRUE(memo.remember(mpi::kMPI_Send, path, 5, words, 3));
  EXPECT_EQ(memo.call, mpi::kMPI_Send);
  EXPECT_EQ(memo.handle_changes, 5u);
  EXPECT_EQ(memo.path_definition, 7u);
  EXPECT_TRUE(memo.same_words(words, 3));
  EXPECT_TRUE(memo.same_words(std::make_index_sequence<3>(), 1, 2, 3));
  EXPECT_FALSE(memo.same_words(std::make_index_sequence<3>(), 1, 2, 4));
  EXPECT_FALSE(memo.same_words(words, 2)) << "fewer words";
  const uint64_t others[] = {9};
  ASSERT_TRUE(memo.remember(mpi::kMPI_Send, path, 6, others, 1));
  EXPECT_TRUE(memo.same_words(others, 1));
  EXPECT_FALSE(memo.same_words(words, 3));
}

// Few words stand inside of the memo, many do not, and a memo may have first the one, then the
// other.
TEST(CallMemo, KnowsCallsWithManyWords) {
  const SeenPath path = a_path();
  CallMemo memo;
  for (const size_t n : {size_t{2}, CallMemo::kWordsInside, CallMemo::kWordsInside + 1,
                         CallMemo::kMaxWords, size_t{3}}) {
    SCOPED_TRACE(n);
    std::vector<uint64_t> words(n);
    std::iota(words.begin(), words.end(), n);
    ASSERT_TRUE(memo.remember(mpi::kMPI_Waitall, path, 5, words.data(), n));
    EXPECT_TRUE(memo.same_words(words.data(), n));
    ++words.back();
    EXPECT_FALSE(memo.same_words(words.data(), n));
  }
  CallMemo eight;
  const uint64_t words[] = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_TRUE(eight.remember(mpi::kMPI_Send, path, 5, words, 8));
  EXPECT_TRUE(eight.same_words(std::make_index_sequence<8>(), 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_FALSE(eight.same_words(std::make_index_sequence<8>(), 1, 2, 3, 4, 5, 6, 7, 9));
}

TEST(CallMemo, CountsDurations) {
  CallMemo memo;
  for (const uint64_t ticks : {100u, 3u, 5000u, 100u}) memo.count_one(ticks);
  const TerminalStats s = memo.statistics();
  EXPECT_EQ(s.count, 4u);
  EXPECT_EQ(s.min_ticks, 3u);
  EXPECT_EQ(s.max_ticks, 5000u);
  EXPECT_EQ(s.sum_ticks, 5203u);
  EXPECT_EQ(s.histogram[TerminalStats::bucket(100)], 2u);
}

// The window begins below the first call; what lies far from there is counted beside it.
TEST(CallMemo, CountsDurationsOfAllLengths) {
  for (const unsigned first : {0u, 1u, 20u, 63u}) {
    CallMemo memo;
    memo.count_one(uint64_t{1} << first);
    for (unsigned b = 0; b < TerminalStats::kBuckets; ++b)
      for (unsigned n = 0; n <= b; ++n) memo.count_one(uint64_t{1} << b);
    const TerminalStats s = memo.statistics();
    EXPECT_EQ(s.count, 1u + 64 * 65 / 2);
    for (unsigned b = 0; b < TerminalStats::kBuckets; ++b)
      EXPECT_EQ(s.histogram[b], b + 1 + (b == first ? 1 : 0)) << b;
    EXPECT_EQ(s.min_ticks, 1u);
    EXPECT_EQ(s.max_ticks, uint64_t{1} << 63);
  }
}

// Else all that come behind a slow first call would go the long way.
TEST(CallMemo, CountsShorterCallsThanTheFirstInItsWindow) {
  CallMemo memo;
  for (const unsigned bits : {20u, 19u, 8u, 8u, 20u}) memo.count_one(uint64_t{1} << bits);
  EXPECT_TRUE(memo.count_in_window(uint64_t{1} << 8));
  EXPECT_EQ(memo.statistics().count, 6u);
  EXPECT_EQ(memo.statistics().histogram[20], 2u);
  EXPECT_EQ(memo.statistics().histogram[19], 1u);
  EXPECT_EQ(memo.statistics().histogram[8], 3u);
}

// In a loop that polls a bucket has more calls than its word can count.
TEST(CallMemo, CountsMoreCallsThanAWordOfItsWindow) {
  CallMemo memo;
  memo.count_one(1000);
  memo.window[TerminalStats::bucket(1000) - memo.window_begin] = UINT32_MAX;
  for (int i = 0; i < 3; ++i) memo.count_one(1000);
  EXPECT_EQ(memo.statistics().histogram[TerminalStats::bucket(1000)], (uint64_t{1} << 32) + 2);
  EXPECT_EQ(memo.statistics().count, (uint64_t{1} << 32) + 2);
}

TEST(CallMemos, AreFoundByTerminalAndBeginAnew) {
  CallMemos memos;
  EXPECT_EQ(memos.find(0), nullptr);
  CallMemo* const made = memos.make(4);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(memos.make(4), made);
  EXPECT_EQ(memos.find(4), made);
  EXPECT_EQ(memos.find(3), nullptr);
  EXPECT_EQ(memos.find(5), nullptr);
  EXPECT_EQ(memos.find(UINT64_MAX), nullptr) << "what a grammar expects that expects nothing";
  size_t count = 0;
  memos.for_each([&](CallMemo&) { ++count; });
  EXPECT_EQ(count, 1u);
  memos.clear([](RequestEntry&) {});
  EXPECT_EQ(memos.find(4), nullptr);
  EXPECT_EQ(memos.size(), 0u);
}

TEST(CallMemos, BeginAtCacheLinesAndStayWhereTheyAre) {
  CallMemos memos;
  std::vector<CallMemo*> made;
  for (uint32_t i = 0; i < 100; ++i) {
    made.push_back(memos.make(i));
    ASSERT_NE(made.back(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(made.back()) % alignof(CallMemo), 0u);
    made.back()->count_one(i + 1);
  }
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(memos.find(i), made[i]);
    EXPECT_EQ(made[i]->statistics().sum_ticks, i + 1);
  }
}

}  // namespace
}  // namespace refrain::tracer
