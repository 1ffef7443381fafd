#include "format/codes/run_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "base/wide.h"
#include "format/limits.h"

namespace refrain::format {
namespace {

base::RunList round_trip(const base::RunList& list, size_t* bytes = nullptr) {
  base::ByteWriter out, numbers;
  write_runs(list, out, numbers);
  if (bytes != nullptr) *bytes = out.size() + numbers.size();
  base::ByteReader in(out.view()), number_in(numbers.view());
  uint64_t budget = kMaxRepeatedRunsPerSection;
  base::RunList back = read_runs(in, number_in, list.size(), budget);
  EXPECT_TRUE(in.ok() && in.at_end() && number_in.ok() && number_in.at_end());
  return back;
}

TEST(RunCodec, GridsTakeAFewBytesAtAnySize) {
  for (const int64_t edge : {8, 64, 512}) {
    base::RunList inside, transpose, rows;
    for (int64_t y = 0; y < edge; ++y) {
      for (int64_t x = 0; x < edge; ++x) {
        if (x > 0 && y > 0 && x < edge - 1 && y < edge - 1) inside.append(y * edge + x);
        transpose.append(x * edge + y);
        rows.append(y);
      }
    }
    for (const base::RunList& list : {inside, transpose, rows}) {
      size_t bytes = 0;
      EXPECT_EQ(round_trip(list, &bytes), canonical(list));
      EXPECT_LE(bytes, 22u);
    }
  }
}

TEST(RunCodec, AnyListInTheSameListOut) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 3000; ++i) {
    base::RunList list;
    const uint64_t n = random() % 40;
    for (uint64_t k = 0; k < n; ++k) {
      const auto v = static_cast<int64_t>(random() >> random() % 64);
      list.append_run(v % 9, static_cast<int64_t>(random() % 3), 1 + random() % 4);
      if (random() % 5 == 0) list.append(v);
    }
    const base::RunList back = round_trip(list);
    ASSERT_EQ(back.size(), list.size());
    for (uint64_t k = 0; k < list.size(); ++k) ASSERT_EQ(back.at(k), list.at(k));
    ASSERT_EQ(canonical(canonical(list)), canonical(list));
    ASSERT_EQ(back, canonical(list)) << "one form for equal values";
  }
}

TEST(RunCodec, HostileListsAreBounded) {
  // 2^40 times one value, each 5 higher.
  base::ByteWriter bomb, numbers;
  for (const uint8_t b : {1, 3, 1, 0}) bomb.put_u8(b);
  for (const int64_t n : {int64_t{1} << 40, int64_t{5}, int64_t{0}})
    base::put_wide_zigzag(numbers, n);
  base::ByteReader in(bomb.view()), number_in(numbers.view());
  uint64_t budget = kMaxRepeatedRunsPerSection;
  EXPECT_TRUE(read_runs(in, number_in, UINT64_MAX, budget).empty());
  EXPECT_FALSE(in.ok());
  size_t good = 0;
  std::mt19937_64 random(6);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 24, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 4);
    std::string small(72, '\0');
    for (char& c : small) c = static_cast<char>(random() % 3 == 0 ? random() % 64 : 0);
    base::ByteReader any(bytes), any_number(small);
    uint64_t left = 1000;
    const base::RunList list = read_runs(any, any_number, 5000, left);
    good += any.ok() && !list.empty();
    ASSERT_LE(list.size(), 5000u);
    ASSERT_LE(list.runs().size(), 1000u + bytes.size());
  }
  EXPECT_GT(good, 0u);  // else only refusals were seen
}

}  // namespace
}  // namespace refrain::format
