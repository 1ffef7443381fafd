#include "events/by_rank/external_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace refrain::events {
namespace {

struct Number {
  uint64_t key = 0, payload = 0;
  bool operator<(const Number& o) const { return key < o.key; }
};

// Against std::stable_sort, with memory for all, for some and for hardly any of them.
TEST(ExternalSort, GivesOutInOrder) {
  std::mt19937_64 random(7);
  for (const size_t count : {0, 1, 15, 16, 17, 1000, 20000}) {
    for (const size_t bytes : {size_t{16}, size_t{4096}, size_t{1} << 20}) {
      std::vector<uint64_t> want;
      ExternalSort<Number> sort(::testing::TempDir(), bytes);
      uint64_t sum = 0;
      for (size_t i = 0; i < count; ++i) {
        const Number one{random() % 500, random()};
        want.push_back(one.key);
        sum += one.payload;
        ASSERT_TRUE(sort.add(one).ok());
      }
      ASSERT_TRUE(sort.finish().ok());
      std::sort(want.begin(), want.end());
      std::vector<uint64_t> got;
      while (const Number* next = sort.next()) got.push_back(next->key), sum -= next->payload;
      ASSERT_EQ(got, want) << count << " records in " << bytes << " bytes";
      EXPECT_EQ(sum, 0u);
      EXPECT_TRUE(sort.status().ok());
    }
  }
}

TEST(ExternalSort, SaysWhereItCannotWrite) {
  ExternalSort<Number> sort("/no/such/folder", 16);
  base::Status status = base::Done{};
  for (uint64_t i = 0; status.ok() && i < 100; ++i) status = sort.add({i, i});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().to_string().find("/no/such/folder"), std::string::npos);
}

}  // namespace
}  // namespace refrain::events
