#include "refrain/trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "format/encode/encode.h"
#include "reader/test_trace.h"
#include "refrain/calls.h"

namespace refrain::reader {
namespace {

TraceBuilder two_groups() {
  TraceBuilder builder(5);
  const uint32_t world = builder.world();
  const uint32_t barrier = builder.signature(ShapeWriter("MPI_Barrier").none().object(world));
  const uint32_t abort =
      builder.signature(ShapeWriter("MPI_Abort").none().object(world).integer(me_plus(100)));
  builder.group({0, 2, 4}, std::vector<uint32_t>(1000, barrier));
  builder.group({1, 3}, {barrier, barrier, abort, barrier});
  return builder;
}

class TraceFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("refrain_trace_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static std::string good_bytes() {
    const Result<std::string> bytes = format::encode(two_groups().data());
    EXPECT_TRUE(bytes.ok()) << bytes.error().to_string();
    return *bytes;
  }
  std::filesystem::path folder_;
};

TEST(Trace, CountsFromTheGrammars) {
  const Trace trace = two_groups().open();
  EXPECT_EQ(trace.rank_count(), 5);
  EXPECT_EQ(trace.call_count(), 3u * 1000 + 2 * 4);
  ASSERT_EQ(trace.locations(3).size(), 1u);
  EXPECT_EQ(trace.locations(3)[0].calls, 4u);
  EXPECT_EQ(trace.locations(3)[0].rank, 3);
  EXPECT_TRUE(trace.locations(5).empty());
  EXPECT_TRUE(trace.locations(-1).empty());
  EXPECT_EQ(trace.group_of(4), GroupId{0});
  EXPECT_EQ(trace.group_of(1), GroupId{1});
  EXPECT_EQ(trace.group_rank(0, 2), 4);
}

TEST(Trace, OccurrencesAreThoseOfAWalk) {
  const Trace trace = two_groups().open();
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    std::vector<uint64_t> walked(trace.signature_count());
    RankReader reader(trace, trace.group_rank(g, 0));
    ASSERT_TRUE(reader
                    .for_each_call(0,
                                   [&](const Call& call) {
                                     ++walked[call.signature->id];
                                     return true;
                                   })
                    .ok());
    std::vector<uint64_t> folded(trace.signature_count());
    for (const Trace::Occurrence& o : trace.occurrences(g)) folded[o.signature] = o.calls;
    EXPECT_EQ(folded, walked);
  }
}

TEST(Trace, ContentThatMakesNoSenseIsRefused) {
  TraceBuilder builder = two_groups();
  builder.data().groups[1].signatures.pop_back();
  EXPECT_FALSE(builder.try_open().ok());
  builder = two_groups();
  builder.data().groups[0].ranks.append(1);
  EXPECT_FALSE(builder.try_open().ok());
}

TEST(Trace, MoreCallsThanCanBeAreRefused) {
  TraceBuilder builder = two_groups();
  builder.data().grammars[0].symbols[0].count = UINT64_MAX / 2;
  const Result<Trace> trace = builder.try_open();
  ASSERT_FALSE(trace.ok());
  EXPECT_NE(trace.error().message.find("more calls"), std::string::npos);
}

TEST_F(TraceFiles, AFileReadsAsItWasWritten) {
  const std::string bytes = good_bytes();
  const Result<Trace> trace = Trace::open(write("a.rfn", bytes));
  ASSERT_TRUE(trace.ok()) << trace.error().to_string();
  EXPECT_EQ(trace->call_count(), 3008u);
  EXPECT_EQ(trace->info().file_bytes, bytes.size());
  EXPECT_EQ(trace->info().text_of("program"), "test");
  EXPECT_EQ(trace->info().text_of("no such key"), "");
  RankReader reader(*trace, 3);
  EXPECT_EQ(reader.signature(1).find("errorcode")->number, 103);
}

TEST_F(TraceFiles, WhatCannotBeReadSaysWhereAndWhy) {
  const std::string bytes = good_bytes();
  const std::vector<std::string> bad = {
      path("missing.rfn"), write("empty.rfn", ""), write("text.rfn", "a program's own output\n"),
      write("short.rfn", std::string_view(bytes).substr(0, bytes.size() / 2)), folder_.string()};
  for (const std::string& file : bad) {
    const Result<Trace> trace = Trace::open(file);
    ASSERT_FALSE(trace.ok()) << file;
    const std::string message = trace.error().to_string();
    EXPECT_NE(message.find(file), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(trace.error().code, ErrorCode::kFailed) << message;
  }
}

TEST_F(TraceFiles, EveryFlippedBitIsNoticed) {
  const std::string bytes = good_bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_FALSE(Trace::from_bytes(damaged, "damaged.rfn").ok()) << "byte " << i;
  }
}

TEST_F(TraceFiles, AnotherMajorVersionIsUnsupported) {
  std::string bytes = good_bytes();
  bytes[8] = 9;
  const Result<Trace> trace = Trace::from_bytes(bytes, "future.rfn");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupported);
}

TEST_F(TraceFiles, AnUnfinishedRunSaysHowToRecover) {
  std::filesystem::create_directories(path("run.rfn.spool"));
  for (const char* name : {"run.rfn.spool", "run.rfn.spool/", "run.rfn"}) {
    const Result<Trace> trace = Trace::open(path(name));
    ASSERT_FALSE(trace.ok());
    EXPECT_NE(trace.error().message.find("refrain recover"), std::string::npos)
        << trace.error().to_string();
  }
}

}  // namespace
}  // namespace refrain::reader
