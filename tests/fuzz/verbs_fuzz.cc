// Whatever opens as a trace goes through every verb: info, stats, check, profile, matrix, diff,
// waits, cluster, the dry run of a replay and dump of some calls of some ranks. None may fail, and
// what they count must agree.
#include <algorithm>

#include "analysis/clusters/cluster.h"
#include "analysis/clusters/matching.h"
#include "analysis/diff/diff.h"
#include "analysis/matrix.h"
#include "analysis/profile/profile.h"
#include "analysis/waits/wait_states.h"
#include "reader/verify/verify.h"
#include "refrain/calls.h"
#include "replay/plan/dry_run.h"
#include "replay/plan/tags.h"
#include "report/diff/diff_report.h"
#include "report/matrix_report.h"
#include "report/profile/profile_report.h"
#include "report/trace/call_text.h"
#include "report/trace/info_text.h"
#include "report/trace/stats_text.h"
#include "report/waits/waits_report.h"
#include "support.h"
#include "text/values.h"

namespace refrain::fuzz {
namespace {

constexpr Rank kMaxRanks = 2048;  // more would only be slower
constexpr uint64_t kMaxCalls = 40;
constexpr size_t kMaxText = size_t{1} << 20;

void dump_some(Cursor& cursor, uint64_t from, uint64_t total, report::CallFormatter& text,
               report::CallFormatter& json) {
  cursor.seek(from);
  std::string out;
  for (uint64_t i = 0; i < kMaxCalls && out.size() < kMaxText; ++i) {
    const Call* call = cursor.next();
    require((call != nullptr) == (from + i < total), "as many calls as there are");
    if (call == nullptr) return;
    require(call->seq == from + i, "calls are numbered");
    // A line may be longer than anybody wants to read; that is said and no error.
    if (text.append(out, *call)) json.append(out, *call);
  }
}

void dump(const Trace& trace, Rank rank) {
  const auto no_site = [](DefinitionId) { return std::string(); };
  RankReader reader(trace, rank);
  report::CallFormatter text(trace, text::Style::kText, no_site);
  report::CallFormatter json(trace, text::Style::kJson, no_site);
  const std::vector<Location> locations = trace.locations(rank);
  for (size_t i = 0; i < std::min<size_t>(locations.size(), 3); ++i) {
    auto cursor = reader.cursor(locations[i].thread);
    require(cursor.ok(), "every location has a cursor");
    const uint64_t calls = locations[i].calls;
    for (const uint64_t from : {uint64_t{0}, calls / 2, calls - std::min<uint64_t>(calls, 3)})
      dump_some(*cursor, from, calls, text, json);
  }
}

void fold(const Trace& trace) {
  const analysis::Profile profile = analysis::profile(trace);
  uint64_t calls = 0;
  for (const analysis::FunctionRow& row : profile.functions) calls += row.totals.calls;
  require(calls == profile.all.calls, "functions add up to all calls");
  require(calls == trace.call_count(), "the profile has every call");
  reader::Symbols symbols;
  const report::ProfileView view{trace, profile, symbols};
  (void)report::profile_json(view).size();
  (void)report::profile_text(view, 5).size();
  (void)report::profile_table_text(view, report::ProfileBy::kCallPath, 5).size();
  (void)report::profile_csv(view, report::ProfileBy::kSite).size();
  (void)report::profile_csv(view, report::ProfileBy::kRank).size();
  (void)report::profile_table_text(view, report::ProfileBy::kRank, 5).size();
  const analysis::Matrix matrix = analysis::matrix(trace, analysis::MatrixKind::kAll);
  (void)report::matrix_json(matrix).size();
  (void)report::matrix_csv(matrix).size();
  (void)report::matrix_text(matrix, trace.name()).size();
}

// Whatever ranks do, some of them can stand for all.
void cluster(const Trace& trace) {
  constexpr Rank kMost = 64;
  if (trace.clustering() || trace.rank_count() > kMost) return;
  namespace clusters = analysis::clusters;
  for (const bool paper : {false, true}) {
    clusters::ClusterRequest request;
    request.k = std::min<uint64_t>(3, static_cast<uint64_t>(trace.rank_count()));
    request.has_lead_endpoints = request.is_by_tree = request.mixes_structures = paper;
    const auto found = clusters::find(trace, request);
    require(found.ok(), "ranks have clusters");
    const auto bytes = clusters::encode(trace, *found);
    if (!bytes.ok()) continue;  // too large, say
    const auto back = Trace::from_bytes(*bytes, "clustered");
    require(back.ok(), "what is written can be read");
    require(clusters::matching(trace, *back).ok(), "both have the same ranks");
    (void)report::info_json(*back).size();
  }
}

// A run has not changed from itself.
void compare(const Trace& trace) {
  reader::Symbols symbols;
  const analysis::diff::Diff diff = analysis::diff::diff(trace, trace, symbols, {.waits = false});
  require(diff.is_same(), "a run is the same as itself");
  const report::DiffView view{trace, trace, diff, symbols, {}, 5};
  (void)report::diff_text(view).size();
  (void)report::diff_json(view).size();
  (void)report::diff_junit(view).size();
  (void)report::diff_html(view).size();
}

// Times that follow from the numbers of the calls, a limited part of each location.
class Numbered : public events::CallSource {
 public:
  bool has_times() override { return true; }
  std::unique_ptr<events::CallStream> open(RankReader& reader, uint32_t thread) override {
    auto cursor = reader.cursor(thread);
    if (!cursor.ok()) return nullptr;
    return std::make_unique<Calls>(std::move(*cursor), static_cast<uint64_t>(reader.rank()));
  }

 private:
  class Calls : public events::CallStream {
   public:
    Calls(Cursor cursor, uint64_t rank) : cursor_(std::move(cursor)), rank_(rank) {}
    bool next(events::ClockedCall& out) override {
      const Call* call = cursor_.next();
      if (call == nullptr || call->seq >= kMostCalls) return false;
      const uint64_t begin = call->seq * (10 + rank_ % 7);
      out = {call->signature, call->seq, begin, begin + rank_ % 5};
      return true;
    }

   private:
    static constexpr uint64_t kMostCalls = 2000;
    Cursor cursor_;
    uint64_t rank_;
  };
};

void wait(const Trace& trace) {
  namespace waits = analysis::waits;
  Numbered calls;
  waits::Options options;
  options.explain = waits::Pattern::kAll;
  options.explain_count = 3;
  const auto result = waits::wait_states(trace, calls, options);
  require(result.ok(), "calls with times have wait states");
  uint64_t waiting = 0;
  for (const waits::RankTime& time : result->ranks) waiting += time.waiting_ns;
  require(result->ns_of(waits::Pattern::kAll) >= waiting, "every wait has a pattern");
  reader::Symbols symbols;
  const report::WaitsView view{trace, *result, symbols, std::nullopt, -1, 5};
  (void)report::waits_json(view).size();
  (void)report::waits_text(view).size();
  (void)report::waits_csv(view).size();
  (void)report::explained_text(view).size();
}

// Whatever can be told of a replay.
void replay_dry(const Trace& trace) {
  namespace plan = replay::plan;
  plan::UnbufferedOptions limits;
  limits.most_calls = 20000;
  limits.most_memory = uint64_t{64} << 20;
  const plan::DryRun run = plan::dry_run(trace, {}, limits);
  (void)plan::check_ends(trace);
  (void)plan::dry_run_text(trace, run).size();
  (void)plan::dry_run_json(trace, run).size();
  require(plan::refused_lines(trace, run).empty() == run.can_be_replayed(),
          "what cannot be replayed is said");
  (void)plan::TagMap(trace, plan::kLeastTagBound).size();
}

}  // namespace
}  // namespace refrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain;
  const std::string bytes = fuzz::trace_file(fuzz::view_of(data, size));
  const auto trace = Trace::from_bytes(bytes, "fuzz");
  if (!trace.ok()) return 0;
  (void)report::info_json(*trace).size();
  (void)report::info_text(*trace).size();
  (void)report::stats_text(report::count_stats(*trace)).size();
  const Rank ranks = trace->rank_count();
  if (ranks > fuzz::kMaxRanks) return 0;
  (void)reader::verify(*trace, 10).size();
  for (const Rank rank : {Rank{0}, ranks / 2, ranks - 1}) fuzz::dump(*trace, rank);
  fuzz::fold(*trace);
  fuzz::compare(*trace);
  fuzz::cluster(*trace);
  fuzz::wait(*trace);
  fuzz::replay_dry(*trace);
  return 0;
}
