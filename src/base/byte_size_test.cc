#include "base/byte_size.h"

#include <gtest/gtest.h>

namespace refrain::base {
namespace {

TEST(ByteSize, Parses) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("123"), 123u);
  EXPECT_EQ(parse_bytes("64M"), uint64_t{64} << 20);
  EXPECT_EQ(parse_bytes("2k"), 2048u);
  EXPECT_EQ(parse_bytes("1.5M"), uint64_t{3} << 19);
  EXPECT_EQ(parse_bytes("0.25K"), 256u);
  EXPECT_EQ(parse_bytes("3.999999T"),
            (uint64_t{4} << 40) - ((uint64_t{1} << 40) + 999999) / 1000000);
  EXPECT_EQ(parse_bytes("1T"), uint64_t{1} << 40);
  EXPECT_EQ(parse_bytes("18446744073709551615"), UINT64_MAX);
}

TEST(ByteSize, RefusesTheRest) {
  for (const char* text :
       {"", "M", "-1", "1.5", "1.G", ".5G", "1.x5G", "1.1234567G", "1.5.5G", "64 M", "64MB", "0x10",
        "18446744073709551616", "18446744073709551615K", "16777216T"})
    EXPECT_FALSE(parse_bytes(text).has_value()) << text;
}

}  // namespace
}  // namespace refrain::base
