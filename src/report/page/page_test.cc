// What the page is told, on traces made by hand.

#include "report/page/page.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/timeline.h"
#include "reader/test_trace.h"
#include "report/page/graph_layout.h"
#include "report/page/index_page.h"

namespace refrain::report {
namespace {

using reader::me_plus_mod_size;
using reader::ShapeWriter;
using reader::TraceBuilder;

// A ring of four ranks that send 8 bytes to the next, three times.
TraceBuilder ring(bool with_times) {
  TraceBuilder builder(4);
  const uint32_t world = builder.world();
  const uint32_t type = builder.predefined_type("MPI_DOUBLE", 8);
  ShapeWriter send("MPI_Send"), receive("MPI_Recv");
  send.none()
      .heap(0, 0)
      .integer(1)
      .object(type)
      .integer(me_plus_mod_size(1))
      .integer(7)
      .object(world);
  receive.none()
      .heap(0, 0)
      .integer(1)
      .object(type)
      .integer(me_plus_mod_size(-1))
      .integer(7)
      .object(world)
      .none();
  const uint32_t sending = builder.signature(send), receiving = builder.signature(receive);
  builder.group({0, 1, 2, 3}, {sending, receiving, sending, receiving, sending, receiving});
  for (const uint32_t id : {sending, receiving}) {
    builder.data().durations[id].min_ns = builder.data().durations[id].max_ns = 100;
    builder.data().durations[id].sum_ns = 1200;
    builder.data().durations[id].histogram.add(6, 12);
  }
  for (format::RankTotals& totals : builder.data().totals) totals = {600, 900, {}};
  if (with_times)
    for (uint64_t rank = 0; rank < 4; ++rank)
      builder.times(rank,
                    {{0, 100}, {200, 300}, {500, 600}, {700, 800}, {1000, 1100}, {1400, 1500}});
  return builder;
}

PageData page_of(const Trace& trace) {
  const PageOptions options;
  reader::Symbols symbols;
  return page_data(trace, symbols, options);
}

TEST(Page, KnowsWhoSendsWhat) {
  const Trace trace = ring(false).open();
  const PageData page = page_of(trace);
  const auto lists = page.columns.lists();
  EXPECT_EQ(lists["matrix.source"], nlohmann::ordered_json({0, 1, 2, 3}));
  EXPECT_EQ(lists["matrix.dest"], nlohmann::ordered_json({1, 2, 3, 0}));
  EXPECT_EQ(lists["matrix.bytes"], nlohmann::ordered_json({24, 24, 24, 24}));
  // Three sends of the one and three receives of the other, 100 ns each.
  EXPECT_EQ(lists["matrix.ns"], nlohmann::ordered_json({600, 600, 600, 600}));
  const auto& detail = page.json["timeline"]["groups"][0]["details"][0];
  EXPECT_EQ(detail["send"][1], nlohmann::ordered_json::parse("[[1,1,3],[0,0,1]]"));
  EXPECT_FALSE(page.json["timeline"]["has_times"].get<bool>());
  EXPECT_EQ(lists["row.end"], nlohmann::ordered_json({1500, 1500, 1500, 1500}));
}

TEST(Page, EveryTimeIsThere) {
  const Trace trace = ring(true).open();
  const PageData page = page_of(trace);
  const auto lists = page.columns.lists();
  EXPECT_EQ(lists["row.anchors"], nlohmann::ordered_json({6, 6, 6, 6}));
  EXPECT_EQ(lists["anchor.begin"][8], 500);
  EXPECT_EQ(lists["anchor.length"][8], 100);
  EXPECT_TRUE(page.json["timeline"]["is_whole"].get<bool>());
  EXPECT_FALSE(page.json["waits"].is_null());
}

TEST(Page, TitleIsText) {
  const std::string html = page_html(page_of(ring(false).open()), "</title><script>&\x01");
  EXPECT_NE(html.find("<title>&lt;/title&gt;&lt;script&gt;&amp;?</title>"), std::string::npos);
}

TEST(Timeline, KeepsTheLongestCalls) {
  const Trace trace = ring(true).open();
  analysis::TimelineOptions options;
  options.most_anchors = 12;  // of 24
  const analysis::Timeline t = analysis::timeline(trace, options);
  EXPECT_FALSE(t.is_whole);
  uint64_t anchors = 0;
  for (const analysis::TimelineRow& row : t.rows) {
    anchors += row.anchors.size();
    ASSERT_GE(row.anchors.size(), 2u);
    // First and last always; and what came after the longest time without a call.
    EXPECT_EQ(row.anchors.front().seq, 0u);
    EXPECT_EQ(row.anchors.back().seq, 5u);
    for (size_t i = 1; i < row.anchors.size(); ++i)
      EXPECT_LT(row.anchors[i - 1].seq, row.anchors[i].seq);
  }
  EXPECT_EQ(anchors, 12u);
  double share = 0;
  for (size_t b = 0; b < t.bins; ++b) share += t.share[b] / 255.0;
  EXPECT_NEAR(share / static_cast<double>(t.bins), 600.0 / 1500, 0.02);
}

TEST(Index, NamesAreAllDifferent) {
  EXPECT_EQ(page_names({"a/run.rfn", "b/run.rfn", "index.rfn", "run-2.rfn"}),
            (std::vector<std::string>{"run.html", "run-2.html", "index-2.html", "run-2-2.html"}));
}

TEST(GraphLayout, NeighboursLieNearEachOther) {
  if (!has_graphviz()) GTEST_SKIP() << "built without Graphviz";
  std::vector<GraphEdge> edges;
  constexpr uint32_t kSide = 6;
  for (uint32_t r = 0; r < kSide; ++r)
    for (uint32_t c = 0; c < kSide; ++c) {
      if (c + 1 < kSide) edges.push_back({r * kSide + c, r * kSide + c + 1, 1});
      if (r + 1 < kSide) edges.push_back({r * kSide + c, (r + 1) * kSide + c, 1});
    }
  std::string engine;
  const std::vector<Place> places = graph_layout(kSide * kSide, edges, engine);
  ASSERT_EQ(places.size(), kSide * kSide);
  const auto distance = [&](uint32_t a, uint32_t b) {
    return std::hypot(places[a].x - places[b].x, places[a].y - places[b].y);
  };
  double edge = 0, any = 0;
  for (const GraphEdge& e : edges) edge += distance(e.from, e.to);
  for (uint32_t a = 0; a < places.size(); ++a)
    for (uint32_t b = 0; b < places.size(); ++b) any += distance(a, b);
  edge /= static_cast<double>(edges.size());
  any /= static_cast<double>(places.size() * places.size());
  EXPECT_LT(edge, any / 2);
  EXPECT_GT(distance(0, kSide * kSide - 1), 4 * edge);  // the mesh is unfolded
}

TEST(Page, ShowsWhoStandsForWhom) {
  EXPECT_FALSE(page_of(ring(true).open()).json.contains("clusters"));
  TraceBuilder builder = ring(true);
  format::ClusterData& c = builder.data().clusters;
  for (const auto& [lead, members] : {std::pair(0, std::vector{0, 2}), {1, {1}}, {3, {3}}}) {
    format::Cluster one;
    one.lead = static_cast<uint64_t>(lead);
    for (const int m : members) one.members.append(m);
    c.clusters.push_back(one);
  }
  builder.data().losses.push_back({"stood_for", 6, -1, ""});
  builder.data().totals[2].in_mpi_ns = 1200;
  const PageData page = page_of(builder.open());
  auto lists = page.columns.lists();
  EXPECT_EQ(lists["clusters.of"], nlohmann::ordered_json({0, 1, 0, 2}));
  EXPECT_EQ(lists["clusters.own_ns"], nlohmann::ordered_json({100, 100, 200, 100}));
  EXPECT_EQ(lists["clusters.shown_ns"], nlohmann::ordered_json({100, 100, 100, 100}));
  EXPECT_EQ(lists["clusters.sends"], nlohmann::ordered_json({3, 3, 3, 3}));
  EXPECT_EQ(page.json["clusters"]["joins"].size(), 2u);
  EXPECT_EQ(page.json["clusters"]["list"].size(), 3u);
  EXPECT_EQ(page.json["info"]["losses"][0]["reason"], "stood_for");
}

}  // namespace
}  // namespace refrain::report
