#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "report/profile/profile_paths.h"
#include "report/profile/programs_text.h"
#include "report/stood_for.h"
#include "report/window_text.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::report {
namespace {

constexpr size_t kRanksShown = 16;  // more ranks than that: their spread only

std::string title_line(const ProfileView& view) {
  const RunInfo& info = view.trace.info();
  std::string out = fmt::format("{}: {}, {}, {}", text::printable(view.trace.name()),
                                text::counted_text(info.rank_count, "rank"),
                                text::counted_text(view.profile.all.calls, "call"),
                                text::duration_text(info.duration_ns));
  const auto programs = programs_of(view.trace);
  for (const format::RankProgram& p : programs)
    if (!p.command.empty())
      out += fmt::format("\n  {}{}", text::printable(p.command),
                         programs.size() > 1 ? ", " + ranks_phrase(p.ranks) : "");
  if (view.profile.window) out += "\n  " + window_text(*view.profile.window);
  return out + "\n";
}

// All ranks but the first `top`.
analysis::RankRow other_ranks(const analysis::Profile& p, size_t top) {
  analysis::RankRow out;
  for (size_t i = top; i < p.ranks.size(); ++i) {
    out.calls += p.ranks[i].calls;
    out.in_mpi_ns += p.ranks[i].in_mpi_ns;
    out.outside_ns += p.ranks[i].outside_ns;
    out.bytes += p.ranks[i].bytes;
    out.recorder_ns += p.ranks[i].recorder_ns;
    out.recorder_in_run_ns += p.ranks[i].recorder_in_run_ns;
    out.recorder_memory_bytes += p.ranks[i].recorder_memory_bytes;
  }
  return out;
}

// The first `top` ranks, and the others; 0: all.
text::Table rank_table(const analysis::Profile& p, size_t top) {
  const bool knows_cost = std::any_of(p.ranks.begin(), p.ranks.end(),
                                      [](const auto& r) { return r.recorder_memory_bytes > 0; });
  const bool knows_own = std::any_of(p.ranks.begin(), p.ranks.end(),
                                     [](const auto& r) { return r.recorder_in_run_ns > 0; });
  std::vector<std::string> titles = {"rank", "calls", "in MPI", "outside MPI", "MPI", "bytes"};
  constexpr std::ptrdiff_t kBehindOutside = 4;  // columns
  if (knows_own) titles.insert(titles.begin() + kBehindOutside, "in recorder");
  if (knows_cost) titles.insert(titles.end(), {"recorder", "its memory"});
  text::Table table(titles);
  table.can_leave_out({"its memory", "recorder", "in recorder"});
  const auto add = [&](const std::string& name, const analysis::RankRow& r) {
    const auto in = static_cast<double>(r.in_mpi_ns), rest = static_cast<double>(r.outside_ns);
    std::vector<std::string> cells = {name,
                                      text::count_text(r.calls),
                                      text::time_text(in),
                                      text::time_text(rest),
                                      text::percent_text(in, in + rest),
                                      text::bytes_text(r.bytes)};
    if (knows_own)
      cells.insert(cells.begin() + kBehindOutside, text::duration_text(r.recorder_in_run_ns));
    if (knows_cost && r.recorder_memory_bytes == 0) cells.insert(cells.end(), {"-", "-"});
    if (r.recorder_memory_bytes > 0) {
      cells.push_back(text::duration_text(r.recorder_ns));
      cells.push_back(text::bytes_text(r.recorder_memory_bytes));
    }
    table.add(cells);
  };
  const size_t shown = top == 0 ? p.ranks.size() : std::min(top, p.ranks.size());
  for (size_t i = 0; i < shown; ++i) add(std::to_string(p.ranks[i].rank), p.ranks[i]);
  if (shown < p.ranks.size()) add(text::others_text(p.ranks.size() - shown), other_ranks(p, shown));
  return table;
}

std::string left_out_text(size_t rows, size_t top) {
  return text::more_text(top == 0 || rows <= top ? 0 : rows - top);
}

std::string ranks_text(const ProfileView& view) {
  const analysis::Profile& p = view.profile;
  if (p.ranks.empty()) return "";
  std::string out = "\n" + text::heading("Time of the ranks") + "\n";
  text::Table spread({"<", "min", "mean", "max", "imbalance"});
  const auto add = [&](const char* name, const analysis::Spread& s, auto text) {
    spread.add({name, text(s.min), text(s.mean), text(s.max),
                s.mean > 0 ? fmt::format("{:.1f} %", 100 * s.imbalance()) : "-"});
  };
  add("in MPI", p.in_mpi_ns, text::time_text);
  add("outside MPI", p.outside_ns, text::time_text);
  add("calls", p.calls, [](double v) { return text::count_text(text::rounded(v)); });
  out += spread.text();
  if (p.ranks.size() > kRanksShown) return out;
  return out + "\n" + rank_table(p, 0).text();
}

// Of columns(), where there is no room.
void can_spare_columns(text::Table& table) { table.can_leave_out({"min", "max", "run", "mean"}); }

std::vector<std::string> columns(const analysis::CallTotals& t, const analysis::Profile& p) {
  return {text::count_text(t.calls),
          text::time_text(t.time_ns),
          text::percent_text(t.time_ns, p.all.time_ns),
          text::percent_text(t.time_ns, p.whole_ns()),
          text::duration_text(t.min_ns),
          text::time_text(t.mean_ns()),
          text::duration_text(t.max_ns),
          (t.unsized > 0 ? ">= " : "") + text::bytes_text(t.bytes)};
}

std::string sizes_text(const analysis::Profile& p) {
  text::Table table({"from", "<", "kind", "transfers", "bytes"});
  for (int kind = 0; kind < events::kTransferKinds; ++kind) {
    const analysis::SizeHistogram& sizes = p.sizes[static_cast<size_t>(kind)];
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].transfers == 0) continue;
      const uint64_t from = i == 0 ? 0 : uint64_t{1} << (i - 1);
      const std::string to = i < 2     ? ""
                             : i == 64 ? "or more"
                                       : "to " + text::bytes_text((from << 1) - 1);
      table.add({text::bytes_text(from), to,
                 transfer_kind_name(static_cast<events::TransferKind>(kind)),
                 text::count_text(sizes[i].transfers), text::bytes_text(sizes[i].bytes)});
    }
  }
  return table.rows() == 0 ? "" : "\n" + text::heading("Sizes") + "\n" + table.text();
}

const char* title_of(ProfileBy by) {
  switch (by) {
    case ProfileBy::kFunction: return "Functions";
    case ProfileBy::kSite: return "Call sites";
    case ProfileBy::kCallPath: return "Call paths";
    case ProfileBy::kGroup: return "Kinds of calls";
    case ProfileBy::kRank: return "Ranks";
  }
  return "";
}

void add_to_tree(const ProfileView& view, const PathNode& node, size_t depth, text::Table& table,
                 bool& module_changed) {
  for (const auto& c : node.children) {
    ProfileRow row;
    row.site = c->site;
    row.function = c->function;
    const std::string label = text::printable(c->call.empty() ? path_label(row) : c->call);
    std::vector<std::string> cells = {std::string(2 * depth, ' ') +
                                      (c->is_others ? text::others_text(c->paths) : label)};
    for (std::string& cell : columns(c->totals, view.profile)) cells.push_back(std::move(cell));
    table.add(cells);
    module_changed = module_changed || c->module_changed;
    add_to_tree(view, *c, depth + 1, table, module_changed);
  }
}

std::string tree_text(const ProfileView& view, size_t top) {
  size_t left_out = 0;
  bool module_changed = false;
  const PathNode tree = path_tree(view, top, &left_out);
  text::Table table({"<called from", "calls", "time", "MPI", "run", "min", "mean", "max", "bytes"});
  can_spare_columns(table);
  add_to_tree(view, tree, 0, table, module_changed);
  std::string out =
      text::heading("Call paths, by time; a line includes what is indented below it") + "\n" +
      table.text();
  out += text::more_text(left_out, " paths");
  if (module_changed) out += "  module+0x...: the module changed since the run\n";
  return out;
}

// Sites that read the same are one line: the compiler made copies of a call, or there are several
// on a line. By time, the longest first.
std::vector<ProfileRow> united_sites(std::vector<ProfileRow> rows) {
  std::map<std::tuple<std::string, std::string, std::string>, size_t> known;
  std::vector<ProfileRow> out;
  for (ProfileRow& row : rows) {
    const auto [at, is_new] = known.try_emplace({row.site, row.function, row.call}, out.size());
    if (is_new)
      out.push_back(std::move(row));
    else
      add_totals(out[at->second].totals, row.totals);
  }
  std::stable_sort(out.begin(), out.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return a.totals.time_ns > b.totals.time_ns;
  });
  return out;
}

std::string notes_text(const analysis::Profile& p) {
  std::string out;
  if (p.all.failed > 0)
    out +=
        fmt::format("\n{} did not return MPI_SUCCESS\n", text::counted_text(p.all.failed, "call"));
  if (p.all.unsized > 0)
    out += fmt::format("\n{} of unknown size, counted as 0 bytes\n",
                       text::counted_text(p.all.unsized, "transfer"));
  if (p.untimed > 0)
    out +=
        fmt::format("\n{} without a time, in no window\n", text::counted_text(p.untimed, "call"));
  return out;
}

}  // namespace

std::string profile_table_text(const ProfileView& view, ProfileBy by, size_t top) {
  if (by == ProfileBy::kCallPath) return tree_text(view, top);
  if (by == ProfileBy::kRank) {
    const text::Table table = rank_table(view.profile, top);
    return text::heading(title_of(by)) + "\n" + table.text() +
           left_out_text(view.profile.ranks.size(), top);
  }
  std::vector<std::string> titles = by == ProfileBy::kGroup
                                        ? std::vector<std::string>{"<kind"}
                                        : std::vector<std::string>{"<<function"};
  if (by == ProfileBy::kSite) titles = {"<site", "<in", "<<function"};
  for (const char* title : {"calls", "time", "MPI", "run", "min", "mean", "max", "bytes"})
    titles.emplace_back(title);
  text::Table table(titles);
  can_spare_columns(table);
  std::vector<ProfileRow> rows = profile_rows(view, by);
  if (by == ProfileBy::kSite) rows = united_sites(std::move(rows));
  bool module_changed = false;
  const auto add = [&](std::vector<std::string> cells, const analysis::CallTotals& totals) {
    for (std::string& cell : columns(totals, view.profile)) cells.push_back(std::move(cell));
    table.add(std::move(cells));
  };
  const size_t shown = top == 0 ? rows.size() : std::min(top, rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const ProfileRow& row = rows[i];
    std::vector<std::string> cells = {by == ProfileBy::kGroup ? row.group : row.call};
    if (by == ProfileBy::kSite)
      cells = {text::printable(row.site), text::shown_name(text::printable(row.function)),
               row.call};
    add(std::move(cells), row.totals);
    module_changed = module_changed || row.module_changed;
  }
  if (shown < rows.size()) {
    analysis::CallTotals others;
    for (size_t i = shown; i < rows.size(); ++i) add_totals(others, rows[i].totals);
    std::vector<std::string> cells = {text::others_text(rows.size() - shown)};
    if (by == ProfileBy::kSite) cells.resize(3);
    add(std::move(cells), others);
  }
  std::string out = text::heading(std::string(title_of(by)) + ", by time") + "\n" + table.text();
  out += left_out_text(rows.size(), top);
  if (module_changed) out += "  module+0x...: the module changed since the run\n";
  return out;
}

std::string profile_text(const ProfileView& view, size_t top) {
  return title_line(view) +
         stood_for_line(view.trace, view.profile.window ? MadeOf::kTimes : MadeOf::kSums) +
         programs_table(view.trace, view.profile) + ranks_text(view) + "\n" +
         profile_table_text(view, ProfileBy::kFunction, top) + "\n" +
         profile_table_text(view, ProfileBy::kSite, top) + sizes_text(view.profile) +
         notes_text(view.profile);
}

}  // namespace refrain::report
