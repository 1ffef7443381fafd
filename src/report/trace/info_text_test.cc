#include "report/trace/info_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reader/internal.h"
#include "reader/test_trace.h"
#include "report/trace/stats_text.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

using reader::ShapeWriter;
using reader::TraceBuilder;

TraceBuilder sample() {
  TraceBuilder builder(4);
  const uint32_t world = builder.world();
  const uint32_t barrier = builder.signature(ShapeWriter("MPI_Barrier").none().object(world));
  builder.group({0, 1, 3}, std::vector<uint32_t>(500, barrier));
  builder.data().meta.complete = false;
  builder.data().losses.push_back({"rank_missing", 0, 2, "killed"});
  return builder;
}

TEST(InfoText, JsonHasWhatScriptsRelyOn) {
  const nlohmann::json info = nlohmann::json::parse(info_json(sample().open()));
  EXPECT_EQ(info["mpi"], "MPICH");
  EXPECT_EQ(info["ranks"], 4);
  EXPECT_EQ(info["calls"], 1500);
  EXPECT_EQ(info["complete"], false);
  EXPECT_EQ(info["signatures"], 1);
  EXPECT_EQ(info["rules"], 1);
  EXPECT_TRUE(info.contains("file_bytes"));
  ASSERT_EQ(info["losses"].size(), 1u);
  EXPECT_EQ(info["losses"][0]["reason"], "rank_missing");
  EXPECT_EQ(info["losses"][0]["rank"], 2);
  EXPECT_FALSE(info["losses"][0].contains("calls")) << "unknown";
  ASSERT_EQ(info["groups"].size(), 1u);
  EXPECT_EQ(info["groups"][0]["ranks"], "0-1, 3");
  EXPECT_EQ(info["groups"][0]["calls_per_rank"], 500);
}

TEST(InfoText, TextNamesWhatIsMissing) {
  const std::string text = info_text(sample().open());
  EXPECT_NE(text.find("NO"), std::string::npos) << text;
  EXPECT_NE(text.find("rank_missing, rank 2: killed"), std::string::npos) << text;
  EXPECT_NE(text.find("1 500"), std::string::npos) << text;
}

TEST(InfoText, SaysWhatRecordingCost) {
  TraceBuilder builder = sample();
  EXPECT_FALSE(nlohmann::json::parse(info_json(builder.open())).contains("recorder_cost"));
  builder.data().cost.add(0, {100'000, 2'000'000});
  builder.data().cost.add(1, {300'000, 1'000'000});
  const Trace trace = builder.open();
  const nlohmann::json cost = nlohmann::json::parse(info_json(trace))["recorder_cost"];
  EXPECT_EQ(cost["ranks"], 2);
  EXPECT_NEAR(cost["memory_bytes"]["mean"], 200'000, 200);
  EXPECT_EQ(cost["memory_bytes"]["greatest_rank"], 1);
  EXPECT_TRUE(cost["by_rank"].empty()) << "as in files of version 1.1";
  EXPECT_EQ(cost["time_ns"]["greatest_rank"], 0);
  EXPECT_NEAR(cost["time_ns"]["least"], 1'000'000, 1000);
  EXPECT_NE(info_text(trace).find("1.5 ms (up to 2 ms, rank 0) and 195 KiB"), std::string::npos)
      << info_text(trace);
}

TEST(InfoText, SaysWhatRecordingCostEachRank) {
  TraceBuilder builder = sample();
  std::vector<format::RankTotals>& totals = builder.data().totals;
  totals[0].cost = {100'000, 2'000'000};
  totals[3].cost = {300'000, 1'000'000};
  builder.data().cost = format::cost_of(totals);
  const nlohmann::json cost = nlohmann::json::parse(info_json(builder.open()))["recorder_cost"];
  EXPECT_EQ(cost["ranks"], 2);
  EXPECT_EQ(cost["memory_bytes"]["greatest_rank"], 3);
  ASSERT_EQ(cost["by_rank"].size(), 2u) << cost;
  EXPECT_EQ(cost["by_rank"][1]["rank"], 3);
  EXPECT_NEAR(cost["by_rank"][1]["memory_bytes"], 300'000, 150);
  EXPECT_NEAR(cost["by_rank"][0]["time_ns"], 2'000'000, 1000);
}

TEST(StatsText, APlainListHasEveryCall) {
  const Trace trace = sample().open();
  const TraceStats stats = count_stats(trace);
  const auto barrier = reader::data_of(trace).signatures[0];
  EXPECT_EQ(stats.plain_list_bytes,
            1500.0 * static_cast<double>(barrier.shape.size() + barrier.slots.size()));
  EXPECT_EQ(stats.symbols, 1u);
  const nlohmann::json json = nlohmann::json::parse(stats_json(stats));
  EXPECT_EQ(json["calls"], 1500);
  const std::string text = stats_text(stats);
  EXPECT_NE(
      text.find("at least " + text::count_text(text::rounded(stats.plain_list_bytes)) + " bytes, "),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("e+"), std::string::npos) << text;
}

}  // namespace
}  // namespace refrain::report
