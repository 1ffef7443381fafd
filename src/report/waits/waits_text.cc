// Wait states for people.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "report/profile/profile_rows.h"
#include "report/stood_for.h"
#include "report/waits/verdict_text.h"
#include "report/waits/waits_rows.h"
#include "report/window_text.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/path_names.h"
#include "text/table.h"

namespace refrain::report {
namespace {

using analysis::waits::Delay;
using analysis::waits::Explained;
using analysis::waits::Pattern;
using analysis::waits::WaitStates;

// How many of `rows` have a line of their own.
size_t shown_of(const WaitsView& view, size_t rows) {
  return view.top == 0 ? rows : std::min(view.top, rows);
}

std::string share(double v) { return fmt::format("{:.1f} %", 100 * v); }

std::string efficiency_text(const WaitsView& view) {
  const auto& e = view.waits.efficiency;
  if (e.runtime_ns == 0) return "";
  text::Table table({"<efficiency", "share", "<"});
  table.add({"parallel", share(e.parallel), "load balance x communication"});
  table.add({"  load balance", share(e.load_balance), "mean of useful time / most of a rank"});
  table.add({"  communication", share(e.communication), "serialisation x transfer"});
  table.add({"    serialisation", share(e.serialisation),
             "waiting that is there on an ideal network, too"});
  table.add({"    transfer", share(e.transfer), "what the network takes"});
  return "\n" + text::heading("Efficiency, MPI_Init to MPI_Finalize: ") +
         text::duration_text(e.runtime_ns) + ", on an ideal network " +
         text::duration_text(e.ideal_ns) + "\n" + table.text();
}

std::string patterns_text(const WaitsView& view, const std::vector<WaitPattern>& patterns) {
  text::Table table({"<pattern", "time", "share", "waits", "<most of it", "<"});
  const auto all = static_cast<double>(patterns.empty() ? 0 : patterns[0].ns);
  for (const WaitPattern& row : patterns) {
    if (row.ns == 0) continue;
    const auto most = std::max_element(row.ranks.begin(), row.ranks.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    const auto ns = static_cast<double>(row.ns);
    table.add({std::string(2 * static_cast<size_t>(depth_of(row.pattern)), ' ') +
                   std::string(title_of(row.pattern)),
               text::duration_text(row.ns), text::percent_text(ns, view.waits.total_ns),
               text::count_text(row.count),
               fmt::format("rank {}, {}", most->first,
                           text::percent_text(static_cast<double>(most->second), ns)),
               text::bar_text(ns, all)});
  }
  if (table.rows() == 0) return "\nNobody waited\n";
  return "\n" + text::heading("Waiting, share of the time of all ranks") + " (" +
         text::time_text(view.waits.total_ns) + ")\n" + table.text();
}

struct Branch {
  std::string label;
  uint64_t ns = 0;
  size_t leaves = 0;   // that are it, or below
  bool shown = false;  // one of them is among the first
  std::vector<std::unique_ptr<Branch>> children;

  void add(uint64_t more_ns, bool is_shown) {
    ns += more_ns;
    ++leaves;
    shown = shown || is_shown;
  }

  Branch& child(const std::string& name) {
    for (const auto& c : children)
      if (c->label == name) return *c;
    children.push_back(std::make_unique<Branch>());
    children.back()->label = name;
    return *children.back();
  }
};

void add_branches(const WaitsView& view, Branch& branch, size_t depth, double all,
                  text::Table& table) {
  std::stable_sort(branch.children.begin(), branch.children.end(),
                   [](const auto& a, const auto& b) { return a->ns > b->ns; });
  const auto add = [&](const std::string& label, uint64_t ns) {
    const auto part = static_cast<double>(ns);
    table.add({std::string(2 * depth, ' ') + label, text::duration_text(ns),
               text::percent_text(part, view.waits.total_ns), text::bar_text(part, all)});
  };
  uint64_t others_ns = 0;
  size_t others = 0;
  for (const auto& c : branch.children) {
    if (!c->shown) {
      others_ns += c->ns;
      others += c->leaves;
      continue;
    }
    add(c->label, c->ns);
    add_branches(view, *c, depth + 1, all, table);
  }
  if (others > 0) add(text::others_text(others), others_ns);
}

// Who waits where, and for what: the leaves are patterns.
std::string tree_text(const WaitsView& view, text::PathNames& names) {
  std::map<std::tuple<DefinitionId, CallId, Pattern>, uint64_t> leaves;
  uint64_t all = 0;
  for (const auto& s : view.waits.severities)
    if (is_shown(view, s.pattern, s.rank)) leaves[{s.path, s.call, s.pattern}] += s.ns, all += s.ns;
  if (leaves.empty()) return "";
  using Row = std::pair<std::tuple<DefinitionId, CallId, Pattern>, uint64_t>;
  std::vector<Row> sorted(leaves.begin(), leaves.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row& a, const Row& b) { return a.second > b.second; });
  const size_t shown = shown_of(view, sorted.size());
  Branch root;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [path, call, pattern] = sorted[i].first;
    Branch* at = &root;
    for (const text::PathStep& step : names.steps(path)) {
      at = &at->child(step.label());
      at->add(sorted[i].second, i < shown);
    }
    at = &at->child(call_name(call) + ": " + std::string(title_of(pattern)));
    at->add(sorted[i].second, i < shown);
  }
  text::Table table({"<called from", "time", "share", "<"});
  add_branches(view, root, 0, static_cast<double>(all), table);
  std::string out =
      "\n" + text::heading("Call paths, by time; a line includes what is indented below it") + "\n";
  out += table.text();
  return out + text::more_text(sorted.size() - shown);
}

std::string ranks_text(const WaitsView& view) {
  std::vector<std::pair<uint64_t, Rank>> rows;
  std::map<Rank, uint64_t> waited;
  for (const auto& s : view.waits.severities)
    if (is_shown(view, s.pattern, s.rank)) waited[s.rank] += s.ns;
  for (const auto& [rank, ns] : waited) rows.emplace_back(ns, rank);
  if (rows.size() < 2) return "";
  std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.first > b.first; });
  text::Table table({"rank", "waits", "of its time", "useful", "<"});
  const size_t shown = shown_of(view, rows.size());
  const auto add = [&](const std::string& name, double ns, double total, double useful) {
    table.add({name, text::time_text(ns), text::percent_text(ns, total),
               text::percent_text(useful, total),
               text::bar_text(ns, static_cast<double>(rows[0].first))});
  };
  double others_ns = 0, others_total = 0, others_useful = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& [ns, rank] = rows[i];
    const auto& time = view.waits.ranks[static_cast<size_t>(rank)];
    const auto total = static_cast<double>(time.total_ns);
    const auto useful = static_cast<double>(time.useful_ns);
    if (i < shown) {
      add(std::to_string(rank), static_cast<double>(ns), total, useful);
      continue;
    }
    others_ns += static_cast<double>(ns);
    others_total += total;
    others_useful += useful;
  }
  if (rows.size() > shown)
    add(text::others_text(rows.size() - shown), others_ns, others_total, others_useful);
  return "\n" + text::heading("Ranks that waited, by time") + "\n" + table.text() +
         text::more_text(rows.size() - shown);
}

std::string delays_text(const WaitsView& view, text::PathNames& names) {
  text::Table table(
      {"rank", "cost", "share", "at once", "later", "<what took longer", "<makes others wait"});
  size_t more = 0;
  Delay others;
  const auto add = [&](const std::string& rank, const Delay& d, const std::string& what,
                       std::string_view pattern) {
    const double ns = d.short_term_ns + d.long_term_ns;
    table.add({rank, text::time_text(ns), text::percent_text(ns, view.waits.total_ns),
               text::time_text(d.short_term_ns), text::time_text(d.long_term_ns), what,
               std::string(pattern)});
  };
  for (const Delay& d : view.waits.delays) {
    if (view.pattern && !contains(*view.pattern, d.pattern)) continue;
    if (view.top > 0 && table.rows() == view.top) {
      ++more;
      others.short_term_ns += d.short_term_ns;
      others.long_term_ns += d.long_term_ns;
      continue;
    }
    add(d.rank < 0 ? "?" : std::to_string(d.rank), d,
        d.rank < 0 ? "unknown" : stretch_text(names, d), title_of(d.pattern));
  }
  if (table.rows() == 0) return "";
  if (more > 0) add("", others, text::others_text(more), "");
  std::string out =
      "\n" + text::heading("Causes: what made others wait at once, and through their waits later") +
      "\n";
  out += table.text();
  return out + text::more_text(more);
}

std::string critical_text(const WaitsView& view, text::PathNames& names) {
  const WaitStates& w = view.waits;
  const auto all = static_cast<double>(w.critical_ns);
  text::Table table({"rank", "time", "share", "<doing", "<"});
  const size_t shown = shown_of(view, w.critical_path.size());
  for (size_t i = 0; i < shown; ++i) {
    const auto& part = w.critical_path[i];
    const auto ns = static_cast<double>(part.ns);
    Delay doing;
    doing.from_path = part.from_path;
    doing.from_call = part.from_call;
    doing.to_path = part.to_path;
    doing.to_call = part.to_call;
    doing.is_call = part.is_call;
    table.add({std::to_string(part.rank), text::duration_text(part.ns), text::percent_text(ns, all),
               stretch_text(names, doing), text::bar_text(ns, all)});
  }
  if (table.rows() == 0) return "";
  const size_t more = w.critical_path.size() - shown;
  uint64_t others_ns = 0;
  for (size_t i = shown; i < w.critical_path.size(); ++i) others_ns += w.critical_path[i].ns;
  const auto others = static_cast<double>(others_ns);
  if (more > 0)
    table.add({"", text::duration_text(others_ns), text::percent_text(others, all),
               text::others_text(more), text::bar_text(others, all)});
  return "\n" + text::heading("Critical path, " + text::duration_text(w.critical_ns)) + "\n" +
         table.text() + text::more_text(more);
}

std::string recorder_text(const WaitsView& view) {
  const auto& r = view.waits.recorder;
  if (r.work_ns == 0) return "";
  return text::paragraph(fmt::format(
      "\nThe recorder itself worked {} between the calls, and {} were waited for that: neither is "
      "in the numbers above\n",
      text::duration_text(r.work_ns), text::time_text(r.waiting_ns)));
}

std::string notes_text(const WaitsView& view) {
  const auto& c = view.waits.counts;
  std::string out;
  const auto note = [&](uint64_t n, std::string_view noun, std::string_view what) {
    if (n > 0) out += text::counted_text(n, noun) + " " + std::string(what) + "\n";
  };
  note(c.unmatched_sends, "message", "sent and not received in the trace");
  note(c.unmatched_receives, "message", "received and not sent in the trace");
  note(c.incomplete_collectives, "collective", "that not all members called in the trace");
  note(c.unknown_messages, "receive", "of a message that the trace does not tell");
  note(c.other_world, "message", "with processes that are not in the trace");
  note(c.unknown_requests, "completed request", "that no call made in the trace");
  note(c.unknown_topologies, "call", "of a neighbourhood that the trace does not tell");
  note(c.unknown_groups, "epoch", "of one-sided communication whose group is not known");
  if (c.repaired_messages > 0)
    note(c.repaired_messages, "message",
         "arrived before being sent, or sent synchronously and done before being asked for, by " +
             text::duration_text(c.repaired_ns_most) + " at most; times were moved forward");
  note(c.backward_times, "call", "ended before the one before; moved forward");
  note(c.negative_durations, "call", "ended before its begin; taken as 0 ns");
  note(c.dropped, "end", "of messages and collectives beyond the limit of memory");
  return out.empty() ? out : "\n" + text::paragraph(out, 2);
}

}  // namespace

std::string waits_text(const WaitsView& view) {
  const WaitStates& w = view.waits;
  text::PathNames names(view.trace, view.symbols);
  const std::vector<WaitPattern> patterns = wait_patterns(view);
  std::string out = text::heading(text::paragraph(verdict_text(view, names))) + "\n\n";
  out += fmt::format("{}: {}, {}, {}\n", text::printable(view.trace.name()),
                     text::counted_text(static_cast<uint64_t>(view.trace.rank_count()), "rank"),
                     text::counted_text(w.counts.calls, "call"),
                     text::duration_text(view.trace.info().duration_ns));
  if (!view.window.is_all()) out += "  " + window_text(view.window) + "\n";
  out += stood_for_line(view.trace, MadeOf::kTimes);
  return out + efficiency_text(view) + patterns_text(view, patterns) + tree_text(view, names) +
         ranks_text(view) + delays_text(view, names) + critical_text(view, names) +
         recorder_text(view) + notes_text(view);
}

std::string explained_text(const WaitsView& view) {
  text::PathNames names(view.trace, view.symbols);
  tell_apart(view, names);
  text::Table table({"rank", "seq", "<<call", "<at", "begin", "end", "waits", "partner",
                     "<<its call", "<because of", "<pattern"});
  const auto at_time = [](uint64_t ns) {
    return fmt::format("{:.9f}", static_cast<double>(ns) / 1e9);
  };
  for (const Explained& e : view.waits.explained) {
    std::string cause = "unknown";
    if (e.delay && e.delay->rank >= 0)
      cause = fmt::format("rank {}, {}", e.delay->rank, stretch_text(names, *e.delay));
    const bool is_known = e.partner >= 0;
    table.add(
        {std::to_string(e.rank), std::to_string(e.seq), call_name(e.call),
         names.steps(e.path).back().label(), at_time(e.begin_ns), at_time(e.end_ns),
         text::duration_text(e.wait_ns), is_known ? std::to_string(e.partner) : "?",
         is_known ? fmt::format("{} (seq {})", call_name(e.partner_call), e.partner_seq) : "?",
         cause, std::string(title_of(e.pattern))});
  }
  if (table.rows() == 0) return "Nobody waited there\n";
  return text::heading("The longest waits; times in seconds") + "\n" + table.text();
}

}  // namespace refrain::report
