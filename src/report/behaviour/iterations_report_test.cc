#include "report/behaviour/iterations_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reader/test_trace.h"

namespace refrain::report {
namespace {

using analysis::IterationLoop;
using analysis::Iterations;

class IterationsReport : public testing::Test {
 protected:
  IterationsReport() : trace_(trace()) {
    IterationLoop steps, none;
    steps.name = "a \"step\"\nof two lines";
    for (uint64_t i = 0; i < 3; ++i) {
      analysis::IterationRow& row = steps.rows.emplace_back();
      row.number = i;
      row.begin_ns = 100 * i;
      row.longest_ns = 10 * i;
    }
    steps.outliers = {2};
    none.name = "loop_2";
    iterations_.loops = {steps, none};
    iterations_.polling_rounds = 58'027;
  }
  static Trace trace() {
    reader::TraceBuilder builder(2);
    reader::ShapeWriter barrier("MPI_Barrier");
    barrier.object(builder.site("/no/such/app", "", 0x100)).object(builder.world());
    builder.group({0, 1}, {builder.signature(barrier)});
    return builder.open();
  }
  IterationsView view(bool behaviours = false) {
    return {trace_, iterations_, symbols_, behaviours, 20};
  }

  Trace trace_;
  Iterations iterations_;
  reader::Symbols symbols_;
};

// It is written in pieces, and looks as if it were written at once.
TEST_F(IterationsReport, JsonIsWellFormed) {
  using Json = nlohmann::ordered_json;
  for (const bool behaviours : {false, true}) {
    const std::string text = iterations_json(view(behaviours));
    const Json json = Json::parse(text, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << text;
    EXPECT_EQ(json.dump(2) + "\n", text);
    EXPECT_EQ(json.contains("behaviours"), behaviours);
    ASSERT_EQ(json["loops"].size(), 2U);
    EXPECT_EQ(json["loops"][0]["name"], iterations_.loops[0].name);
    ASSERT_EQ(json["loops"][0]["rows"].size(), 3U);
    EXPECT_EQ(json["loops"][0]["rows"][2]["begin_ns"], 200);
    EXPECT_EQ(json["loops"][1]["rows"], Json::array());
    EXPECT_EQ(json["polling_rounds"], 58'027);
  }
  iterations_.loops.clear();
  const std::string text = iterations_json(view());
  EXPECT_EQ(Json::parse(text).dump(2) + "\n", text);
}

TEST_F(IterationsReport, TextTellsWhatIsLeftOut) {
  EXPECT_NE(iterations_text(view()).find("\n58 027 rounds of loops that only ask in vain (MPI_Test "
                                         "and similar), in no iteration\n"),
            std::string::npos)
      << iterations_text(view());
  iterations_.polling_rounds = 0;
  EXPECT_EQ(iterations_text(view()).find("in vain"), std::string::npos);
}

}  // namespace
}  // namespace refrain::report
