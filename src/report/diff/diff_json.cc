// What changed, for programs.

#include <nlohmann/json.hpp>

#include "report/diff/diff_rows.h"
#include "report/nullable.h"
#include "report/profile/profile_rows.h"
#include "report/stood_for.h"

namespace refrain::report {
namespace {

using Json = nlohmann::ordered_json;
using namespace analysis::diff;  // NOLINT: everything here is about it

Json both(double before, double after) { return {{"before", before}, {"after", after}}; }

Json amounts(const Amounts& a, const Amounts& b, double noise_ns, bool has_waits) {
  Json out;
  out["calls"] = both(a.calls, b.calls);
  out["polls"] = both(a.polls, b.polls);
  out["failed"] = both(a.failed, b.failed);
  out["bytes"] = both(a.bytes, b.bytes);
  out["messages"] = both(a.messages, b.messages);
  out["one_sided"] = both(a.one_sided, b.one_sided);
  out["time_ns"] = both(a.time_ns, b.time_ns);
  out["time_ns"]["noise"] = noise_ns;
  out["time_ns"]["within_noise"] = Measure{a.time_ns, b.time_ns, noise_ns}.is_noise();
  if (has_waits) out["waits_ns"] = both(a.waits_ns, b.waits_ns);
  return out;
}

Json side(const Trace& trace, const Side& s) {
  Json out = {{"trace", trace.name()},
              {"complete", trace.info().complete},
              {"ranks", s.ranks},
              {"program", trace.info().text_of("program")},
              {"command", trace.info().text_of("command")},
              {"duration_ns", trace.info().duration_ns},
              {"call_paths", s.places},
              {"signatures", s.signatures},
              {"partners", s.partners},
              {"unsized", s.unsized},
              {"no_waits", s.has_waits ? Json() : Json(s.no_waits)}};
  add_stood_for(out, trace, MadeOf::kSums);
  return out;
}

Json call(DiffRows& rows, const CallChange& c, bool has_waits) {
  Json out;
  out["change"] = name_of(c.change);
  out["call"] = call_name(c.call);
  out["place"] = rows.place(c);
  out["path_before"] = nullable(rows.path_of(c, true));
  out["path_after"] = nullable(rows.path_of(c, false));
  out.update(amounts(c.before, c.after, c.time_noise_ns, has_waits));
  out["signatures"] = Json::array();
  for (const SignatureChange& s : c.signatures)
    out["signatures"].push_back(
        {{"change", name_of(s.change)},
         {"before", s.change == Change::kAppeared ? Json() : Json(s.before)},
         {"after", s.change == Change::kVanished ? Json() : Json(s.after)},
         {"calls", both(s.calls_before, s.calls_after)}});
  return out;
}

Json loop(const LoopChange& l) {
  return {{"change", name_of(l.change)},
          {"calls_before", l.calls_before},  // indices of "calls"
          {"calls_after", l.calls_after},
          {"iterations", both(l.iterations_before, l.iterations_after)},
          {"entries_a_rank", both(l.entries_before, l.entries_after)}};
}

Json partner(const PartnerChange& p) {
  return {{"change", name_of(p.change)},
          {"source", p.source < 0 ? Json() : Json(p.source)},
          {"dest", p.dest < 0 ? Json() : Json(p.dest)},
          {"distance", nullable(p.distance)},
          {"messages", both(p.messages_before, p.messages_after)},
          {"one_sided", both(p.one_sided_before, p.one_sided_after)},
          {"bytes", both(p.bytes_before, p.bytes_after)}};
}

}  // namespace

std::string diff_json(const DiffView& view) {
  const Diff& d = view.diff;
  DiffRows rows(view);
  Json out;
  out["before"] = side(view.before, d.sides[0]);
  out["after"] = side(view.after, d.sides[1]);
  out["same"] = d.is_same();
  out["per_rank"] = !d.same_ranks;  // numbers are of a rank in the mean
  out["baselines"] = d.baselines;   // whose mean times and waits before are
  out["totals"] = amounts(d.before, d.after, d.time_noise_ns, d.has_waits());
  out["calls"] = Json::array();
  for (const CallChange& c : d.calls) out["calls"].push_back(call(rows, c, d.has_waits()));
  out["loops"] = Json::array();
  for (const LoopChange& l : d.loops) out["loops"].push_back(loop(l));
  out["partners"] = Json::array();
  for (const PartnerChange& p : d.partners) out["partners"].push_back(partner(p));
  out["waits"] = Json::array();
  for (const WaitChange& w : d.waits) {
    Json item = both(w.ns.before, w.ns.after);
    item["pattern"] = name_of(w.pattern);
    item["noise"] = w.ns.noise;
    item["within_noise"] = w.ns.is_noise();
    out["waits"].push_back(std::move(item));
  }
  out["thresholds"] = Json::array();
  for (const Verdict& v : view.verdicts)
    out["thresholds"].push_back({{"threshold", v.threshold.text},
                                 {"metric", name_of(v.threshold.metric)},
                                 {"before", v.value.before},
                                 {"after", v.value.after},
                                 {"noise", v.value.noise},
                                 {"crossed", v.is_crossed},
                                 {"within_noise", v.is_in_noise}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace refrain::report
