#include "base/runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace refrain::base {
namespace {

RunList list_of(const std::vector<int64_t>& values) {
  RunList list;
  for (const int64_t v : values) list.append(v);
  return list;
}

std::vector<int64_t> values_of(const RunList& list) {
  std::vector<int64_t> out;
  for (uint64_t i = 0; i < list.size(); ++i) out.push_back(list.at(i));
  return out;
}

// Values that are runs more often than not, extremes included.
std::vector<int64_t> some_values(std::mt19937_64& random) {
  std::vector<int64_t> out;
  const size_t runs = random() % 6;
  for (size_t r = 0; r < runs; ++r) {
    constexpr int64_t kStarts[] = {0, -5, 7, INT64_MAX, INT64_MIN, INT64_MAX - 3};
    constexpr int64_t kSteps[] = {0, 1, -1, 3, -7, INT64_MAX, INT64_MIN};
    auto v = static_cast<uint64_t>(kStarts[random() % 6]);
    const auto step = static_cast<uint64_t>(kSteps[random() % 7]);
    for (size_t k = 1 + random() % 6; k > 0; --k, v += step) out.push_back(static_cast<int64_t>(v));
  }
  return out;
}

TEST(RunList, RegularListsAreOneRun) {
  RunList list;
  for (int64_t v = 0; v < 4096; ++v) list.append(v);
  EXPECT_EQ(list.runs().size(), 1u);
  EXPECT_EQ(list_of({0, 8, 16, 24}).runs().size(), 1u);
  EXPECT_EQ(list_of({5, 5, 5, 5}).runs().size(), 1u);
  EXPECT_EQ(list_of({3, 2, 1, 0, -1}).runs().size(), 1u);
  EXPECT_TRUE(RunList().empty());
}

TEST(RunList, LikeAVector) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<int64_t> values = some_values(random);
    const RunList list = list_of(values);
    ASSERT_EQ(list.size(), values.size());
    ASSERT_EQ(values_of(list), values);
    for (const int64_t v : values) {
      const auto it = std::find(values.begin(), values.end(), v);
      ASSERT_EQ(list.find(v), it - values.begin()) << v;
    }
    for (const int64_t v : {int64_t{1}, int64_t{-6}, INT64_MIN + 1, INT64_MAX - 1}) {
      const auto it = std::find(values.begin(), values.end(), v);
      ASSERT_EQ(list.find(v), it == values.end() ? -1 : it - values.begin()) << v;
    }
  }
}

TEST(RunList, AppendAll) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int64_t> a = some_values(random);
    const std::vector<int64_t> b = some_values(random);
    RunList list = list_of(a);
    list.append_all(list_of(b));
    a.insert(a.end(), b.begin(), b.end());
    ASSERT_EQ(values_of(list), a);
    ASSERT_EQ(list, list_of(a));  // the same runs, however it was put together
  }
  RunList doubled = list_of({1, 2, 3, 7, 7});
  doubled.append_all(doubled);
  EXPECT_EQ(values_of(doubled), (std::vector<int64_t>{1, 2, 3, 7, 7, 1, 2, 3, 7, 7}));
}

// Halves of one regular list, joined, are as small as the whole.
TEST(RunList, AppendAllJoinsRuns) {
  for (size_t cut = 0; cut <= 10; ++cut) {
    RunList a;
    RunList b;
    for (int64_t v = 0; v < 10; ++v) (v < static_cast<int64_t>(cut) ? a : b).append(3 * v);
    a.append_all(b);
    EXPECT_EQ(a.runs().size(), 1u) << cut;
    EXPECT_EQ(a.size(), 10u);
  }
}

TEST(RunList, RoundTrip) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 3000; ++round) {
    const RunList list = list_of(some_values(random));
    ByteWriter out;
    list.write(out);
    ByteReader in(out.view());
    const RunList back = RunList::read(in, list.size());
    ASSERT_TRUE(in.ok() && in.at_end());
    ASSERT_EQ(back, list);
    if (list.empty()) continue;
    ByteReader limited(out.view());
    ASSERT_TRUE(RunList::read(limited, list.size() - 1).empty());
    ASSERT_FALSE(limited.ok());
  }
}

// Damaged bytes fail the reader or give a list that keeps its promises.
TEST(RunList, Mutations) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 20000; ++round) {
    ByteWriter out;
    list_of(some_values(random)).write(out);
    std::string bytes = out.take();
    bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    ByteReader in(bytes);
    const RunList list = RunList::read(in, UINT64_MAX);
    ASSERT_LE(list.runs().size(), bytes.size());
    if (list.empty()) continue;
    list.find(17);
    ASSERT_EQ(list.at(0), list.runs()[0].start);
    list.at(list.size() - 1);
  }
}

}  // namespace
}  // namespace refrain::base
