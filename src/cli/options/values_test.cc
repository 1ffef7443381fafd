#include "cli/options/values.h"

#include <gtest/gtest.h>

#include <string>

namespace refrain::cli {
namespace {

// What the check says of `text`; empty: nothing is wrong with it.
std::string said(const ValueCheck& check, std::string text) { return check.check(text); }

// What `text` becomes.
std::string taken(const ValueCheck& check, std::string text) {
  const std::string wrong = check.check(text);
  return wrong.empty() ? text : "wrong: " + wrong;
}

TEST(Values, Words) {
  const auto check = one_of({"text", "json", "csv"});
  EXPECT_EQ(said(check, "json"), "");
  EXPECT_EQ(said(check, "yaml"), "'yaml' is none of text, json, csv");
  EXPECT_EQ(said(check, "jsno"), "'jsno' is none of text, json, csv; did you mean 'json'?");
  EXPECT_EQ(check.range, "{text,json,csv}");
}

TEST(Values, WholeNumbers) {
  EXPECT_EQ(said(whole_number(), "0"), "");
  EXPECT_EQ(said(whole_number(), "18446744073709551615"), "");
  EXPECT_EQ(said(whole_number(), "-3"), "'-3' is not a whole number from 0 up");
  for (const char* text : {"", "1.5", "1e3", "ten", "3 ", "0x3", "18446744073709551616"})
    EXPECT_EQ(said(whole_number(), text),
              "'" + std::string(text) + "' is not a whole number from 0 up");
  EXPECT_EQ(said(whole_number(0, 32), "33"), "'33' is not a whole number from 0 to 32");
  EXPECT_EQ(whole_number(0, 32).range, "in [0 - 32]");
  EXPECT_EQ(whole_number().range, "");
}

TEST(Values, Ranks) {
  EXPECT_EQ(said(rank_number(), "4095"), "");
  EXPECT_EQ(said(rank_number(), "-1"), "");  // no rank of any trace, which is said there
  EXPECT_EQ(said(rank_number(), "first"), "'first' is not the number of a rank, such as 0");
}

TEST(Values, RealNumbers) {
  EXPECT_EQ(said(real_number(0, 1), "0.25"), "");
  EXPECT_EQ(said(real_number(0, 1), "1e-3"), "");
  for (const char* text : {"", "1.01", "-0.1", "nan", "inf", "0x1p-1", "25%"})
    EXPECT_EQ(said(real_number(0, 1), text),
              "'" + std::string(text) + "' is not a number from 0 to 1");
  EXPECT_EQ(said(positive_number(), "2.5e9"), "");
  EXPECT_EQ(said(positive_number(), "0"), "'0' is not a number above 0");
}

TEST(Values, Times) {
  EXPECT_EQ(taken(time_with_unit(), "1s"), "1000000000");
  EXPECT_EQ(taken(time_with_unit(), "20ms"), "20000000");
  EXPECT_EQ(taken(time_with_unit(), "1200000"), "1200000");
  for (const char* text : {"-5", "1 day", "soon"})
    EXPECT_EQ(said(time_with_unit(), text),
              "'" + std::string(text) +
                  "' is not a time from 0 up: nanoseconds, or with a unit (ns, us, ms, s, min, h), "
                  "as in 20ms");
  EXPECT_EQ(taken(time_with_unit(0, 65535), "2us"), "2000");
  EXPECT_NE(said(time_with_unit(0, 65000), "1ms").find("from 0 to 65us"), std::string::npos);
}

TEST(Values, Seconds) {
  const auto check = seconds_with_unit(0.001, 1e9);
  EXPECT_EQ(taken(check, "60"), "60");
  EXPECT_EQ(taken(check, "1min"), "60");
  EXPECT_EQ(taken(check, "500ms"), "0.5");
  EXPECT_EQ(taken(check, "0"), "0");
  EXPECT_NE(said(check, "1us").find("'1us' is not a time from 0.001 to 1e+09 seconds"),
            std::string::npos);
  EXPECT_NE(said(check, "-1").find("'-1' is not a time"), std::string::npos);
}

TEST(Values, Sizes) {
  EXPECT_EQ(taken(mebibytes_with_unit(1, 1 << 20), "256"), "256");
  EXPECT_EQ(taken(mebibytes_with_unit(1, 1 << 20), "256M"), "256");
  EXPECT_EQ(taken(mebibytes_with_unit(1, 1 << 20), "2G"), "2048");
  for (const char* text : {"0", "-1", "1K", "2T", "much"})
    EXPECT_EQ(said(mebibytes_with_unit(1, 1 << 20), text),
              "'" + std::string(text) +
                  "' is not a whole number of MiB from 1 to 1048576, or as in 512M, 2G");
  EXPECT_EQ(taken(bytes_with_unit(4096, uint64_t{1} << 40), "64K"), "65536");
  EXPECT_EQ(said(bytes_with_unit(4096, uint64_t{1} << 40), "12"),
            "'12' is not a size from 4K to 1T: bytes, or with a unit (K, M, G, T), as in 64K");
}

}  // namespace
}  // namespace refrain::cli
