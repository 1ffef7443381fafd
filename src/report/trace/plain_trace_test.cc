#include "report/trace/plain_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace refrain::report {
namespace {

constexpr const char* kText =
    "buffer=1572864 write=1 bytes=3000 flushes=3 write_ns=77 ranks=1000:1:7 2000:2:70";

TEST(PlainTrace, IsUnderstood) {
  const auto p = parse_plain_trace(kText);
  ASSERT_TRUE(p.has_value());
  EXPECT_EQ(p->ranks.size(), 2u);
  const auto json = plain_trace_json(*p);
  EXPECT_EQ(json["buffer_bytes"], 1572864);
  EXPECT_EQ(json["flushes"], 3);
  EXPECT_EQ(json["by_rank"][1]["rank"], 1);
  EXPECT_EQ(json["by_rank"][1]["bytes"], 2000);
  EXPECT_EQ(json["by_rank"][1]["write_ns"], 70);
  EXPECT_EQ(
      plain_trace_text(*p),
      "3 000 bytes, flushes of buffers of 1.50 MiB: 3; writing took 77 ns in all, up to 70 ns "
      "(rank 1)");
}

TEST(PlainTrace, OfVeryManyRanksHasTheSum) {
  const auto p =
      parse_plain_trace("buffer=8388608 write=0 bytes=9223372036854775808 flushes=3 write_ns=77");
  ASSERT_TRUE(p.has_value());
  EXPECT_TRUE(p->ranks.empty());
  EXPECT_FALSE(p->write);
  EXPECT_EQ(plain_trace_text(*p),
            "9 223 372 036 854 775 808 bytes, flushes of buffers of 8.00 MiB: 3, thrown away");
}

// A trace may say anything.
TEST(PlainTrace, OfOtherWordsIsNone) {
  const std::string text = kText;
  for (size_t n = 0; n < text.size(); ++n) {
    const auto p = parse_plain_trace(text.substr(0, n));
    // What ends behind a number is a shorter text of the kind.
    const bool ends_well = n > 0 && text.substr(0, n).find("write_ns=7") != std::string::npos &&
                           text[n - 1] >= '0' && text[n - 1] <= '9';
    EXPECT_TRUE(!p.has_value() || ends_well) << text.substr(0, n);
  }
  for (const char* bad : {"buffer=-1 write=1 bytes=1 flushes=1 write_ns=1", "anything",
                          "buffer=1 write=1 bytes=99999999999999999999999 flushes=1 write_ns=1",
                          "buffer=1 write=1 bytes=1 flushes=1 write_ns=1 ranks=1:2:3 4:5:6 more"})
    EXPECT_FALSE(parse_plain_trace(bad).has_value()) << bad;
}

}  // namespace
}  // namespace refrain::report
