#include "report/waits/waits_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "mpi/call_table.h"
#include "reader/test_trace.h"
#include "text/path_names.h"

namespace refrain::report {
namespace {

using analysis::waits::Delay;
using analysis::waits::Explained;
using analysis::waits::Pattern;
using analysis::waits::WaitStates;

class WaitsReport : public testing::Test {
 protected:
  void SetUp() override {
    reader::TraceBuilder builder(2);
    const uint32_t world = builder.world();
    const uint32_t inner = builder.site("/no/such/app", "", 0x100);
    const uint32_t outer = builder.site("/no/such/app", "", 0x200);
    path_ = builder.path({inner, outer});
    reader::ShapeWriter barrier("MPI_Barrier");
    barrier.object(path_).object(world);
    builder.group({0, 1}, {builder.signature(barrier)});
    trace_ = std::make_unique<Trace>(builder.open());
    const CallId recv = mpi::find_call("MPI_Recv")->id, bar = mpi::find_call("MPI_Barrier")->id;
    waits_.severities = {{Pattern::kLateSender, path_, recv, 1, 300'000'000, 3},
                         {Pattern::kLateSenderWrongOrder, path_, recv, 0, 100'000'000, 1},
                         {Pattern::kWaitAtBarrier, inner, bar, 1, 100'000'000, 1}};
    waits_.ranks = {{1'000'000'000, 800'000'000, 100'000'000},
                    {1'000'000'000, 500'000'000, 400'000'000}};
    waits_.total_ns = 2e9;
    Delay delay;
    delay.pattern = Pattern::kLateSender;
    delay.from_path = delay.to_path = path_;
    delay.from_call = bar;
    delay.to_call = recv;
    delay.short_term_ns = 3e8;
    delay.long_term_ns = 1e8;
    waits_.delays = {delay};
    waits_.critical_path = {{1, path_, path_, bar, recv, 900'000'000}};
    waits_.critical_ns = 1'000'000'000;
    waits_.efficiency = {1'000'000'000, 800'000'000, 6e8, 8e8, 0.75, 1, 0.8, 0.8, 0.6};
    waits_.counts.unmatched_sends = 1;
  }
  WaitsView view() { return {*trace_, waits_, symbols_, shown_, rank_, 20}; }

  uint32_t path_ = 0;
  std::unique_ptr<Trace> trace_;
  WaitStates waits_;
  reader::Symbols symbols_;
  std::optional<Pattern> shown_;
  Rank rank_ = -1;
};

nlohmann::json pattern_in(const nlohmann::json& json, const std::string& name) {
  for (const auto& p : json["patterns"])
    if (p["pattern"] == name) return p;
  return {};
}

TEST_F(WaitsReport, JsonHasPatternsThatContainOthers) {
  const auto json = nlohmann::json::parse(waits_json(view()));
  const auto late = pattern_in(json, "late_sender");
  EXPECT_DOUBLE_EQ(late["seconds"], 0.4);
  EXPECT_DOUBLE_EQ(late["own_seconds"], 0.3);
  EXPECT_DOUBLE_EQ(late["percent"], 20);
  EXPECT_EQ(late["parent"], "point_to_point");
  EXPECT_EQ(late["count"], 4);
  ASSERT_EQ(late["call_paths"].size(), 1U);
  EXPECT_EQ(late["call_paths"][0]["call"], "MPI_Recv");
  EXPECT_EQ(late["call_paths"][0]["path"][1]["site"], "app+0x100");
  EXPECT_EQ(late["call_paths"][0]["ranks"].size(), 2U);
  EXPECT_DOUBLE_EQ(late["ranks"][1]["seconds"], 0.3);
  EXPECT_DOUBLE_EQ(pattern_in(json, "all")["seconds"], 0.5);
  EXPECT_TRUE(pattern_in(json, "all")["parent"].is_null());
  EXPECT_DOUBLE_EQ(pattern_in(json, "late_broadcast")["seconds"], 0);
  EXPECT_DOUBLE_EQ(json["delays"][0]["seconds"], 0.4);
  EXPECT_EQ(json["delays"][0]["from"]["call"], "MPI_Barrier");
  EXPECT_DOUBLE_EQ(json["critical_path"]["ranks"][0]["percent"], 90);
  EXPECT_DOUBLE_EQ(json["efficiency"]["parallel"], 0.6);
  EXPECT_EQ(json["counts"]["unmatched_sends"], 1);
}

TEST_F(WaitsReport, ShowsWhatIsAskedFor) {
  shown_ = Pattern::kCollective;
  auto json = nlohmann::json::parse(waits_json(view()));
  EXPECT_TRUE(pattern_in(json, "late_sender").is_null());
  EXPECT_DOUBLE_EQ(pattern_in(json, "collective")["seconds"], 0.1);
  EXPECT_TRUE(json["delays"].empty());
  shown_.reset();
  rank_ = 0;
  json = nlohmann::json::parse(waits_json(view()));
  EXPECT_DOUBLE_EQ(pattern_in(json, "all")["seconds"], 0.1);
}

TEST_F(WaitsReport, CsvHasALineForEachNumber) {
  const std::string csv = waits_csv(view());
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "pattern,parent,rank,call_path,call,seconds,percent,count");
  EXPECT_NE(csv.find("late_sender_wrong_order,late_sender,0,app+0x200 > app+0x100,MPI_Recv,"
                     "0.100000000,5.0000,1\n"),
            std::string::npos)
      << csv;
}

TEST_F(WaitsReport, TextHasTablesAndATree) {
  const std::string text = waits_text(view());
  for (const char* part :
       {"Late sender                400 ms  20.0 %", "      Messages in wrong order  100 ms",
        "####################", "\n  app+0x200     ", "\n    app+0x100     ",
        "MPI_Recv: Late sender", "MPI_Barrier app+0x100 -> MPI_Recv app+0x100",
        "Critical path, 1.00 s", "1 message sent and not received in the trace", "parallel"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

analysis::waits::Culprit culprit_of(const Delay& delay) {
  analysis::waits::Culprit out;
  out.stretch = delay;
  out.much_ns = out.group_ns = delay.short_term_ns + delay.long_term_ns;
  out.much_ranks = 1;
  out.iterations = out.passes = 10;
  out.mean_ns = out.slow_ns = 5e6;
  out.others_ns = 1e6;
  out.others = 1;
  return out;
}

TEST_F(WaitsReport, VerdictNamesThoseThatAreAsSlow) {
  waits_.culprits = {culprit_of(waits_.delays[0])};
  waits_.culprits[0].as_slow = {1};
  waits_.culprits[0].as_slow_ranks = 1;
  EXPECT_NE(
      waits_text(view()).find(
          "Rank 0 computes 5.0 times as long as the others between MPI_Barrier and MPI_Recv "
          "app+0x100 (rank 1 hardly less); that is 80 % of all waiting (400 ms of 500 ms), in "
          "10 of 10 repetitions."),
      std::string::npos)
      << waits_text(view());
}

TEST_F(WaitsReport, VerdictTellsHowLongSlowTimesAre) {
  waits_.culprits = {culprit_of(waits_.delays[0])};
  waits_.culprits[0].iterations = 1;
  waits_.culprits[0].slow_ns = 41e6;
  waits_.culprits[0].mean_ns = 5e6;
  EXPECT_NE(waits_text(view()).find("Rank 0 computes 41 ms between MPI_Barrier and MPI_Recv "
                                    "app+0x100; that is 80 % of all waiting (400 ms of 500 ms), in "
                                    "1 of 10 repetitions (1 ms in the others)."),
            std::string::npos)
      << waits_text(view());
  const auto json = nlohmann::json::parse(waits_json(view()));
  EXPECT_DOUBLE_EQ(json["verdict"][0]["slow_seconds_each"], 0.041);
}

TEST_F(WaitsReport, FarLongerIsToldByBothDurations) {
  waits_.culprits = {culprit_of(waits_.delays[0])};
  waits_.culprits[0].mean_ns = 200e6;
  waits_.culprits[0].others_ns = 1e6;
  EXPECT_NE(waits_text(view()).find("Rank 0 computes 200 ms each time (the others 1 ms) between"),
            std::string::npos)
      << waits_text(view());
}

// "1.1 times as long" is no cause.
TEST_F(WaitsReport, HardlyLongerIsToldWithoutARatio) {
  waits_.culprits = {culprit_of(waits_.delays[0]), culprit_of(waits_.delays[0])};
  waits_.culprits[0].mean_ns = 1.05e6;
  waits_.culprits[1].mean_ns = 1.02e6;
  waits_.culprits[1].stretch.rank = 1;
  EXPECT_NE(waits_text(view()).find("Ranks 0 and 1 compute 1.05 ms each time, about as long as "
                                    "the others, between"),
            std::string::npos)
      << waits_text(view());
  waits_.culprits[1].mean_ns = 3e6;
  EXPECT_NE(waits_text(view()).find("Ranks 0 and 1 compute 1.05 ms to 3 ms each time (the others "
                                    "1 ms) between"),
            std::string::npos)
      << waits_text(view());
}

TEST_F(WaitsReport, VerdictOfSeveralRanksHasTheRange) {
  waits_.culprits = {culprit_of(waits_.delays[0]), culprit_of(waits_.delays[0])};
  waits_.culprits[1].stretch.rank = 1;
  waits_.culprits[1].mean_ns = 2e6;
  waits_.culprits[0].much_ranks = 2;
  waits_.culprits[0].iterations = 6;
  EXPECT_NE(waits_text(view()).find("Ranks 0 and 1 compute 2.0 to 5.0 times as long as the others"),
            std::string::npos)
      << waits_text(view());
  EXPECT_NE(waits_text(view()).find(", each of them in up to 10 of 10 repetitions."),
            std::string::npos)
      << waits_text(view());
  waits_.culprits[0].others = 0;
  EXPECT_NE(waits_text(view()).find("Ranks 0 and 1 compute 2 ms to 5 ms each time between"),
            std::string::npos)
      << waits_text(view());
}

TEST_F(WaitsReport, VerdictOfACallLooksAtWhatTheCallHas) {
  waits_.culprits = {culprit_of(waits_.delays[0])};
  Delay& call = waits_.culprits[0].stretch;
  call.is_call = true;
  const std::pair<const char*, const char*> cases[] = {
      {"MPI_Barrier", "That is the time of the MPI library itself, without waiting."},
      {"MPI_Bcast", "Look at what MPI_Bcast is given there: its size and datatype."},
      {"MPI_Reduce", "Look at what MPI_Reduce is given there: its size, datatype and operation."}};
  for (const auto& [name, sentence] : cases) {
    call.to_call = call.from_call = mpi::find_call(name)->id;
    EXPECT_NE(waits_text(view()).find(sentence), std::string::npos) << waits_text(view());
  }
}

// What a call is given is not the reason where the others are given the same and are not slow.
TEST_F(WaitsReport, VerdictOfACallThatIsSlowAFewTimes) {
  waits_.culprits = {culprit_of(waits_.delays[0])};
  analysis::waits::Culprit& c = waits_.culprits[0];
  c.stretch.is_call = true;
  c.iterations = 78;
  c.passes = 400'000;
  c.slow_ns = 6.81e6;
  c.mean_ns = 2e3;
  const auto expect = [&](const char* call, const std::string& sentence) {
    c.stretch.to_call = c.stretch.from_call = mpi::find_call(call)->id;
    EXPECT_NE(waits_text(view()).find(sentence), std::string::npos) << waits_text(view());
  };
  const std::string who =
      "look for what disturbs this rank at these moments (other processes, page faults, the "
      "network, the operating system).";
  expect("MPI_Barrier", "The other 399 922 are the same call and are not slow: " + who);
  expect("MPI_Barrier", "Rank 0 spends 6.81 ms each time in MPI_Barrier");
  expect("MPI_Waitall", "That is the time of the MPI library itself, without waiting.");
  expect("MPI_Reduce", "Look at what MPI_Reduce is given there: its size, datatype and operation.");
  c.is_given_alike = true;
  expect("MPI_Reduce",
         ", in 78 of 400 000 repetitions (672 ns in the others). The other 399 922 "
         "are given the same size, datatype and operation and are not slow: " +
             who);
  expect("MPI_Isend",
         "The other 399 922 are given the same size and datatype and are not slow: " + who);
  // In half of the repetitions it may be something regular, but still not what they are given.
  c.iterations = 200'000;
  c.mean_ns = 4e6;
  expect("MPI_Isend",
         "The other 200 000 are given the same size and datatype and are not slow: look for what "
         "else differs between them (the partner, the buffer, other processes, page faults, the "
         "network, the operating system).");
  expect("MPI_Barrier", "That is the time of the MPI library itself, without waiting.");
  c.is_given_alike = false;
  expect("MPI_Isend", "Look at what MPI_Isend is given there: its size and datatype.");
  // Slow each time.
  c.is_given_alike = true;
  c.slow_ns = c.mean_ns;
  c.iterations = c.passes;
  expect("MPI_Isend", "Look at what MPI_Isend is given there: its size and datatype.");
}

TEST_F(WaitsReport, VerdictSaysIfThereIsHardlyAnyWaiting) {
  EXPECT_EQ(waits_text(view()).find("of their time only"), std::string::npos);
  waits_.total_ns = 100e9;
  waits_.culprits = {culprit_of(waits_.delays[0])};
  EXPECT_EQ(waits_text(view()).find("Ranks wait for 0.5 % of their time only. Rank 0 computes 5.0"),
            0U)
      << waits_text(view());
}

// Two rows that end at the same line are told apart by their callers.
TEST_F(WaitsReport, TellsPathsApart) {
  reader::TraceBuilder builder(1);
  const uint32_t inner = builder.site("/no/such/app", "", 0x100);
  const uint32_t one = builder.site("/no/such/app", "", 0x200);
  const uint32_t two = builder.site("/no/such/app", "", 0x300);
  const uint32_t main = builder.site("/no/such/app", "", 0x400);
  const uint32_t down = builder.path({inner, one, main}), up = builder.path({inner, two, main});
  const uint32_t other = builder.path({one, main});
  reader::ShapeWriter barrier("MPI_Barrier");
  barrier.object(down).object(builder.world());
  builder.group({0}, {builder.signature(barrier)});
  const Trace trace = builder.open();
  text::PathNames names(trace, symbols_);
  EXPECT_EQ(names.label(down), "app+0x100");
  names.tell_apart({down, up, other, down});
  EXPECT_EQ(names.label(down), "app+0x100 (in app+0x200)");
  EXPECT_EQ(names.label(up), "app+0x100 (in app+0x300)");
  EXPECT_EQ(names.label(other), "app+0x200");
}

TEST_F(WaitsReport, ExplainsANumber) {
  Explained e;
  e.rank = 1;
  e.seq = 17;
  e.path = path_;
  e.call = mpi::find_call("MPI_Recv")->id;
  e.pattern = Pattern::kLateSender;
  e.begin_ns = 1'500'000'000;
  e.end_ns = 1'800'000'000;
  e.wait_ns = 250'000'000;
  e.partner = 0;
  e.partner_seq = 4;
  e.partner_call = mpi::find_call("MPI_Send")->id;
  e.delay = waits_.delays[0];
  waits_.explained = {e};
  const std::string text = explained_text(view());
  for (const char* part :
       {"17", "1.500000000", "250 ms", "MPI_Send (seq 4)", "rank 0, MPI_Barrier"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto json = nlohmann::json::parse(waits_json(view()));
  EXPECT_EQ(json["explained"][0]["partner_seq"], 4);
  EXPECT_DOUBLE_EQ(json["explained"][0]["delay"]["short_term_seconds"], 0.3);
}

TEST_F(WaitsReport, FindsCallPathsByTheirText) {
  EXPECT_EQ(paths_with(*trace_, symbols_, "0x200 > app").size(), 1U);
  EXPECT_EQ(paths_with(*trace_, symbols_, "app+0x100").size(), 2U);  // the site and the path
  EXPECT_TRUE(paths_with(*trace_, symbols_, "nowhere").empty());
}

}  // namespace
}  // namespace refrain::report
