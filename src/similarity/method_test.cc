#include "similarity/method.h"

#include <gtest/gtest.h>

namespace refrain::similarity {
namespace {

TEST(Method, DefaultsAreThoseThatTheThesisFoundBest) {
  EXPECT_EQ(default_spec(Method::kRelDiff), (MethodSpec{Method::kRelDiff, 0.8, 0.8}));
  EXPECT_EQ(default_spec(Method::kAbsDiff), (MethodSpec{Method::kAbsDiff, 1e6, 1e7}));  // in ns
  EXPECT_EQ(default_spec(Method::kManhattan), (MethodSpec{Method::kManhattan, 0.4, 0.4}));
  for (const Method m :
       {Method::kEuclidean, Method::kChebyshev, Method::kAvgWave, Method::kHaarWave})
    EXPECT_EQ(default_spec(m), (MethodSpec{m, 0.2, 0.4}));
  EXPECT_EQ(default_spec(Method::kIterK).threshold, 10);
  EXPECT_FALSE(default_spec(Method::kIterK).matches_between_processes());
  EXPECT_FALSE(default_spec(Method::kIterAvg).matches_between_processes());
}

TEST(Method, NamesWithoutThresholdGiveTheDefault) {
  for (int i = 0; i < kMethodCount; ++i) {
    const Method m = static_cast<Method>(i);
    const auto spec = parse_method(method_name(m));
    ASSERT_TRUE(spec.ok()) << method_name(m);
    EXPECT_EQ(spec->keeps_trends, m == Method::kAuto);
    const auto again = parse_method(to_text(*spec));
    ASSERT_TRUE(again.ok()) << to_text(*spec);
    EXPECT_EQ(*again, default_spec(m));
    EXPECT_EQ(spec->threshold, again->threshold);
    EXPECT_EQ(spec->inter_threshold, again->inter_threshold);
  }
}

TEST(Method, ThresholdsAreRead) {
  EXPECT_EQ(parse_method("AVGWAVE:0.25")->threshold, 0.25);
  EXPECT_EQ(parse_method("avgWave:0.25")->inter_threshold, 0.4);
  EXPECT_EQ(parse_method("avgWave:0.25:0.5")->inter_threshold, 0.5);
  EXPECT_EQ(parse_method("absDiff:1000")->threshold, 1e6);
  EXPECT_EQ(parse_method("absDiff:1000ns")->threshold, 1000);
  EXPECT_EQ(parse_method("absDiff:20us:3ms")->inter_threshold, 3e6);
  EXPECT_EQ(parse_method("iter_k:3")->threshold, 3);
  EXPECT_EQ(to_text(*parse_method("absDiff:20us:3ms")), "absDiff:20:3000");
  EXPECT_EQ(to_text(*parse_method("iter_k:3")), "iter_k:3");
  EXPECT_EQ(to_text(*parse_method("iter_avg")), "iter_avg");
}

TEST(Method, WhatMakesNoSenseIsAnErrorThatSaysWhatWould) {
  struct Case {
    const char* text;
    const char* part;
  };
  const Case cases[] = {
      {"", "unknown method ''"},
      {"wave", "known: relDiff, absDiff"},
      {"relDiff:", "threshold '' makes no sense for relDiff"},
      {"relDiff:1.5", "from 0 to 1"},
      {"relDiff:nan", "from 0 to 1"},
      {"relDiff:-0.1", "from 0 to 1"},
      {"Euclidean:inf", "from 0 to 1000"},
      {"Chebyshev:2", "everything matches"},
      {"absDiff:-5", "microseconds"},
      {"absDiff:5 apples", "microseconds"},
      {"iter_k:0", "whole number"},
      {"iter_k:2.5", "whole number"},
      {"iter_k:3:4", "does not match between processes"},
      {"iter_avg:3", "it has no threshold"},
      {"avgWave:0.2:x", "threshold 'x'"},
      {"avgWave:0.2:0.3:0.4", "threshold '0.3:0.4'"},
      {"auto:0", "above 0 and below 1"},
  };
  for (const Case& c : cases) {
    const auto spec = parse_method(c.text);
    ASSERT_FALSE(spec.ok()) << c.text;
    EXPECT_EQ(spec.error().code, base::ErrorCode::kUsage);
    EXPECT_NE(spec.error().message.find(c.part), std::string::npos) << spec.error().message;
  }
  EXPECT_FALSE(check_spec({Method::kIterK, 2, 1}).ok());
  EXPECT_TRUE(check_spec({Method::kIterK, 2, 0}).ok());
}

}  // namespace
}  // namespace refrain::similarity
