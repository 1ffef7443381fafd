#include "analysis/diff/threshold.h"

#include <gtest/gtest.h>

#include "analysis/diff/test_runs.h"

namespace refrain::analysis::diff {
namespace {

Threshold parsed(std::string_view text) {
  const auto out = parse_threshold(text);
  EXPECT_TRUE(out.ok()) << text;
  return out.ok() ? *out : Threshold{};
}

TEST(Threshold, WhatIsUnderstood) {
  EXPECT_EQ(parsed("bytes>+5%").limit, 0.05);
  EXPECT_TRUE(parsed("bytes>5%").is_relative);
  EXPECT_EQ(parsed("bytes>64K").limit, 65536);
  EXPECT_EQ(parsed("bytes > 1.5MiB").limit, 1.5 * 1024 * 1024);
  EXPECT_EQ(parsed("calls<3").limit, -3);
  EXPECT_EQ(parsed("calls<-3").limit, -3);
  EXPECT_EQ(parsed("time>-10%").limit, -0.1);
  EXPECT_EQ(parsed("time>20ms").limit, 2e7);
  EXPECT_EQ(parsed("messages<>0").op, Threshold::Op::kBeyond);
  EXPECT_EQ(parsed("time@solve<double>@heat.c:41>1s").where,
            (std::vector<std::string>{"solve<double>", "heat.c:41"}));
}

TEST(Threshold, WhatIsNotUnderstoodSaysWhatIs) {
  for (const char* text :
       {"", ">", "bytes", "bytes>", "byte>5", "bytes>x", "bytes>5q", "bytes>+-5", "calls>5K",
        "time>5K", "bytes>5%%", "bytes@>5", "bytes@MPI_Foo>5", "ranks@MPI_Send>0", "calls<>-5",
        "bytes>nan", "bytes>inf", "bytes>1e400", "bytes>0x10"}) {
    const auto out = parse_threshold(text);
    ASSERT_FALSE(out.ok()) << text;
    EXPECT_EQ(out.error().code, base::ErrorCode::kUsage);
    EXPECT_NE(out.error().message.find("changed_partners"), std::string::npos);
  }
}

class Judged : public testing::Test {
 protected:
  // 10 calls of MPI_Send of 80 bytes become 11 with 96 on each of 4 ranks.
  Judged() {
    const auto run = [](size_t calls, int64_t count) {
      MadeRun r(4);
      r.program(
          joined(repeat({r.send(0x10, me_plus_mod_size(1), count)}, calls), {r.barrier(0x20)}));
      return r.open();
    };
    reader::Symbols symbols;
    diff_ = diff(run(10, 10), run(11, 12), symbols, {});
  }
  bool crosses(std::string_view text) {
    const auto verdict =
        judge(diff_, parsed(text), [](const CallChange& call, const std::string& s) {
          return s == "there" && mpi::find_call(call.call)->name == "MPI_Send";
        });
    EXPECT_TRUE(verdict.ok()) << text;
    return verdict.ok() && verdict->is_crossed;
  }
  Diff diff_;
};

TEST_F(Judged, BothWays) {
  EXPECT_TRUE(crosses("calls>0"));
  EXPECT_TRUE(crosses("calls>3"));
  EXPECT_FALSE(crosses("calls>4"));
  EXPECT_TRUE(crosses("calls@MPI_Send>9.9%"));
  EXPECT_FALSE(crosses("calls@MPI_Send>10%"));
  EXPECT_TRUE(crosses("calls<>3"));
  EXPECT_FALSE(crosses("calls<0"));
  EXPECT_FALSE(crosses("calls<+4"));
  EXPECT_TRUE(crosses("calls<+5"));
  EXPECT_TRUE(crosses("bytes@there>31%"));
  EXPECT_FALSE(crosses("bytes@there>32%"));
  EXPECT_FALSE(crosses("calls@MPI_Alltoall<>0"));
  EXPECT_TRUE(crosses("new_signatures>1"));
  EXPECT_FALSE(crosses("new_signatures>2"));
  EXPECT_TRUE(crosses("vanished_signatures>1"));
  EXPECT_FALSE(crosses("signatures<>0"));
  EXPECT_TRUE(crosses("changed_partners>3"));
  EXPECT_FALSE(crosses("new_partners>0"));
  EXPECT_TRUE(crosses("changed_paths>0"));
  EXPECT_FALSE(crosses("ranks<>0"));
  EXPECT_TRUE(crosses("changed_loops>0"));
}

TEST_F(Judged, NothingThereIsAnError) {
  const auto nowhere = [](const CallChange&, const std::string&) { return false; };
  const auto verdict = judge(diff_, parsed("calls@nowhere>0"), nowhere);
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().code, base::ErrorCode::kUsage);
  EXPECT_FALSE(judge(diff_, parsed("calls@MPI_Send@nowhere>0"), nowhere).ok());
  const auto waits = judge(diff_, parsed("waits>0"), nowhere);
  ASSERT_FALSE(waits.ok());
  EXPECT_EQ(waits.error().code, base::ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace refrain::analysis::diff
