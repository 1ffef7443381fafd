#include "tracer/state/call_memo.h"

#include <gtest/gtest.h>

#include <cstdint>
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
  delete[] memo.words;
}

TEST(CallMemo, CountsDurations) {
  CallMemo memo;
  for (const uint64_t ticks : {100u, 3u, 5000u, 100u}) memo.count_one(ticks);
  const TerminalStats s = memo.statistics();
  EXPECT_EQ(s.count, 4u);
  EXPECT_EQ(s.min_ticks, 3u);
  EXPECT_EQ(s.max_ticks, 5000u);
  EXPECT_EQ(s.sum_ticks, 5203u);
  EXPECT_EQ(memo.histogram[TerminalStats::bucket(100)], 2u);
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

}  // namespace
}  // namespace refrain::tracer
