#include "report/waits/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "report/cores_text.h"
#include "report/profile/profile_rows.h"
#include "text/numbers.h"
#include "text/path_names.h"

namespace refrain::report {
namespace {

using analysis::waits::Culprit;
using analysis::waits::Delay;
using analysis::waits::Pattern;

constexpr size_t kMostRanks = 4;  // named one by one

std::string at(text::PathNames& names, DefinitionId path, CallId call) {
  if (call == 0) return call_or_edge(call);
  return call_name(call) + " " + names.steps(path).back().label();
}

// "main heat.c:41"
std::string line(text::PathNames& names, DefinitionId path, CallId call) {
  return call == 0 ? "its begin" : names.steps(path).back().label();
}

bool is_same_stretch(const Delay& a, const Delay& b) {
  return a.from_path == b.from_path && a.from_call == b.from_call && a.to_path == b.to_path &&
         a.to_call == b.to_call && a.is_call == b.is_call;
}

std::string ranks_text(const std::vector<const Culprit*>& group) {
  if (group.size() == 1) return fmt::format("rank {}", group[0]->stretch.rank);
  if (group[0]->much_ranks > kMostRanks)
    return fmt::format("{} ranks (most of all rank {})", text::count_text(group[0]->much_ranks),
                       group[0]->stretch.rank);
  std::vector<Rank> ranks;
  for (const Culprit* culprit : group) ranks.push_back(culprit->stretch.rank);
  std::sort(ranks.begin(), ranks.end());
  std::string out = "ranks";
  for (size_t i = 0; i < ranks.size(); ++i)
    out += fmt::format("{} {}", i == 0 ? "" : i + 1 == ranks.size() ? " and" : ",", ranks[i]);
  return out;
}

// "8.0 times as long as the others", or what can be said where that cannot.
std::string longer_text(const Culprit& worst, bool is_call) {
  const double more = worst.mean_ns - worst.others_ns;
  if (worst.others == 0 || worst.others_ns <= 0)
    return fmt::format("{} each time", text::time_text(worst.mean_ns));
  if (more <= 0)  // as long as others, and still others waited for it
    return fmt::format("{} each time, about as long as the others,",
                       text::time_text(worst.mean_ns));
  return fmt::format("{:.1f} times as long as the others{}", worst.mean_ns / worst.others_ns,
                     is_call ? fmt::format(" ({}, {})", text::time_text(worst.mean_ns),
                                           text::time_text(worst.others_ns))
                             : "");
}

std::string what_it_does(text::PathNames& names, const std::vector<const Culprit*>& group) {
  const Delay& d = group[0]->stretch;
  const bool is_one = group.size() == 1;
  const std::string who = ranks_text(group);
  if (d.from_call == 0 && !d.is_call)
    return fmt::format("{} begin{} later than the others, with {}", who, is_one ? "s" : "",
                       at(names, d.to_path, d.to_call));
  if (d.is_call)
    return fmt::format("{} spend{} {} in {}", who, is_one ? "s" : "", longer_text(*group[0], true),
                       at(names, d.to_path, d.to_call));
  const std::string from = line(names, d.from_path, d.from_call);
  const std::string to = line(names, d.to_path, d.to_call);
  return fmt::format("{} compute{} {} between {} and {}", who, is_one ? "s" : "",
                     longer_text(*group[0], false), from, from == to ? "the next time there" : to);
}

std::string look_text(text::PathNames& names, const Delay& d) {
  if (d.from_call == 0 && !d.is_call)
    return "Look at what the rank does before that, and at how it is started";
  if (d.is_call)
    return fmt::format("Look at what {} is given there: its size, datatype and operation",
                       call_name(d.to_call));
  return fmt::format("Look at what the program does after {} and before {}",
                     at(names, d.from_path, d.from_call), at(names, d.to_path, d.to_call));
}

std::string iterations_text(const Culprit& c) {
  if (c.stretch.from_call == 0 && !c.stretch.is_call) return "";
  return fmt::format(", in {} of {} repetitions", text::count_text(c.iterations),
                     text::count_text(c.passes));
}

std::string nothing_text(const WaitsView& view, text::PathNames& names, double all) {
  const Delay* largest = nullptr;
  for (const Delay& d : view.waits.delays)
    if (d.rank >= 0) {
      largest = &d;
      break;  // they are sorted
    }
  std::string out = "Nothing explains more than 10 % of all waiting";
  if (largest != nullptr)
    out += fmt::format(": the largest single cause is rank {}, {}, with {}", largest->rank,
                       stretch_text(names, *largest),
                       text::percent_text(largest->short_term_ns + largest->long_term_ns, all));
  return out + ".";
}

}  // namespace

std::string stretch_text(text::PathNames& names, const Delay& d) {
  if (d.is_call) return "in " + at(names, d.to_path, d.to_call);
  return at(names, d.from_path, d.from_call) + " -> " + at(names, d.to_path, d.to_call);
}

namespace {

std::string waits_sentence(const WaitsView& view, text::PathNames& names) {
  const auto all = static_cast<double>(view.waits.ns_of(Pattern::kAll));
  if (all <= 0) return "Nobody waited.";
  const std::vector<Culprit>& culprits = view.waits.culprits;
  if (culprits.empty()) return nothing_text(view, names, all);
  const Culprit& worst = culprits[0];
  std::vector<const Culprit*> group;
  for (const Culprit& culprit : culprits)
    if (is_same_stretch(culprit.stretch, worst.stretch)) group.push_back(&culprit);
  const double ns = worst.much_ns;
  return fmt::format("{}; that is {:.0f} % of all waiting ({} of {}){}. {}.",
                     what_it_does(names, group), 100 * ns / all, text::time_text(ns),
                     text::time_text(all), iterations_text(worst), look_text(names, worst.stretch));
}

}  // namespace

std::string verdict_text(const WaitsView& view, text::PathNames& names) {
  const std::string crowding = crowding_text(view.trace, analysis::core_use(view.trace));
  std::string sentence = waits_sentence(view, names);
  if (!sentence.empty())
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return crowding + (crowding.empty() || sentence.empty() ? "" : " ") + sentence;
}

}  // namespace refrain::report
