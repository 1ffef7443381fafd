#include "report/waits/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "mpi/call_table.h"
#include "report/cores_text.h"
#include "report/profile/profile_rows.h"
#include "text/numbers.h"
#include "text/path_names.h"

namespace refrain::report {
namespace {

using analysis::waits::Culprit;
using analysis::waits::Delay;
using analysis::waits::Pattern;

constexpr size_t kMostRanks = 4;       // named one by one
constexpr double kMuchLonger = 1.25;   // than in the other repetitions
constexpr double kAlike = 0.9;         // the least and the most, of what one number stands for
constexpr double kBeyondRatios = 100;  // from here on two durations say more than their ratio
constexpr double kHardly = 0.01;       // waiting is less of the time of all ranks
constexpr double kFew = 0.1;           // repetitions that are slow are at most so many of all

std::string at(text::PathNames& names, DefinitionId path, CallId call) {
  if (call == 0) return call_or_edge(call);
  return call_name(call) + " " + names.label(path);
}

// Of the first of two places: callers that both have stand behind the second one.
std::string first_at(text::PathNames& names, const Delay& d) {
  const bool is_alike = d.from_call != 0 && names.callers(d.from_path) == names.callers(d.to_path);
  if (!is_alike) return at(names, d.from_path, d.from_call);
  return call_name(d.from_call) + " " + names.steps(d.from_path).back().label();
}

// "main heat.c:41 and main heat.c:60"
std::string between_text(text::PathNames& names, const Delay& d) {
  const auto line = [&](DefinitionId path) { return names.steps(path).back().label(); };
  if (d.from_call == 0) return "its begin and " + names.label(d.to_path);
  const std::string from = line(d.from_path), to = line(d.to_path);
  if (names.callers(d.from_path) != names.callers(d.to_path))
    return names.label(d.from_path) + " and " + names.label(d.to_path);
  if (from != to) return from + " and " + names.label(d.to_path);
  if (d.from_call == d.to_call) return names.label(d.from_path) + " and the next time there";
  return fmt::format("{} and {} {}", call_name(d.from_call), call_name(d.to_call),
                     names.label(d.to_path));
}

bool is_same_stretch(const Delay& a, const Delay& b) {
  return a.from_path == b.from_path && a.from_call == b.from_call && a.to_path == b.to_path &&
         a.to_call == b.to_call && a.is_call == b.is_call;
}

void capitalise(std::string& sentence) {
  if (!sentence.empty())
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
}

// "rank 3", "ranks 1, 2 and 5".
std::string listed(std::vector<Rank> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::string out = ranks.size() == 1 ? "rank" : "ranks";
  for (size_t i = 0; i < ranks.size(); ++i)
    out += fmt::format("{} {}", i == 0 ? "" : i + 1 == ranks.size() ? " and" : ",", ranks[i]);
  return out;
}

std::string ranks_text(const std::vector<const Culprit*>& group) {
  if (group.size() > 1 && group[0]->much_ranks > kMostRanks)
    return fmt::format("{} ranks (most of all rank {})", text::count_text(group[0]->much_ranks),
                       group[0]->stretch.rank);
  std::vector<Rank> ranks;
  for (const Culprit* culprit : group) ranks.push_back(culprit->stretch.rank);
  return listed(std::move(ranks));
}

// Whether it takes long in some of its repetitions only, so that means of all say little.
bool is_slow_at_times(const Culprit& c) {
  return 2 * c.iterations <= c.passes && c.iterations > 0 && c.slow_ns > kMuchLonger * c.rest_ns();
}

using Group = std::vector<const Culprit*>;

// "18 ms", or "6 ms to 18 ms" where ranks of the group differ; of what `ns` tells of each.
template <typename Ns>
std::string range_text(const Group& group, Ns ns) {
  const auto [least, most] = std::minmax_element(group.begin(), group.end(),
                                                 [&](auto* a, auto* b) { return ns(*a) < ns(*b); });
  const double from = ns(**least), to = ns(**most);
  if (kAlike * to <= from) return text::time_text(ns(*group[0]));
  return text::time_text(from) + " to " + text::time_text(to);
}

std::string mean_text(const Group& group) {
  return range_text(group, [](const Culprit& c) { return c.mean_ns; }) + " each time";
}

// "8.0 times as long as the others", or what can be said where that cannot.
std::string longer_text(const Group& group, bool is_call) {
  const Culprit& worst = *group[0];
  if (is_slow_at_times(worst))
    return range_text(group, [](const Culprit& c) { return c.slow_ns; }) +
           (worst.iterations > 1 ? " each time" : "");
  if (worst.others == 0 || worst.others_ns <= 0) return mean_text(group);
  const auto [least, most] = std::minmax_element(
      group.begin(), group.end(), [](auto* a, auto* b) { return a->mean_ns < b->mean_ns; });
  const double from = (*least)->mean_ns, to = (*most)->mean_ns;
  if (kAlike * to <= worst.others_ns)  // as long as others, and still others waited for it
    return mean_text(group) + ", about as long as the others,";
  // A ratio of one would say nothing where some are as long as the others, and some far longer.
  if (kAlike * from <= worst.others_ns || from > kBeyondRatios * worst.others_ns)
    return fmt::format("{} (the others {})", mean_text(group), text::time_text(worst.others_ns));
  const std::string times =
      kAlike * to <= from
          ? fmt::format("{:.1f}", worst.mean_ns / worst.others_ns)
          : fmt::format("{:.1f} to {:.1f}", from / worst.others_ns, to / worst.others_ns);
  return fmt::format("{} times as long as the others{}", times,
                     is_call ? fmt::format(" ({}, {})", text::time_text(worst.mean_ns),
                                           text::time_text(worst.others_ns))
                             : "");
}

std::string as_slow_text(const Culprit& c) {
  if (c.as_slow_ranks == 0 || is_slow_at_times(c)) return "";
  return fmt::format(" ({} hardly less)", c.as_slow_ranks <= kMostRanks
                                              ? listed(c.as_slow)
                                              : text::count_text(c.as_slow_ranks) + " ranks");
}

std::string what_it_does(text::PathNames& names, const Group& group) {
  const Delay& d = group[0]->stretch;
  const bool is_one = group.size() == 1;
  const std::string who = ranks_text(group);
  if (d.from_call == 0 && !d.is_call)
    return fmt::format("{} begin{} later than the others, with {}", who, is_one ? "s" : "",
                       at(names, d.to_path, d.to_call));
  if (d.is_call)
    return fmt::format("{} spend{} {} in {}{}", who, is_one ? "s" : "", longer_text(group, true),
                       at(names, d.to_path, d.to_call), as_slow_text(*group[0]));
  return fmt::format("{} compute{} {} between {}{}", who, is_one ? "s" : "",
                     longer_text(group, false), between_text(names, d), as_slow_text(*group[0]));
}

bool is_slow_seldom(const Culprit& c) {
  return static_cast<double>(c.iterations) <= kFew * static_cast<double>(c.passes);
}

// Where a call is slow at times, and is given the same in the others, what it is given is not the
// reason. Of calls without a datatype only those are said to be the same that are slow a few times;
// one that completes requests is given what those are about, which is not known here.
bool is_slow_though_alike(const Culprit& c, const mpi::CallInfo& info) {
  if (!is_slow_at_times(c)) return false;
  if (info.type_param >= 0) return c.is_given_alike;
  return is_slow_seldom(c) &&
         std::none_of(info.params.begin(), info.params.end(),
                      [](const auto& p) { return p.kind == mpi::ParamKind::kRequest; });
}

// What is slow a few times is disturbed by something; what often is may be so for a reason that
// comes again and again.
std::string slow_though_alike_text(const Group& group, const std::string& given) {
  uint64_t others = UINT64_MAX;
  bool is_seldom = true;
  for (const Culprit* c : group) {
    others = std::min(others, c->passes - c->iterations);
    is_seldom = is_seldom && is_slow_seldom(*c);
  }
  const std::string count = text::count_text(others);
  const std::string what = is_seldom ? fmt::format("disturbs {} at these moments (",
                                                   group.size() == 1 ? "this rank" : "these ranks")
                                     : "else differs between them (the partner, the buffer, ";
  return fmt::format(
      "{} and are not slow: look for what {}other processes, page faults, the network, the "
      "operating system)",
      given.empty() ? fmt::format("The other {} are the same call", count)
                    : fmt::format("The other {} are given the same {}", count, given),
      what);
}

std::string call_look_text(const Group& group) {
  const Delay& d = group[0]->stretch;
  const mpi::CallInfo* info = mpi::find_call(d.to_call);
  const bool has_type = info != nullptr && info->type_param >= 0;
  const bool has_op =
      has_type && std::any_of(info->params.begin(), info->params.end(),
                              [](const auto& p) { return p.kind == mpi::ParamKind::kOp; });
  const std::string given = !has_type ? ""
                            : has_op  ? "size, datatype and operation"
                                      : "size and datatype";
  if (info != nullptr && std::all_of(group.begin(), group.end(), [&](const Culprit* c) {
        return is_slow_though_alike(*c, *info);
      }))
    return slow_though_alike_text(group, given);
  if (!has_type) return "That is the time of the MPI library itself, without waiting";
  return fmt::format("Look at what {} is given there: its {}", call_name(d.to_call), given);
}

std::string look_text(text::PathNames& names, const Group& group) {
  const Delay& d = group[0]->stretch;
  if (d.from_call == 0 && !d.is_call)
    return "Look at what the rank does before that, and at how it is started";
  if (d.is_call) return call_look_text(group);
  return fmt::format("Look at what the program does after {} and before {}", first_at(names, d),
                     at(names, d.to_path, d.to_call));
}

std::string iterations_text(const Group& group) {
  const Culprit& c = *group[0];
  if (c.stretch.from_call == 0 && !c.stretch.is_call) return "";
  uint64_t most = 0;
  for (const Culprit* one : group) most = std::max(most, one->iterations);
  return fmt::format(
      ", {}in {} of {} repetitions{}", group.size() > 1 ? "each of them " : "",
      (group.size() > 1 ? "up to " : "") + text::count_text(most), text::count_text(c.passes),
      is_slow_at_times(c) ? fmt::format(" ({} in the others)", text::time_text(c.rest_ns())) : "");
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
  return first_at(names, d) + " -> " + at(names, d.to_path, d.to_call);
}

namespace {

std::string waits_sentence(const WaitsView& view, text::PathNames& names) {
  const auto all = static_cast<double>(view.waits.ns_of(Pattern::kAll));
  if (all <= 0) return "Nobody waited.";
  const std::string hardly = all < kHardly * view.waits.total_ns
                                 ? fmt::format("Ranks wait for {} of their time only. ",
                                               text::percent_text(all, view.waits.total_ns))
                                 : "";
  const std::vector<Culprit>& culprits = view.waits.culprits;
  if (culprits.empty()) return hardly + nothing_text(view, names, all);
  const Culprit& worst = culprits[0];
  std::vector<const Culprit*> group;
  for (const Culprit& culprit : culprits)
    if (is_same_stretch(culprit.stretch, worst.stretch)) group.push_back(&culprit);
  const double ns = worst.much_ns;
  std::string what = what_it_does(names, group);
  if (!hardly.empty()) capitalise(what);
  return fmt::format("{}{}; that is {:.0f} % of all waiting ({} of {}){}. {}.", hardly, what,
                     100 * ns / all, text::time_text(ns), text::time_text(all),
                     iterations_text(group), look_text(names, group));
}

}  // namespace

void tell_apart(const WaitsView& view, text::PathNames& names) {
  std::vector<DefinitionId> paths;
  for (const Delay& d : view.waits.delays) {
    if (d.rank < 0) continue;
    if (d.from_call != 0) paths.push_back(d.from_path);
    if (d.to_call != 0) paths.push_back(d.to_path);
  }
  for (const auto& part : view.waits.critical_path) {
    if (part.from_call != 0) paths.push_back(part.from_path);
    if (part.to_call != 0) paths.push_back(part.to_path);
  }
  names.tell_apart(paths);
}

std::string verdict_text(const WaitsView& view, text::PathNames& names) {
  tell_apart(view, names);
  const std::string crowding = crowding_text(view.trace, analysis::core_use(view.trace));
  std::string sentence = waits_sentence(view, names);
  capitalise(sentence);
  return crowding + (crowding.empty() || sentence.empty() ? "" : " ") + sentence;
}

}  // namespace refrain::report
