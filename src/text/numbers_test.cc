#include "text/numbers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace refrain::text {
namespace {

TEST(Numbers, RankLists) {
  base::RunList ranks;
  ranks.append_run(0, 8, 4);
  ranks.append(100);
  ranks.append_run(200, 1, 3);
  EXPECT_EQ(rank_list_text(ranks, SIZE_MAX), "0-24:8, 100, 200, 201-202");
  EXPECT_EQ(rank_list_text(ranks, 1), "0-24:8, ...");
  EXPECT_EQ(rank_list_text({}, 2), "");
}

TEST(Numbers, RatiosHaveNoExponent) {
  EXPECT_EQ(ratio_text(0), "0");
  EXPECT_EQ(ratio_text(0.01234), "0.0123");
  EXPECT_EQ(ratio_text(102.4), "102");
  EXPECT_EQ(ratio_text(999.4), "999");
  EXPECT_EQ(ratio_text(999.6), "1 000");
  EXPECT_EQ(ratio_text(1.02e5), "102 000");
}

TEST(Numbers, CountsAndDurations) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1 000");
  EXPECT_EQ(count_text(12345678), "12 345 678");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1500), "1.5 us");
  EXPECT_EQ(duration_text(999'499), "999 us");
  EXPECT_EQ(duration_text(999'500), "1 ms");
  EXPECT_EQ(duration_text(999'700'000), "1.00 s");
  EXPECT_EQ(duration_text(2'500'000'000), "2.50 s");
}

TEST(Numbers, RoundedNumbersStayInTheirRange) {
  EXPECT_EQ(rounded(2.5), 3u);
  EXPECT_EQ(rounded(0.4), 0u);
  EXPECT_EQ(rounded(-7.0), 0u);
  EXPECT_EQ(rounded(std::numeric_limits<double>::quiet_NaN()), 0u);
  EXPECT_EQ(rounded(9007199254740992.0), uint64_t{1} << 53);
  EXPECT_EQ(rounded(0x1p64), UINT64_MAX);
  EXPECT_EQ(rounded(1e300), UINT64_MAX);
}

TEST(Numbers, AreShort) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(percent_text(1, 8), "12.5 %");
  EXPECT_EQ(percent_text(1, 0), "-");
}

TEST(Numbers, ChangesThatAreRoundedToNoneHaveNoMinus) {
  EXPECT_EQ(signed_text(-0.04, 1), "+0.0");
  EXPECT_EQ(signed_text(-0.0, 2), "+0.00");
  EXPECT_EQ(signed_text(-0.06, 1), "-0.1");
  EXPECT_EQ(signed_text(12.34, 1), "+12.3");
}

}  // namespace
}  // namespace refrain::text
