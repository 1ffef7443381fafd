#include "base/nested_runs.h"

#include <gtest/gtest.h>

#include <random>

#include "base/wide.h"

namespace refrain::base {
namespace {

std::vector<int64_t> values_of(const NestedRuns& list) {
  std::vector<int64_t> out;
  list.for_each_run([&](int64_t start, int64_t step, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
      out.push_back(
          static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(step) * i));
  });
  return out;
}

NestedRuns list_of(const std::vector<int64_t>& values, size_t begin, size_t end) {
  NestedRuns list;
  for (size_t i = begin; i < end; ++i) list.append(values[i]);
  return list;
}

// Joined in pairs as ranks are: [begin, end).
NestedRuns tree_of(const std::vector<int64_t>& values, size_t begin, size_t end) {
  if (end - begin == 1) return list_of(values, begin, end);
  size_t half = 1;
  while (2 * half < end - begin) half *= 2;
  NestedRuns list = tree_of(values, begin, begin + half);
  list.append_all(tree_of(values, begin + half, end));
  return list;
}

// What ranks of a grid x * y * z have in a list, by one law or another.
std::vector<int64_t> grid(int64_t x, int64_t y, int64_t z, int law) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < x; ++i) {
    for (int64_t j = 0; j < y; ++j) {
      for (int64_t k = 0; k < z; ++k) {
        const int64_t rank = (i * y + j) * z + k;
        const bool inside = i > 0 && j > 0 && k > 0 && i + 1 < x && j + 1 < y && k + 1 < z;
        switch (law) {
          case 0:
            if (inside) out.push_back(rank);
            break;
          case 1: out.push_back((i * y + j) * z + (k + 1) % z); break;      // wraps within rows
          case 2: out.push_back((i * y + (j + y - 1) % y) * z + k); break;  // within planes
          case 3: out.push_back(k); break;                                  // coordinates
          case 4: out.push_back(j); break;
          case 5: out.push_back((k * y + j) * x + i); break;  // the grid turned around
          default: out.push_back(i * y); break;               // row of a plane
        }
      }
    }
  }
  return out;
}

TEST(NestedRuns, GridsTakeAsManyItemsAtAnySize) {
  for (int law = 0; law < 7; ++law) {
    const NestedRuns small = tree_of(grid(8, 8, 8, law), 0, grid(8, 8, 8, law).size());
    const auto shapes = {std::array<int64_t, 3>{16, 16, 16}, {4, 8, 128}, {31, 5, 22}, {5, 6, 7}};
    for (const auto& [x, y, z] : shapes) {
      const auto values = grid(x, y, z, law);
      const NestedRuns list = tree_of(values, 0, values.size());
      EXPECT_EQ(values_of(list), values);
      EXPECT_LE(list.item_count(), 24u) << "law " << law << ": " << x << " " << y << " " << z;
      const NestedRuns again{list.runs()};
      EXPECT_EQ(again.items(), list_of(values, 0, values.size()).items());
      EXPECT_LE(again.item_count(), small.item_count() + 8) << law << ": " << x << " " << y;
    }
  }
}

TEST(NestedRuns, AnyListInAnyTreeIsTheSameList) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 3000; ++round) {
    std::vector<int64_t> values;
    const uint64_t n = 1 + random() % 200, span = 1 + random() % 9, law = random() % 4;
    for (uint64_t i = 0; i < n; ++i) {
      if (law == 0) values.push_back(static_cast<int64_t>(random() % span));
      if (law == 1) values.push_back(static_cast<int64_t>(i % span * span + i / span));
      if (law == 2) values.push_back(static_cast<int64_t>(random() >> random() % 64));
      if (law == 3) values.push_back(static_cast<int64_t>(i * i % (span * span)));
    }
    const NestedRuns list = list_of(values, 0, n);
    ASSERT_EQ(values_of(list), values);
    ASSERT_EQ(list.size(), n);
    ASSERT_EQ(list.first(), values.front());
    ASSERT_EQ(list.last(), values.back());
    const NestedRuns tree = tree_of(values, 0, n);
    ASSERT_EQ(values_of(tree), values);
    ASSERT_EQ(tree.size(), n);
    ASSERT_EQ(tree.last(), values.back());
    ByteWriter out;
    tree.write(out);
    ByteReader in(out.view());
    const NestedRuns back = NestedRuns::read(in, n);
    ASSERT_TRUE(in.ok() && in.at_end());
    ASSERT_EQ(values_of(back), values);
    ByteReader short_of(out.view());
    if (n > 1) {
      NestedRuns::read(short_of, n - 1);
      ASSERT_FALSE(short_of.ok());
    }
    NestedRuns more = back;
    more.append(values.back());
    ASSERT_EQ(more.size(), n + 1);
    ASSERT_EQ(more.last(), values.back());
  }
}

TEST(NestedRuns, DamagedBytesAreRefusedOrALegalList) {
  std::mt19937_64 random(10);
  const NestedRuns good = tree_of(grid(5, 6, 7, 1), 0, 210);
  ByteWriter out;
  good.write(out);
  for (int round = 0; round < 20000; ++round) {
    std::string bad(out.view());
    bad[random() % bad.size()] = static_cast<char>(random());
    ByteReader in(bad);
    const NestedRuns list = NestedRuns::read(in, 1000);
    if (in.ok()) {
      ASSERT_EQ(values_of(list).size(), list.size());
      ASSERT_LE(list.size(), 1000u);
    }
  }
}

TEST(Wide, ThreeBytesUpToALimitAndEveryNumber) {
  for (const uint64_t v : {uint64_t{0}, uint64_t{63}, uint64_t{4096}, kWideLimit - 1, kWideLimit,
                           kWideLimit * 5 + 3, uint64_t{1} << 40, UINT64_MAX}) {
    ByteWriter out;
    put_wide(out, v);
    EXPECT_EQ(out.size() == 3, v < kWideLimit);
    ByteReader in(out.view());
    EXPECT_EQ(get_wide(in), v);
    EXPECT_TRUE(in.ok() && in.at_end());
    ByteReader cut(out.view().substr(0, out.size() - 1));
    get_wide(cut);
    EXPECT_FALSE(cut.ok());
  }
}

}  // namespace
}  // namespace refrain::base
