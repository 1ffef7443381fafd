#include "report/profile/profile_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reader/test_trace.h"
#include "report/profile/profile_paths.h"

namespace refrain::report {
namespace {

using reader::ShapeWriter;

class ProfileReport : public testing::Test {
 protected:
  static Trace make() {
    reader::TraceBuilder builder(2);
    const uint32_t world = builder.world();
    const uint32_t type = builder.predefined_type("MPI_DOUBLE", 8);
    const uint32_t site = builder.site("/no/such/libsolver.so", "", 0x1234);
    ShapeWriter send("MPI_Send"), barrier("MPI_Barrier");
    send.object(site).none().integer(100).object(type).integer(0).integer(0).object(world);
    barrier.none().object(world);
    const uint32_t a = builder.signature(send), b = builder.signature(barrier);
    builder.group({0, 1}, {a, a, a, b});
    builder.data().durations[a].sum_ns = 6000;
    builder.data().durations[a].max_ns = 2500;
    builder.data().durations[b].sum_ns = 2000;
    builder.data().totals = {{5000, 5000}, {3000, 7000}};
    return builder.open();
  }

  Trace trace_ = make();
  analysis::Profile profile_ = analysis::profile(trace_);
  reader::Symbols symbols_;
  ProfileView view_{trace_, profile_, symbols_};
};

TEST_F(ProfileReport, JsonHoldsTheTables) {
  const auto json = nlohmann::json::parse(profile_json(view_));
  ASSERT_EQ(json["functions"].size(), 2U);
  EXPECT_EQ(json["functions"][0]["call"], "MPI_Send");
  EXPECT_EQ(json["functions"][0]["count"], 6);
  EXPECT_EQ(json["functions"][0]["time_ns"], 6000);
  EXPECT_EQ(json["functions"][0]["bytes"], 4800);
  EXPECT_DOUBLE_EQ(json["functions"][0]["mpi_share"], 0.75);
  EXPECT_DOUBLE_EQ(json["functions"][0]["run_share"], 0.3);
  EXPECT_EQ(json["sites"][0]["site"], "libsolver.so+0x1234");
  EXPECT_TRUE(json["sites"][1]["site"].is_null());
  EXPECT_EQ(json["groups"].size(), 2U);
  EXPECT_EQ(json["ranks"][1]["in_mpi_ns"], 3000);
  EXPECT_EQ(json["sizes"][0]["from_bytes"], 512);
  EXPECT_EQ(json["all"]["count"], 8);
}

// Totals of ranks are rounded, and calls inside of others count in both.
TEST_F(ProfileReport, NoShareIsMoreThanTheWhole) {
  profile_.run_ns = 7900;
  const auto json = nlohmann::json::parse(profile_json(view_));
  EXPECT_DOUBLE_EQ(json["all"]["run_share"], 1);
  EXPECT_DOUBLE_EQ(json["functions"][0]["run_share"], 0.75);
}

// main calls step (twice, from two places), step calls MPI_Send.
TEST(ProfilePaths, FormATreeWithTotalsOfWhatIsBelow) {
  reader::TraceBuilder builder(2);
  const uint32_t world = builder.world();
  const uint32_t inner = builder.site("/no/such/app", "", 0x100);
  const uint32_t first = builder.site("/no/such/app", "", 0x200);
  const uint32_t second = builder.site("/no/such/app", "", 0x300);
  const uint32_t a = builder.path({inner, first}), b = builder.path({inner, second});
  ShapeWriter from_a("MPI_Barrier"), from_b("MPI_Barrier"), direct("MPI_Barrier");
  from_a.object(a).object(world);
  from_b.object(b).object(world);
  direct.object(first).object(world);
  const uint32_t calls[] = {builder.signature(from_a), builder.signature(from_b),
                            builder.signature(direct)};
  builder.group({0, 1}, {calls[0], calls[0], calls[1], calls[2]});
  for (const auto& [i, ns] : {std::pair{0, 4000}, {1, 1000}, {2, 500}})
    builder.data().durations[calls[i]].sum_ns = ns;
  const Trace trace = builder.open();
  const analysis::Profile profile = analysis::profile(trace);
  reader::Symbols symbols;
  const ProfileView view{trace, profile, symbols};

  size_t left_out = 9;
  const PathNode tree = path_tree(view, 0, &left_out);
  EXPECT_EQ(left_out, 0U);
  EXPECT_EQ(tree.totals.calls, 8U);
  ASSERT_EQ(tree.children.size(), 2U);
  const PathNode& outer = *tree.children[0];
  EXPECT_EQ(outer.site, "app+0x200");
  EXPECT_EQ(outer.totals.calls, 6U);
  EXPECT_DOUBLE_EQ(outer.totals.time_ns, 4500);
  ASSERT_EQ(outer.children.size(), 2U);
  EXPECT_EQ(outer.children[0]->site, "app+0x100");
  EXPECT_EQ(outer.children[0]->children[0]->call, "MPI_Barrier");
  EXPECT_EQ(outer.children[1]->call, "MPI_Barrier");
  EXPECT_EQ(outer.children[1]->totals.calls, 2U);
  // What is left out is in the totals above it, and in a line of its own.
  const PathNode cut = path_tree(view, 1, &left_out);
  EXPECT_EQ(left_out, 2U);
  EXPECT_EQ(cut.totals.calls, 8U);
  ASSERT_EQ(cut.children.size(), 2U);
  EXPECT_DOUBLE_EQ(cut.children[0]->totals.time_ns, 4500);
  ASSERT_EQ(cut.children[0]->children.size(), 2U);
  EXPECT_TRUE(cut.children[0]->children[1]->is_others);
  EXPECT_DOUBLE_EQ(cut.children[0]->children[1]->totals.time_ns, 500);
  EXPECT_TRUE(cut.children[1]->is_others);
  EXPECT_EQ(cut.children[1]->paths, 1U);
  EXPECT_DOUBLE_EQ(cut.children[1]->totals.time_ns, 1000);

  // By site the two paths are one.
  ASSERT_EQ(profile.sites.size(), 2U);
  EXPECT_EQ(profile.sites[0].totals.calls, 6U);
  const auto json = nlohmann::json::parse(profile_json(view));
  ASSERT_EQ(json["call_paths"].size(), 3U);
  EXPECT_EQ(json["call_paths"][0]["path"][0]["site"], "app+0x200");
  EXPECT_EQ(json["call_paths"][0]["path"][1]["site"], "app+0x100");
  EXPECT_EQ(json["call_paths"][0]["count"], 4);
  EXPECT_NE(
      profile_csv(view, ProfileBy::kCallPath).find("app+0x200 > app+0x100,MPI_Barrier,4,4000,"),
      std::string::npos);
  const std::string text = profile_table_text(view, ProfileBy::kCallPath, 0);
  EXPECT_LT(text.find("  app+0x200 "), text.find("    app+0x100 "));
}

TEST_F(ProfileReport, CsvHasOneLineARow) {
  EXPECT_EQ(profile_csv(view_, ProfileBy::kFunction),
            "call,count,time_ns,min_ns,mean_ns,max_ns,bytes,messages,failed,unsized\n"
            "MPI_Send,6,6000,0,1000,2500,4800,6,0,0\n"
            "MPI_Barrier,2,2000,0,1000,0,0,0,0,0\n");
  EXPECT_EQ(profile_csv(view_, ProfileBy::kSite).substr(0, 22), "site,in_function,call,");
}

TEST_F(ProfileReport, RanksHaveATableOfTheirOwn) {
  EXPECT_EQ(profile_csv(view_, ProfileBy::kRank),
            "rank,calls,in_mpi_ns,outside_ns,bytes,recorder_ns,recorder_memory_bytes\n"
            "0,4,5000,5000,2400,,\n"
            "1,4,3000,7000,2400,,\n");
  const std::string plain = profile_table_text(view_, ProfileBy::kRank, 1);
  EXPECT_EQ(plain.find("recorder"), std::string::npos) << "nobody knows it";
  EXPECT_NE(plain.find("1 more"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(profile_json(view_))["ranks"][0]["recorder_ns"].is_null());
  profile_.ranks[1].recorder_ns = 2500;
  profile_.ranks[1].recorder_memory_bytes = 4096;
  EXPECT_NE(profile_csv(view_, ProfileBy::kRank).find("1,4,3000,7000,2400,2500,4096\n"),
            std::string::npos);
  EXPECT_EQ(profile_table_text(view_, ProfileBy::kRank, 0),
            "Ranks\n"
            "  rank  calls  in MPI  outside MPI     MPI     bytes  recorder  its memory\n"
            "     0      4    5 us         5 us  50.0 %  2.34 KiB         -           -\n"
            "     1      4    3 us         7 us  30.0 %  2.34 KiB    2.5 us    4.00 KiB\n");
  EXPECT_NE(profile_text(view_, 0).find("its memory"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(profile_json(view_))["ranks"][1]["recorder_memory_bytes"], 4096);
}

TEST_F(ProfileReport, TextSaysWhatItLeftOut) {
  const std::string text = profile_table_text(view_, ProfileBy::kFunction, 1);
  EXPECT_NE(text.find("MPI_Send"), std::string::npos);
  EXPECT_EQ(text.find("MPI_Barrier"), std::string::npos);
  EXPECT_NE(text.find("1 more"), std::string::npos);
  EXPECT_NE(text.find("  others (1)      2  2 us  25.0 %"), std::string::npos) << text;
  const std::string all = profile_text(view_, 0);
  EXPECT_NE(all.find("MPI_Barrier"), std::string::npos);
  EXPECT_NE(all.find("libsolver.so+0x1234"), std::string::npos);
  EXPECT_NE(all.find("imbalance"), std::string::npos);
  EXPECT_EQ(all.find("more (--top"), std::string::npos);
}

}  // namespace
}  // namespace refrain::report
