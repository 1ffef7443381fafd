#include "report/matrix_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace refrain::report {
namespace {

analysis::Matrix ring(Rank ranks) {
  analysis::Matrix m;
  m.rank_count = ranks;
  for (Rank r = 0; r < ranks; ++r) m.entries.push_back({r, (r + 1) % ranks, 3, 120});
  m.messages = 3 * static_cast<uint64_t>(ranks);
  m.bytes = 120 * static_cast<uint64_t>(ranks);
  m.kind = analysis::MatrixKind::kP2p;
  return m;
}

TEST(MatrixReport, CsvHasTheAgreedColumns) {
  EXPECT_EQ(matrix_csv(ring(2)), "source,dest,messages,bytes\n0,1,3,120\n1,0,3,120\n");
}

TEST(MatrixReport, JsonListsThePairs) {
  const auto json = nlohmann::json::parse(matrix_json(ring(3)));
  EXPECT_EQ(json["ranks"], 3);
  ASSERT_EQ(json["pairs"].size(), 3U);
  EXPECT_EQ(json["pairs"][2]["source"], 2);
  EXPECT_EQ(json["pairs"][2]["dest"], 0);
  EXPECT_EQ(json["bytes"], 360);
}

TEST(MatrixReport, FewRanksGetATable) {
  const std::string text = matrix_text(ring(2), "run.rfn");
  EXPECT_NE(text.find("  from\\to  0  1\n        0  -  3\n        1  3  -\n"), std::string::npos)
      << text;
}

TEST(MatrixReport, ManyRanksGetAPicture) {
  const std::string text = matrix_text(ring(200), "run.rfn");
  EXPECT_NE(text.find("4 ranks a character"), std::string::npos);
  // 50 blocks of 4 ranks: within each, and one message from each to the next.
  EXPECT_EQ(std::count(text.begin(), text.end(), '|'), 100);
  EXPECT_NE(text.find("      0 |@"), std::string::npos) << text;
  EXPECT_NE(text.find("Heaviest pairs"), std::string::npos);
  for (size_t at = 0; at < text.size();) {  // no line is wider than a terminal
    const size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 100U);
    at = end + 1;
  }
}

TEST(MatrixReport, OneSidedTransfersAreNoMessages) {
  analysis::Matrix m = ring(2);
  EXPECT_NE(matrix_text(m, "run.rfn").find("6 messages, "), std::string::npos);
  EXPECT_NE(matrix_text(m, "run.rfn").find("\nMessages\n"), std::string::npos);
  m.kind = analysis::MatrixKind::kRma;
  EXPECT_NE(matrix_text(m, "run.rfn").find("6 one-sided transfers, "), std::string::npos);
  EXPECT_NE(matrix_text(m, "run.rfn").find("\nOne-sided transfers\n"), std::string::npos);
  m.kind = analysis::MatrixKind::kAll;
  EXPECT_NE(matrix_text(m, "run.rfn").find("6 transfers, "), std::string::npos);
}

TEST(MatrixReport, SaysWhatIsNotThere) {
  analysis::Matrix m;
  m.rank_count = 4;
  m.other_world_messages = 7;
  m.kind = analysis::MatrixKind::kP2p;
  const std::string text = matrix_text(m, "run.rfn");
  EXPECT_NE(text.find("0 messages"), std::string::npos);
  EXPECT_NE(text.find("7 messages with processes of another world"), std::string::npos);
  EXPECT_EQ(text.find("not shown: see"), std::string::npos);
  EXPECT_EQ(text.find("collectives"), std::string::npos);
  m.collective_calls = 400;
  EXPECT_NE(matrix_text(m, "run.rfn").find("\n400 calls of collectives carry data"),
            std::string::npos);
  m.other_kind_messages = 5;
  EXPECT_NE(matrix_text(m, "run.rfn").find("5 one-sided transfers, not shown: see --kind rma\n"),
            std::string::npos);
  m.kind = analysis::MatrixKind::kRma;
  EXPECT_NE(matrix_text(m, "run.rfn").find("5 messages, not shown: see --kind p2p\n"),
            std::string::npos);
}

}  // namespace
}  // namespace refrain::report
