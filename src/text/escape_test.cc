#include "text/escape.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace refrain::text {
namespace {

std::string json_of(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, EveryAsciiCharacterSurvivesAParser) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  EXPECT_EQ(nlohmann::json::parse(json_of(all)).get<std::string>(), all);
  EXPECT_EQ(json_of(all).find('\n'), std::string::npos);
}

TEST(JsonText, Utf8PassesThrough) { EXPECT_EQ(json_of("größe"), "\"größe\""); }

TEST(JsonText, KnowsUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("größe €"));
  EXPECT_TRUE(is_utf8("\xf0\x9f\x8e\xb5"));
  EXPECT_FALSE(is_utf8("\xff"));
  EXPECT_FALSE(is_utf8("\xc3"));              // cut off
  EXPECT_FALSE(is_utf8("\xc0\x80"));          // overlong
  EXPECT_FALSE(is_utf8("\xe0\x80\x80"));      // overlong
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // above U+10FFFF
}

TEST(JsonText, PrintableTextStaysInItsLine) {
  EXPECT_EQ(printable("größe €"), "größe €");
  EXPECT_EQ(printable("a\nb\x1b[2Jc\x7f"), "a?b?[2Jc?");
  EXPECT_EQ(printable("\xc2\x9b\xff-\xc3"), std::string(2, '?') + "-?") << "C1 control, no UTF-8";
  EXPECT_EQ(printable(std::string_view("\0", 1)), "?");
}

TEST(JsonText, Hex) {
  std::string out;
  append_hex(out, std::string_view("\x00\xff\x10", 3));
  EXPECT_EQ(out, "00ff10");
}

TEST(CsvField, QuotesOnlyWhereItMust) {
  EXPECT_EQ(csv_field("heat.c:41"), "heat.c:41");
  EXPECT_EQ(csv_field("a,b \"c\""), "\"a,b \"\"c\"\"\"");
}

TEST(Markup, EscapesWhatXmlDoesNotAllow) {
  EXPECT_EQ(escaped("a<b>&\"'\n"), "a&lt;b&gt;&amp;&quot;&#39;\n");
  EXPECT_EQ(escaped(std::string("\0\x1f\x7f\xff", 4)), "????");
  EXPECT_EQ(escaped("\xef\xbf\xbf\xef\xbf\xbe\xc3\xa9"), "??\xc3\xa9");
  EXPECT_EQ(escaped("]]>"), "]]&gt;");
}

}  // namespace
}  // namespace refrain::text
