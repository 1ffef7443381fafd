#include "report/diff/diff_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "report/profile/profile_rows.h"
#include "report/stood_for.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

using analysis::diff::CallChange;
using analysis::diff::Change;
using analysis::diff::LoopChange;
using analysis::diff::Measure;
using analysis::diff::PartnerChange;
using analysis::diff::SignatureChange;
using analysis::diff::Words;

constexpr size_t kMostDetails = 4;
constexpr size_t kMostPairs = 8;  // of ranks, in one row
constexpr size_t kMostInBody = 4;

std::string time_numbers(const Measure& m) {
  return fmt::format("{}, noise {}", arrow_text(m.before, m.after, "ns"),
                     text::duration_text(text::rounded(m.noise)));
}

// A noise that is larger than both values says nothing as a number.
std::string noise_text(const Measure& m, bool is_within, std::string_view unit) {
  if (is_within && m.noise > std::max(m.before, m.after)) return ", noise may be all of it";
  return fmt::format(", {} the noise of {}", is_within ? "within" : "past",
                     amount_text(m.noise, unit));
}

Words only_in(const Words& a, const Words& b) {
  Words out;
  for (const std::string& word : a)
    if (std::find(b.begin(), b.end(), word) == b.end()) out.push_back(word);
  return out;
}

// Whether every signature has changed by the part that all calls have, and in nothing else.
bool is_more_of_the_same(const CallChange& c) {
  return c.signatures.size() == c.signatures_before && c.signatures.size() == c.signatures_after &&
         std::all_of(c.signatures.begin(), c.signatures.end(), [&c](const SignatureChange& s) {
           return s.before == s.after && change_text(s.calls_before, s.calls_after) ==
                                             change_text(c.before.calls, c.after.calls);
         });
}

// What does not tell signatures apart; of a single one nothing.
Words common_words(const std::vector<SignatureChange>& signatures) {
  if (signatures.size() < 2) return {};
  const auto words = [](const SignatureChange& s) -> const Words& {
    return s.after.empty() ? s.before : s.after;
  };
  Words out = words(signatures[0]);
  const auto keep = [&out](const Words& w) {
    if (w.empty()) return;
    std::erase_if(out, [&w](const std::string& word) {
      return std::find(w.begin(), w.end(), word) == w.end();
    });
  };
  for (const SignatureChange& s : signatures) {
    keep(s.before);
    keep(s.after);
  }
  return out;
}

std::string signature_text(const SignatureChange& s, const Words& common) {
  if (s.change == Change::kAppeared)
    return fmt::format("new: {}: calls {}", words_text(only_in(s.after, common)),
                       amount_text(s.calls_after));
  if (s.change == Change::kVanished)
    return fmt::format("gone: {}: calls {}", words_text(only_in(s.before, common)),
                       amount_text(s.calls_before));
  const std::string calls = arrow_text(s.calls_before, s.calls_after, "");
  if (s.before == s.after)
    return fmt::format("{}: calls {}", words_text(only_in(s.after, common)), calls);
  return fmt::format("{}: calls {}", words_change(s.before, s.after), calls);
}

}  // namespace

std::string words_text(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + text::printable(word);
  return out.empty() ? "no parameters" : out;
}

std::string words_change(const Words& before, const Words& after) {
  const Words gone = only_in(before, after), come = only_in(after, before);
  return (gone.empty() ? "nothing" : words_text(gone)) + " -> " +
         (come.empty() ? "nothing" : words_text(come));
}

const std::vector<text::PathStep>& DiffRows::steps(const CallChange& call) {
  static const auto is_named = [](const std::vector<text::PathStep>& s) {
    return !s.empty() && !s.back().function.empty();
  };
  if (call.is_after) {
    const std::vector<text::PathStep>& s = after_.steps(call.path_after);
    if (is_named(s) || !call.is_before) return s;
    if (!is_named(before_.steps(call.path_before))) return s;
  }
  return before_.steps(call.path_before);
}

std::string DiffRows::place(const CallChange& call) {
  const text::PathStep& step = steps(call).back();
  return text::printable(
      step.function.empty() ? step.site : step.site + " in " + text::shown_name(step.function));
}

std::string DiffRows::path(const CallChange& call) {
  std::string out;
  for (const text::PathStep& step : steps(call)) out += (out.empty() ? "" : " > ") + step.label();
  return text::printable(out);
}

std::string DiffRows::path_of(const CallChange& call, bool is_before) {
  if (is_before) return call.is_before ? before_.text(call.path_before) : "";
  return call.is_after ? after_.text(call.path_after) : "";
}

std::string DiffRows::headline() {
  const auto& d = view_.diff;
  std::string ranks = text::counted_text(d.sides[1].ranks, "rank");
  if (!d.same_ranks)
    ranks = text::count_text(d.sides[0].ranks) + " -> " + ranks +
            ", so numbers are of a rank in the mean";
  return ranks + (d.is_same()             ? ": no difference in the communication"
                  : d.is_same_of_a_rank() ? ": the communication of a rank does not differ"
                                          : ": the communication differs");
}

std::vector<std::string> DiffRows::notes() {
  std::vector<std::string> out;
  const auto compare = [&](const char* key, const char* what) {
    const auto a = view_.before.info().text_of(key), b = view_.after.info().text_of(key);
    if (a != b)
      out.push_back(fmt::format("{}: {} -> {}", what, a.empty() ? "none" : text::printable(a),
                                b.empty() ? "none" : text::printable(b)));
  };
  compare("command", "command");
  compare("mpi_version", "MPI");
  compare("filter", "filter, so that other calls were recorded");
  for (const Trace* trace : {&view_.before, &view_.after}) {
    if (auto note = stood_for_note(*trace); !note.empty()) out.push_back(std::move(note));
    if (!trace->info().complete)
      out.push_back("incomplete: " + text::printable(trace->name()) +
                    "; what is missing is compared as if it had not been");
  }
  const auto& sides = view_.diff.sides;
  for (const auto& side : sides)
    if (side.unsized > 0)
      out.push_back(fmt::format("{} of the {} run whose bytes are not known count as 0",
                                text::counted_text(side.unsized, "transfer"),
                                &side == &sides[0] ? "first" : "second"));
  if (view_.diff.baselines > 1)
    out.push_back(fmt::format("times and waits before are means of {}, and noise is their spread",
                              text::counted_text(view_.diff.baselines, "run")));
  if (!view_.diff.has_waits())
    out.push_back("waits are not compared: " +
                  text::printable(sides[0].has_waits ? sides[1].no_waits : sides[0].no_waits));
  return out;
}

std::vector<TotalRow> DiffRows::totals() {
  const auto& d = view_.diff;
  std::vector<TotalRow> out;
  const auto row = [&](const std::string& name, double a, double b, std::string_view unit) {
    out.push_back({name, amount_text(a, unit), amount_text(b, unit), change_text(a, b)});
  };
  const auto timed = [&](const std::string& name, double a, double b, double noise) {
    row(name, a, b, "ns");
    const Measure m{a, b, noise};
    if (a == b) return;
    out.back().change += noise_text(m, m.is_noise(), "ns");
  };
  row("calls", d.before.calls, d.after.calls, "");
  if (d.before.polls > 0 || d.after.polls > 0) row("polls", d.before.polls, d.after.polls, "");
  if (d.before.failed > 0 || d.after.failed > 0) row("failed", d.before.failed, d.after.failed, "");
  row("bytes", d.before.bytes, d.after.bytes, "bytes");
  row("messages", two_sided(d.before), two_sided(d.after), "");
  if (d.before.one_sided > 0 || d.after.one_sided > 0)
    row("one-sided", d.before.one_sided, d.after.one_sided, "");
  const auto number = [](uint64_t n) { return static_cast<double>(n); };
  row("call paths", number(d.sides[0].places), number(d.sides[1].places), "");
  row("signatures", number(d.sides[0].signatures), number(d.sides[1].signatures), "");
  row(d.same_ranks ? "pairs of ranks" : "distances", number(d.sides[0].partners),
      number(d.sides[1].partners), "");
  timed("time in MPI", d.before.time_ns, d.after.time_ns, d.time_noise_ns);
  if (d.has_waits()) timed("waits", d.before.waits_ns, d.after.waits_ns, d.waits_noise_ns);
  return out;
}

std::vector<std::string> DiffRows::signature_details(const CallChange& call) {
  std::vector<std::string> out;
  if (call.change != Change::kChanged) {
    if (call.signatures.size() == 1)
      out.push_back(
          words_text(call.is_after ? call.signatures[0].after : call.signatures[0].before));
    return out;
  }
  if (is_more_of_the_same(call)) return out;
  const Words common = common_words(call.signatures);
  std::map<std::string, size_t> times;  // the same may have happened to several
  for (const SignatureChange& s : call.signatures) {
    const std::string text = signature_text(s, common);
    if (++times[text] == 1) out.push_back(text);
  }
  for (std::string& text : out)
    if (const size_t n = times[text]; n > 1) text = fmt::format("{} signatures, each: {}", n, text);
  if (out.size() > kMostDetails) {
    const size_t more = out.size() - kMostDetails;
    out.resize(kMostDetails);
    out.push_back(fmt::format("... and {} more", more));
  }
  return out;
}

std::vector<DiffFinding> DiffRows::calls() {
  std::vector<DiffFinding> out;
  for (const CallChange& c : view_.diff.calls) {
    if (c.change == Change::kSame) break;  // they are behind those that changed
    out.push_back({"calls", std::string(name_of(c.change)), call_name(c.call), place(c), path(c),
                   numbers_of(c), signature_details(c), amounts_of(c.before, c.after)});
  }
  return out;
}

std::string DiffRows::body(const std::vector<uint32_t>& calls) {
  std::string out;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i == kMostInBody) return out + fmt::format(", ... {} in all", calls.size());
    const CallChange& call = view_.diff.calls[calls[i]];
    out += (i > 0 ? ", " : "") + call_name(call.call) + " " + steps(call).back().site;
  }
  return text::printable(out);
}

std::vector<DiffFinding> DiffRows::loops() {
  std::vector<DiffFinding> out;
  for (const LoopChange& l : view_.diff.loops) {
    DiffFinding f;
    f.kind = "loops";
    f.change = name_of(l.change);
    f.title = "loop";
    f.where = body(l.change == Change::kVanished ? l.calls_before : l.calls_after);
    f.numbers = "iterations " + arrow_text(l.iterations_before, l.iterations_after, "") +
                ", entered " + amount_text(l.entries_before) + " -> " +
                amount_text(l.entries_after) + " times a rank";
    if (l.change == Change::kChanged && l.calls_before != l.calls_after) {
      std::vector<uint32_t> gone, come;
      std::set_difference(l.calls_before.begin(), l.calls_before.end(), l.calls_after.begin(),
                          l.calls_after.end(), std::back_inserter(gone));
      std::set_difference(l.calls_after.begin(), l.calls_after.end(), l.calls_before.begin(),
                          l.calls_before.end(), std::back_inserter(come));
      if (!come.empty()) f.details.push_back("new in the body: " + body(come));
      if (!gone.empty()) f.details.push_back("gone from the body: " + body(gone));
    }
    out.push_back(std::move(f));
  }
  return out;
}

// Pairs that have changed in the same way share a row.
std::vector<DiffFinding> DiffRows::partners() {
  std::vector<DiffFinding> out;
  std::map<std::pair<Change, std::string>, std::pair<size_t, size_t>> rows;  // row, pairs in it
  for (const PartnerChange& p : view_.diff.partners) {
    DiffFinding f;
    f.kind = "partners";
    f.change = name_of(p.change);
    f.title = p.distance.empty() ? fmt::format("{} -> {}", p.source, p.dest) : "to " + p.distance;
    const double messages_before = p.messages_before - p.one_sided_before,
                 messages_after = p.messages_after - p.one_sided_after;
    add_number(f.numbers, "messages", messages_before, messages_after, "");
    add_number(f.numbers, "one-sided transfers", p.one_sided_before, p.one_sided_after, "");
    add_number(f.numbers, "bytes", p.bytes_before, p.bytes_after, "bytes");
    const auto [at, is_new] = rows.try_emplace({p.change, f.numbers}, out.size(), 0);
    auto& [row, pairs] = at->second;
    ++pairs;
    f.amounts = {{"messages", messages_before, messages_after, ""},
                 {"one-sided transfers", p.one_sided_before, p.one_sided_after, ""},
                 {"bytes", p.bytes_before, p.bytes_after, "bytes"}};
    for (size_t i = 0; !is_new && i < f.amounts.size(); ++i) {
      out[row].amounts[i].before += f.amounts[i].before;
      out[row].amounts[i].after += f.amounts[i].after;
    }
    if (is_new)
      out.push_back(std::move(f));
    else if (pairs <= kMostPairs)
      out[row].title += ", " + f.title;
  }
  for (const auto& [key, row] : rows)
    if (row.second > 1)
      out[row.first].numbers =
          fmt::format("{} {}, each: ", row.second, view_.diff.same_ranks ? "pairs" : "distances") +
          out[row.first].numbers;
  for (const auto& [key, row] : rows)
    if (row.second > kMostPairs) out[row.first].title += ", ...";
  return out;
}

std::vector<DiffFinding> DiffRows::times() {
  std::vector<std::pair<double, const CallChange*>> rows;
  for (const CallChange& c : view_.diff.calls) {
    const Measure m{c.before.time_ns, c.after.time_ns, c.time_noise_ns};
    if (c.is_before && c.is_after && !m.is_noise()) rows.emplace_back(-std::abs(m.change()), &c);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<DiffFinding> out;
  for (const auto& [weight, c] : rows) {
    const Measure m{c->before.time_ns, c->after.time_ns, c->time_noise_ns};
    out.push_back({"time",
                   m.change() > 0 ? "slower" : "faster",
                   call_name(c->call),
                   place(*c),
                   path(*c),
                   "time " + time_numbers(m),
                   {},
                   {{"time", m.before, m.after, "ns"}}});
  }
  return out;
}

size_t DiffRows::times_in_noise() {
  return static_cast<size_t>(
      std::count_if(view_.diff.calls.begin(), view_.diff.calls.end(), [](const CallChange& c) {
        return c.is_before && c.is_after &&
               Measure{c.before.time_ns, c.after.time_ns, c.time_noise_ns}.is_noise();
      }));
}

std::vector<DiffFinding> DiffRows::waits() {
  std::vector<DiffFinding> out;
  for (const auto& w : view_.diff.waits) {
    if (w.ns.is_noise()) continue;
    out.push_back({"waits",
                   w.ns.change() > 0 ? "longer" : "shorter",
                   std::string(title_of(w.pattern)),
                   "",
                   "",
                   time_numbers(w.ns),
                   {},
                   {}});
  }
  return out;
}

std::string verdict_text(const analysis::diff::Verdict& v) {
  const std::string_view unit = unit_of(v.threshold.metric);
  std::string out =
      text::printable(v.threshold.text) + ": " + arrow_text(v.value.before, v.value.after, unit);
  if (v.value.noise > 0 && (v.is_in_noise || v.is_crossed))
    out += noise_text(v.value, v.is_in_noise, unit);
  return out;
}

bool is_at(const DiffView& view, const CallChange& call, const std::string& where) {
  text::PathNames before(view.before, view.symbols), after(view.after, view.symbols);
  return (call.is_before && before.contains(call.path_before, where)) ||
         (call.is_after && after.contains(call.path_after, where));
}

}  // namespace refrain::report
