// The section clusters: there and back, its rules, and damaged bytes.
#include "format/clusters/clusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "format/clusters/cluster_rules.h"
#include "format/codes/checksum.h"
#include "format/content.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/encode/section_writers.h"
#include "format/testing/sections.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

base::RunList list_of(const std::vector<int64_t>& values) {
  base::RunList out;
  for (const int64_t v : values) out.append(v);
  return out;
}

// Nine ranks that do the same; 0 stands for the even ones, 1 for the odd ones, 8 for itself.
TraceData clustered() {
  std::vector<RankRecord> ranks;
  for (uint64_t r = 0; r < 9; ++r) ranks.push_back(testing::halo_2d(r, 3, 3, true, 20));
  TraceData trace = testing::merge_all(ranks);
  ClusterData& c = trace.clusters;
  c.method = ClusterMethod::kSignatures;
  c.choice = ClusterChoice::kAuto;
  c.has_two_steps = c.is_euclidean = true;
  c.features = 0x185;
  c.metric = ClusterMetric::kWaits;
  c.error_asked = 0.05;
  c.error_predicted = 0.04;
  c.error_checked = 0.03;
  c.sampled = list_of({3, 5});
  Cluster one{0, list_of({0, 2, 4, 6}), {}, 0x123456789abcdef0, 40, uint64_t{1} << 40, 7, 9, {}};
  one.radius[1] = uint64_t{1} << 60;
  c.clusters.push_back(one);
  one.lead = 1;
  one.members = list_of({1, 3, 5, 7});
  c.clusters.push_back(one);
  one.lead = 8;
  one.members = list_of({8});
  c.clusters.push_back(one);
  trace.losses.push_back({std::string(kStoodForLoss), 100, -1, "6 of 9 ranks"});
  return trace;
}

std::vector<int> rules_of(const TraceData& trace) {
  std::vector<int> out;
  for (const ClusterFinding& f : check_clusters(trace)) out.push_back(f.rule);
  return out;
}

TEST(Clusters, AreWrittenAndRead) {
  const TraceData trace = clustered();
  const auto bytes = encode(trace);
  ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
  EXPECT_EQ(read_header(*bytes, "t")->must_understand, kFeatureCompact | kFeatureClusters);
  const auto back = decode(*bytes, "t");
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  const ClusterData &a = trace.clusters, &b = back->clusters;
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.choice, b.choice);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(b.has_two_steps && b.is_euclidean && b.is_replayable, true);
  EXPECT_EQ(b.is_mixed || b.is_by_tree || b.has_lead_endpoints, false);
  EXPECT_EQ(a.metric, b.metric);
  EXPECT_EQ(b.error_asked, 0.05);
  EXPECT_EQ(b.error_checked, 0.03);
  EXPECT_EQ(a.sampled, b.sampled);
  ASSERT_EQ(b.clusters.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(a.clusters[i].lead, b.clusters[i].lead);
    EXPECT_EQ(a.clusters[i].members, b.clusters[i].members);
    EXPECT_EQ(a.clusters[i].structure, b.clusters[i].structure);
    EXPECT_EQ(a.clusters[i].bytes, b.clusters[i].bytes);
    EXPECT_EQ(a.clusters[i].outside_ns, b.clusters[i].outside_ns);
    EXPECT_EQ(a.clusters[i].radius, b.clusters[i].radius);
  }
  EXPECT_TRUE(check(*bytes).empty());
  EXPECT_EQ(*encode(*back), *bytes);
  bool is_explained = false;
  for (const ByteLine& line : annotate(*bytes)) {
    EXPECT_EQ(line.meaning.find("stopped"), std::string::npos) << line.meaning;
    is_explained = is_explained || line.meaning.find("members of cluster 1") == 0;
  }
  EXPECT_TRUE(is_explained);
}

TEST(Clusters, ATraceWithoutThemHasNoFeature) {
  TraceData trace = clustered();
  trace.clusters = {};
  trace.losses.clear();
  const auto bytes = encode(trace);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(read_header(*bytes, "t")->must_understand, kFeatureCompact);
  EXPECT_TRUE(decode(*bytes, "t")->clusters.empty());
}

TEST(Clusters, TimesAreThoseOfLeads) {
  TraceData trace = clustered();
  EXPECT_EQ(time_ranks(trace.clusters, 9), (std::vector<uint32_t>{0, 1, 0, 3, 0, 5, 0, 1, 8}));
  trace.clusters.is_mixed = true;
  trace.clusters.clusters[0].others = list_of({4});
  EXPECT_EQ(time_ranks(trace.clusters, 9)[4], kNoTimes);
  trace.clusters.has_lead_endpoints = true;
  EXPECT_EQ(time_ranks(trace.clusters, 9)[4], 0u);
}

TEST(Clusters, EachRuleIsChecked) {
  EXPECT_TRUE(rules_of(clustered()).empty());
  const auto broken = [](auto change) {
    TraceData trace = clustered();
    change(trace);
    EXPECT_FALSE(encode(trace).ok());
    return rules_of(trace);
  };
  using Rules = std::vector<int>;
  EXPECT_EQ(broken([](TraceData& t) { t.losses.clear(); }), Rules{kRuleClusterFeature});
  EXPECT_EQ(broken([](TraceData& t) { t.clusters = {}; }), Rules{kRuleClusterFeature});
  const auto at = [](TraceData& t, size_t i) -> Cluster& { return t.clusters.clusters[i]; };
  const auto changes = {
      +[](Cluster& c) { c.lead = 3; },
      +[](Cluster& c) { c.lead = 900; },
      +[](Cluster& c) {
        c.members = list_of({0, 2, 4});
      },
      +[](Cluster& c) {
        c.members = list_of({0, 2, 4, 5, 6});
      },
      +[](Cluster& c) {
        c.members = list_of({0, 4, 2, 6});
      },
      +[](Cluster& c) {
        c.members = list_of({0, 2, 4, 6, 9});
      },
      +[](Cluster& c) {
        c.members = list_of({-1, 0, 2, 4, 6});
      },
      +[](Cluster& c) { c.members = {}; },
      +[](Cluster& c) { c.others = list_of({2}); },  // not mixed
  };
  for (const auto change : changes)
    EXPECT_EQ(broken([&](TraceData& t) { change(at(t, 0)); }), Rules{kRuleClusters});
  EXPECT_EQ(broken([&](TraceData& t) { std::swap(at(t, 0), at(t, 1)); }), Rules{kRuleClusters});
  EXPECT_EQ(broken([](TraceData& t) { t.clusters.sampled = list_of({9}); }), Rules{kRuleClusters});
  EXPECT_EQ(broken([](TraceData& t) { t.clusters.why_not = "no"; }), Rules{kRuleClusters});
  EXPECT_EQ(broken([](TraceData& t) { t.clusters.error_checked = -1; }), Rules{kRuleClusters});
  EXPECT_EQ(broken([&](TraceData& t) {
              t.clusters.is_mixed = true;
              at(t, 0).others = list_of({0});
            }),
            Rules{kRuleClusters});
  // Rank 8 in a group of its own, with a call more.
  EXPECT_EQ(broken([&](TraceData& t) {
              at(t, 1).members = list_of({1, 3, 5, 7, 8});
              t.clusters.clusters.pop_back();
              Group other = t.groups[0];
              other.ranks = list_of({8});
              t.groups[0].ranks = list_of({0, 1, 2, 3, 4, 5, 6, 7});
              grammar::Grammar longer = t.grammars[other.locations[0].grammar];
              longer.symbols.back().count += 1;
              t.grammars.push_back(longer);
              other.locations[0].grammar = static_cast<uint32_t>(t.grammars.size() - 1);
              t.groups.push_back(other);
            }),
            Rules{kRuleClusterCalls});
}

// A good file with one section replaced, its checksums right.
std::string with_section(const TraceData& trace, const std::string& raw) {
  testing::Sections sections = testing::sections_of(trace);
  for (auto& [type, bytes] : sections)
    if (type == static_cast<uint32_t>(SectionType::kClusters)) bytes = raw;
  return testing::wrap(sections, kStateComplete | kStateLosses, kFeatureCompact | kFeatureClusters);
}

std::string section_of(const TraceData& trace) {
  Encoding encoding(trace);
  base::ByteWriter out;
  write_clusters(encoding, out);
  return out.take();
}

TEST(Clusters, DamagedBytesAreOneError) {
  const TraceData trace = clustered();
  const std::string good = section_of(trace);
  ASSERT_TRUE(decode(with_section(trace, good), "t").ok());
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_FALSE(decode(with_section(trace, good.substr(0, n)), "t").ok()) << n;
  EXPECT_FALSE(decode(with_section(trace, good + '\0'), "t").ok());
  std::mt19937_64 random(8);
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good;
    for (uint64_t i = 0; i < 1 + random() % 3; ++i)
      bad[random() % bad.size()] = static_cast<char>(random());
    const auto back = decode(with_section(trace, bad), "t");
    if (back.ok()) {
      EXPECT_TRUE(check_content(*back).empty());
    }
  }
}

TEST(Clusters, HostileCountsTakeNoMemory) {
  const TraceData trace = clustered();
  for (const uint64_t count : {uint64_t{1} << 24, UINT64_MAX}) {
    base::ByteWriter out;
    for (const int zero : {0, 0, 0, 32, 0, 0}) out.put_u8(static_cast<uint8_t>(zero));
    out.put_string("");
    out.put_string("");
    out.put_varint(count);
    EXPECT_FALSE(decode(with_section(trace, out.take()), "t").ok());
  }
}

// The bytes that docs/format.md shows.
TEST(Clusters, TheExampleIsThatOfTheDocument) {
  TraceData trace;
  trace.clusters.k = 2;
  trace.clusters.clusters = {{0, list_of({0}), {}, 1, 5, 0, 0, 0, {}},
                             {1, list_of({1, 2}), {}, 2, 6, 0, 0, 0, {}}};
  std::string hex;
  for (const char c : section_of(trace)) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto b = static_cast<uint8_t>(c);
    hex += kDigits[b >> 4];
    hex += kDigits[b & 15];
    hex += ' ';
  }
  std::ifstream in(REFRAIN_DOCS_DIR "/format.md");
  std::stringstream text;
  text << in.rdbuf();
  std::string document = text.str();
  std::replace(document.begin(), document.end(), '\n', ' ');
  EXPECT_NE(document.find("``` " + hex + "```"), std::string::npos) << hex;
}

}  // namespace
}  // namespace refrain::format
