// What the page says first: how good the run was, and what it lost most time with.

#include <algorithm>
#include <map>
#include <tuple>

#include "report/cores_text.h"
#include "report/page/factors.h"
#include "report/page/section.h"
#include "report/profile/profile_rows.h"
#include "report/waits/verdict_text.h"
#include "report/waits/waits_rows.h"
#include "text/numbers.h"
#include "text/path_names.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;
namespace waits = analysis::waits;

namespace {

constexpr size_t kTop = 3;

// From what each rank's time in and outside of MPI adds up to. The factors of the POP Centre of
// Excellence that need no times of single calls.
Json efficiency_of_totals(const analysis::Profile& p, uint64_t duration_ns) {
  const auto runtime = static_cast<double>(duration_ns);
  if (runtime <= 0 || p.outside_ns.max <= 0) return {};
  const double balance = p.outside_ns.mean / p.outside_ns.max;
  const double communication = std::min(1.0, p.outside_ns.max / runtime);
  return {{"source", "totals"},
          {"parallel", balance * communication},
          {"load_balance", balance},
          {"communication", communication},
          {"serialisation", Json()},
          {"transfer", Json()},
          {"runtime_ns", duration_ns},
          {"ideal_ns", Json()},
          {"useful_mean_ns", text::rounded(p.outside_ns.mean)},
          {"useful_max_ns", text::rounded(p.outside_ns.max)}};
}

Json efficiency_of_waits(const waits::Efficiency& e) {
  return {{"source", "waits"},
          {"parallel", e.parallel},
          {"load_balance", e.load_balance},
          {"communication", e.communication},
          {"serialisation", e.serialisation},
          {"transfer", e.transfer},
          {"runtime_ns", e.runtime_ns},
          {"ideal_ns", e.ideal_ns},
          {"useful_mean_ns", text::rounded(e.useful_mean_ns)},
          {"useful_max_ns", text::rounded(e.useful_max_ns)}};
}

struct Loss {
  waits::Pattern pattern{};
  DefinitionId path = kNoDefinition;
  CallId call = 0;
  uint64_t ns = 0, count = 0, worst_ns = 0;
  Rank worst = -1;
};

std::vector<Loss> dominant(const waits::WaitStates& w) {
  std::map<std::tuple<waits::Pattern, DefinitionId, CallId>, Loss> sums;
  for (const waits::Severity& s : w.severities) {
    Loss& loss = sums[{s.pattern, s.path, s.call}];
    loss.pattern = s.pattern;
    loss.path = s.path;
    loss.call = s.call;
    loss.ns += s.ns;
    loss.count += s.count;
    if (s.ns > loss.worst_ns) loss.worst_ns = s.ns, loss.worst = s.rank;
  }
  std::vector<Loss> out;
  for (const auto& [key, loss] : sums) out.push_back(loss);
  std::stable_sort(out.begin(), out.end(),
                   [](const Loss& a, const Loss& b) { return a.ns > b.ns; });
  if (out.size() > kTop) out.resize(kTop);
  return out;
}

// The longest single wait of it.
Json example(const waits::WaitStates& w, const Loss& loss) {
  for (const waits::Explained& e : w.explained)
    if (e.pattern == loss.pattern && e.path == loss.path && e.call == loss.call)
      return {{"rank", e.rank},  {"thread", e.thread},   {"seq", e.seq},
              {"ns", e.wait_ns}, {"partner", e.partner}, {"begin_ns", e.begin_ns}};
  return {};
}

Json top_waits(const PageView& view) {
  const waits::WaitStates& w = *view.answers.waits;
  text::PathNames names(view.trace, view.symbols);
  Json out = Json::array();
  const auto place = [&](DefinitionId path, CallId call) {
    return call == 0 ? std::string() : call_name(call) + " at " + names.steps(path).back().label();
  };
  for (const Loss& loss : dominant(w)) {
    Json item = {{"pattern", name_of(loss.pattern)},
                 {"title", title_of(loss.pattern)},
                 {"call", call_name(loss.call)},
                 {"path", names.text(loss.path)},
                 {"site", names.steps(loss.path).back().site},
                 {"ns", loss.ns},
                 {"share", w.total_ns > 0 ? static_cast<double>(loss.ns) / w.total_ns : 0},
                 {"count", loss.count},
                 {"rank", loss.worst},
                 {"rank_ns", loss.worst_ns},
                 {"example", example(w, loss)}};
    for (const waits::Cause& cause : w.causes) {
      if (cause.pattern != loss.pattern || cause.path != loss.path || cause.call != loss.call)
        continue;
      const waits::Delay& d = cause.delay;
      item["cause"] = {{"rank", d.rank},
                       {"ns", d.short_term_ns + d.long_term_ns},
                       {"is_call", d.is_call},
                       {"from", place(d.from_path, d.from_call)},
                       {"to", place(d.to_path, d.to_call)}};
    }
    out.push_back(std::move(item));
  }
  return out;
}

// Without times: where the time in MPI went, as far as that can be told.
Json top_paths(const PageView& view) {
  text::PathNames names(view.trace, view.symbols);
  const analysis::Profile& p = view.answers.profile;
  Json out = Json::array();
  for (size_t i = 0; i < std::min(kTop, p.paths.size()); ++i) {
    const analysis::SiteRow& row = p.paths[i];
    out.push_back({{"call", call_name(row.call)},
                   {"path", names.text(row.site)},
                   {"site", names.steps(row.site).back().site},
                   {"ns", row.totals.time_ns},
                   {"share", p.share_of_run(row.totals.time_ns)},
                   {"count", row.totals.calls}});
  }
  return out;
}

void put_verdict(const PageView& view, PageData& out) {
  const PageAnswers& a = view.answers;
  Json json;
  json["mpi_share"] = a.profile.share_of_run(a.profile.all.time_ns);
  json["efficiency"] = a.waits ? efficiency_of_waits(a.waits->efficiency)
                               : efficiency_of_totals(a.profile, view.trace.info().duration_ns);
  json["factors"] = factors(json["efficiency"]);
  json["waiting_share"] =
      a.waits && a.waits->total_ns > 0
          ? Json(static_cast<double>(a.waits->ns_of(waits::Pattern::kAll)) / a.waits->total_ns)
          : Json();
  json["top"] = a.waits ? top_waits(view) : top_paths(view);
  json["top_are_waits"] = a.waits.has_value();
  const analysis::CoreUse use = analysis::core_use(view.trace);
  json["cores"] = cores_json(view.trace, use);
  const std::string crowding = crowding_text(view.trace, use);
  json["text"] = crowding.empty() ? Json() : Json(crowding);
  if (a.waits) {
    text::PathNames names(view.trace, view.symbols);
    json["text"] = verdict_text({view.trace, *a.waits, view.symbols, {}, -1, 0}, names);
  }
  out.json["verdict"] = std::move(json);
}

class VerdictSection : public PageSection {
 public:
  void write(const PageView& view, PageData& out) const override { put_verdict(view, out); }
};

}  // namespace

std::unique_ptr<PageSection> verdict_section() { return std::make_unique<VerdictSection>(); }

}  // namespace refrain::report
