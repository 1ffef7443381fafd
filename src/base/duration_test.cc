#include "base/duration.h"

#include <gtest/gtest.h>

namespace refrain::base {
namespace {

TEST(Duration, Units) {
  EXPECT_EQ(parse_duration("0"), 0u);
  EXPECT_EQ(parse_duration("1200000"), 1'200'000u);
  EXPECT_EQ(parse_duration("7ns"), 7u);
  EXPECT_EQ(parse_duration("1s"), 1'000'000'000u);
  EXPECT_EQ(parse_duration("20ms"), 20'000'000u);
  EXPECT_EQ(parse_duration("1.94 s"), 1'940'000'000u);
  EXPECT_EQ(parse_duration("0.5us"), 500u);
  EXPECT_EQ(parse_duration(".5us"), 500u);
  EXPECT_EQ(parse_duration("2min"), 120'000'000'000u);
  EXPECT_EQ(parse_duration("1h"), 3'600'000'000'000u);
  EXPECT_EQ(parse_duration("1e9"), 1'000'000'000u);
  EXPECT_EQ(parse_duration("2.5e-3s"), 2'500'000u);
  EXPECT_EQ(parse_duration("60", 1'000'000'000), 60'000'000'000u);
}

TEST(Duration, NearestNanosecond) {
  EXPECT_EQ(parse_duration("1.4ns"), 1u);
  EXPECT_EQ(parse_duration("1.5ns"), 2u);
  EXPECT_EQ(parse_duration("1.4999ns"), 1u);
  EXPECT_EQ(parse_duration("0.3333333333333s"), 333'333'333u);
}

TEST(Duration, WhatIsNone) {
  for (const char* text :
       {"",      "s",  "ms",   "-1",   "-1s", "1 ",   " 1",   "1.s", "1..5s", "1.5.2", "1d",
        "1 000", "1e", "1e99", "0x10", "one", "1ms2", "1,5s", "+1",  "e9",    ".s"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(Duration, SixtyFourBits) {
  EXPECT_EQ(parse_duration("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_duration("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_duration("18446744074s"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999999999h"), std::nullopt);
  EXPECT_EQ(parse_duration("999999999999999999999999999999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_duration("0e20"), 0u);
}

}  // namespace
}  // namespace refrain::base
