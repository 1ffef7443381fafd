#include "report/diff/diff_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/diff/test_runs.h"

namespace refrain::report {
namespace {

using analysis::diff::joined;
using analysis::diff::MadeRun;
using analysis::diff::repeat;
using reader::me_plus_mod_size;

constexpr const char* kHostile = "/bin/<script>alert(\"1\")<b>&'\x1b[31m\xff\n";

Trace made(int64_t count, bool has_more, const std::string& module = "/bin/app") {
  MadeRun run(4, "", module);
  std::vector<uint32_t> body = {run.send(0x10, me_plus_mod_size(1), count), run.barrier(0x20)};
  if (has_more) body.push_back(run.allreduce(0x30, 1));
  run.program(repeat(body, 10));
  run.builder().data().meta.text["command"] = module + (has_more ? " more" : "");
  return run.open();
}

class DiffReport : public testing::Test {
 protected:
  DiffReport(Trace before, Trace after) : before_(std::move(before)), after_(std::move(after)) {
    diff_ = analysis::diff::diff(before_, after_, symbols_, {});
  }
  DiffReport() : DiffReport(made(48, false), made(96, true)) {}

  DiffView view(const std::vector<std::string>& thresholds = {}) {
    DiffView out{before_, after_, diff_, symbols_, {}, 20};
    for (const std::string& text : thresholds) {
      const auto verdict = analysis::diff::judge(
          diff_, *analysis::diff::parse_threshold(text),
          [&out](const auto& call, const std::string& where) { return is_at(out, call, where); });
      EXPECT_TRUE(verdict.ok()) << text;
      if (verdict.ok()) out.verdicts.push_back(*verdict);
    }
    return out;
  }

  Trace before_, after_;
  reader::Symbols symbols_;
  analysis::diff::Diff diff_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(DiffReport, TextNamesWhatChanged) {
  const std::string text = diff_text(view({"bytes>5%", "calls@app+0x10<>0"}));
  EXPECT_TRUE(has(text, "4 ranks: the communication differs")) << text;
  EXPECT_TRUE(has(text, "appeared  MPI_Allreduce  app+0x30")) << text;
  EXPECT_TRUE(has(text, "changed   MPI_Send  app+0x10")) << text;
  EXPECT_TRUE(has(text, "bytes 15.0 KiB -> 30.0 KiB (+100.0 %)")) << text;
  EXPECT_TRUE(has(text, "count=48 -> count=96")) << text;
  EXPECT_TRUE(has(text, "FAILED  bytes>5%: 15.0 KiB -> 30.3 KiB")) << text;
  EXPECT_TRUE(has(text, "good    calls@app+0x10<>0: 40 -> 40 (=)")) << text;
}

TEST_F(DiffReport, NoiseIsNoNumberBeyondTheTimes) {
  diff_.before.time_ns = 2e9;
  diff_.after.time_ns = 1e9;
  diff_.time_noise_ns = 1.5e9;
  EXPECT_TRUE(has(diff_text(view()), "-50.0 %, within the noise of 1.50 s")) << diff_text(view());
  diff_.time_noise_ns = 2.5e9;
  EXPECT_TRUE(has(diff_text(view()), "-50.0 %, noise may be all of it"));
}

TEST_F(DiffReport, JsonHasEverything) {
  const auto json = nlohmann::json::parse(diff_json(view({"bytes>5%"})));
  EXPECT_EQ(json["same"], false);
  EXPECT_EQ(json["totals"]["bytes"]["before"], 4 * 10 * 48 * 8);
  EXPECT_EQ(json["totals"]["calls"]["after"], 120);
  EXPECT_EQ(json["calls"].size(), 3u);
  EXPECT_EQ(json["partners"].size(), 4u);
  EXPECT_EQ(json["thresholds"][0]["crossed"], true);
  EXPECT_EQ(json["loops"][0]["change"], "changed");
}

// Rank 0 puts to the next one; before, one of three was a message.
class DiffOfOneSided : public DiffReport {
 protected:
  static Trace run_of(size_t sends, size_t puts) {
    MadeRun run(4);
    const std::vector<uint32_t> send = {run.send(0x10, me_plus_mod_size(1), 8)};
    const std::vector<uint32_t> put = {run.put(0x20, me_plus_mod_size(1), 8)};
    run.program(joined(repeat(send, sends), repeat(put, puts)));
    return run.open();
  }
  DiffOfOneSided() : DiffReport(run_of(10, 20), run_of(10, 30)) {}
};

TEST_F(DiffOfOneSided, TransfersAreNoMessages) {
  const std::string text = diff_text(view({"messages<>0", "one_sided<>0"}));
  EXPECT_TRUE(has(text, "changed   MPI_Put  app+0x20")) << text;
  EXPECT_TRUE(has(text, "one-sided transfers 80 -> 120 (+50.0 %)")) << text;
  EXPECT_FALSE(has(text, ", messages ")) << text;
  EXPECT_TRUE(has(text, "one-sided transfers 20 -> 30 (+50.0 %)")) << text;  // of a pair
  EXPECT_TRUE(has(text, "FAILED  one_sided<>0: 80 -> 120")) << text;
  const auto json = nlohmann::json::parse(diff_json(view()));
  EXPECT_EQ(json["totals"]["messages"]["before"], 120);
  EXPECT_EQ(json["totals"]["one_sided"]["before"], 80);
  EXPECT_EQ(json["totals"]["one_sided"]["after"], 120);
  EXPECT_EQ(json["partners"][0]["messages"]["after"], 40);
  EXPECT_EQ(json["partners"][0]["one_sided"]["after"], 30);
}

TEST_F(DiffReport, JunitHasATestForEachThreshold) {
  const std::string xml = diff_junit(view({"bytes>5%", "messages<>0"}), {{"format", {}}});
  EXPECT_TRUE(has(xml, "tests=\"8\" failures=\"1\"")) << xml;
  EXPECT_TRUE(has(xml, "name=\"bytes&gt;5%\"")) << xml;
  EXPECT_TRUE(has(xml, "<failure message=\"bytes&gt;5%: 15.0 KiB -&gt; 30.3 KiB")) << xml;
  EXPECT_TRUE(has(xml, "name=\"messages&lt;&gt;0\"")) << xml;
}

class HostileNames : public DiffReport {
 protected:
  HostileNames() : DiffReport(made(48, false, kHostile), made(96, true, kHostile)) {}
  static void expect_clean(const std::string& text) {
    for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
    EXPECT_FALSE(has(text, "<script"));
    EXPECT_FALSE(has(text, "\xff"));
    EXPECT_TRUE(has(text, "&lt;script&gt;alert(&quot;1&quot;)"));
  }
};

TEST_F(HostileNames, AreTextInMarkup) {
  expect_clean(diff_html(view()));
  expect_clean(diff_junit(view({"calls>1"})));
  const std::string text = diff_text(view());
  EXPECT_FALSE(has(text, "\x1b"));
  EXPECT_FALSE(has(text, "\xff"));
  EXPECT_TRUE(nlohmann::json::accept(diff_json(view())));
}

}  // namespace
}  // namespace refrain::report
