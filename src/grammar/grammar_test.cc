#include "grammar/grammar.h"

#include <gtest/gtest.h>

#include "grammar/test_sequences.h"

namespace refrain::grammar {
namespace {

using test::repeat;
using test::Sequence;
using test::operator+;  // NOLINT(misc-unused-using-decls): it is used

std::string written(const Grammar& g) {
  base::ByteWriter out;
  write(g, out);
  return out.take();
}

// The same from the plain list of (terminal, count), as one rule.
std::string written_as_list(const Sequence& s) {
  Grammar list;
  for (const Terminal t : s) {
    if (!list.symbols.empty() && list.symbols.back().id == t) {
      ++list.symbols.back().count;
    } else {
      list.symbols.push_back(Symbol{t, false, 1});
    }
  }
  list.rule_end = {static_cast<uint32_t>(list.symbols.size())};
  return written(list);
}

base::Result<Grammar> parse(std::string_view bytes, uint64_t terminal_count) {
  base::ByteReader in(bytes);
  return read(in, Limits{.terminal_count = terminal_count});
}

uint64_t terminal_count(const Sequence& s) {
  return s.empty() ? 0 : uint64_t{*std::max_element(s.begin(), s.end())} + 1;
}

TEST(GrammarBytes, RoundTrip) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    for (const test::Named& kind : test::kinds(seed, 800)) {
      SCOPED_TRACE(kind.name);
      const Grammar g = test::build(kind.sequence);
      const std::string bytes = written(g);
      base::ByteReader in(bytes);
      const auto back = read(in, Limits{.terminal_count = terminal_count(kind.sequence)});
      ASSERT_TRUE(back.ok()) << back.error().to_string();
      EXPECT_EQ(*back, g);
      EXPECT_TRUE(in.at_end());
      // Where there is nothing to find, rules that save a symbol may cost a byte: a third at most.
      const size_t list_bytes = written_as_list(kind.sequence).size();
      EXPECT_LE(bytes.size(), list_bytes + list_bytes / 3 + 8);
    }
  }
}

// A worked example: 0 1 2 3 4 (5 6 7 8 9)^500 10 11.
TEST(GrammarBytes, Example) {
  const Sequence s = Sequence{0, 1, 2, 3, 4} + repeat({5, 6, 7, 8, 9}, 500) + Sequence{10, 11};
  EXPECT_EQ(written(test::build(s)),
            std::string("\x02"          // 2 rules
                        "\x04"          // the start: 4 items
                        "\x12"          // 5 terminals up from 0
                        "\x07\xf2\x03"  // the first rule not seen yet, 498 + 2 times
                        "\x30"          // terminal 4 + 6
                        "\x02"          // 1 up: 11
                        "\x02"          // rule 1: 2 items
                        "\x2c"          // terminal 11 - 6
                        "\x0e",         // 4 up: 6 7 8 9
                        11));
}

TEST(GrammarBytes, Empty) {
  EXPECT_EQ(written(Grammar()), std::string("\x01\x00", 2));
  const auto back = parse(std::string_view("\x01\x00", 2), 0);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, Grammar());
}

TEST(GrammarBytes, AllDifferentTakesNothing) {
  Sequence s(300000);
  for (size_t i = 0; i < s.size(); ++i) s[i] = static_cast<Terminal>(i);
  EXPECT_LE(written(test::build(s)).size(), 8u);
}

// Not written by a Builder: ascents that would go beyond their bound are written otherwise.
TEST(GrammarBytes, ManyEqualAscents) {
  Grammar g;
  for (int k = 0; k < 50; ++k)
    for (uint32_t t = 0; t < 10; ++t) g.symbols.push_back(Symbol{t, false, 1});
  g.rule_end = {static_cast<uint32_t>(g.symbols.size())};
  const auto back = parse(written(g), 10);
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_EQ(*back, g);
}

// The second one is not looked through again at each of its symbols.
TEST(GrammarBytes, TwoLongAscents) {
  constexpr uint32_t kLong = 500000;
  Grammar g;
  for (int k = 0; k < 2; ++k)
    for (uint32_t t = 0; t < kLong; ++t) g.symbols.push_back(Symbol{t, false, 1});
  g.rule_end = {static_cast<uint32_t>(g.symbols.size())};
  const auto back = parse(written(g), kLong);
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_EQ(*back, g);
}

TEST(GrammarBytes, Refused) {
  const auto refuse = [](std::initializer_list<uint8_t> bytes, const char* message) {
    const std::string s(bytes.begin(), bytes.end());
    const auto result = parse(s, 100);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find(message), std::string::npos)
        << result.error().to_string();
    EXPECT_NE(result.error().place.find("offset"), std::string::npos);
  };
  refuse({}, "damaged");
  refuse({0}, "damaged");                             // no rule at all
  refuse({0xff, 0xff, 0xff, 0xff, 0x0f}, "damaged");  // more rules than bytes
  refuse({1, 50}, "damaged");                         // more items than bytes
  refuse({1, 1, 0xfe, 0xff, 0xff, 0x0f}, "damaged");  // an ascent beyond every terminal
  refuse({1, 1, 0xa8, 0x06}, "terminal");             // terminal 100 of 100
  refuse({2, 1, 0x08, 0}, "empty");                   // rule 1 has no symbols
  refuse({2, 1, 0x08, 1, 0x08}, "not used");          // rule 1 is nowhere
  refuse({1, 1, 0x01}, "refers");                     // rule 1 of 1
  refuse({2, 1, 0x01, 1, 0x05}, "refers");            // rule 1 uses itself
  // 2^40 times 2^40
  refuse(
      {2, 1, 0x07, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x1f, 1, 0x13, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x1f},
      "too many");
}

TEST(GrammarBytes, LengthLimit) {
  const std::string bytes = written(test::build(repeat({0, 1}, 50)));
  base::ByteReader in(bytes);
  EXPECT_FALSE(read(in, Limits{.terminal_count = 2, .max_length = 99}).ok());
  base::ByteReader again(bytes);
  EXPECT_TRUE(read(again, Limits{.terminal_count = 2, .max_length = 100}).ok());
}

// Damaged bytes give an error or another valid grammar, within the limits.
TEST(GrammarBytes, Mutations) {
  std::mt19937 random(11);
  uint64_t refused = 0;
  uint64_t accepted = 0;
  for (uint32_t seed = 30; seed < 34; ++seed) {
    for (const test::Named& kind : test::kinds(seed, 300)) {
      const uint64_t terminals = std::min<uint64_t>(terminal_count(kind.sequence), 1000);
      const std::string bytes = written(test::build(kind.sequence));
      for (int i = 0; i < 300; ++i) {
        std::string bad = bytes;
        for (size_t flips = 1 + random() % 4; flips > 0; --flips)
          bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
        if (random() % 4 == 0) bad.resize(random() % bad.size());
        const auto result = parse(bad, terminals);
        if (!result.ok()) {
          ++refused;
          continue;
        }
        ++accepted;
        EXPECT_TRUE(validate(*result, Limits{.terminal_count = terminals}).ok());
        EXPECT_LE(result->symbols.size(), bad.size() + terminals);
        EXPECT_TRUE(parse(written(*result), terminals).ok());
      }
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(accepted, 100u);
}

TEST(GrammarBytes, EveryTruncationIsRefused) {
  const std::string bytes = written(test::build(repeat(repeat({0, 1, 2}, 3) + Sequence{4}, 20)));
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(parse(bytes.substr(0, n), 5).ok()) << n;
}

TEST(GrammarHash, FollowsEquality) {
  const Grammar a = test::build(repeat({1, 2, 3}, 9));
  EXPECT_EQ(hash(a), hash(test::build(repeat({1, 2, 3}, 9))));
  EXPECT_NE(hash(a), hash(test::build(repeat({1, 2, 3}, 10))));
  EXPECT_NE(hash(a), hash(test::build(repeat({1, 2, 4}, 9))));
}

}  // namespace
}  // namespace refrain::grammar
