// What changed, as a page: no scripts, nothing from elsewhere, every text escaped.

#include <fmt/format.h>

#include <algorithm>

#include "reader/function_names.h"
#include "report/diff/diff_rows.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>refrain diff</title>
<style>
:root { color-scheme: light dark; --text: #1b1f24; --back: #fff; --line: #d0d7de; --soft: #57606a;
  --bad: #b35900; --new: #0550ae; --warn: #fff3c4; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --back: #0d1117; --line: #30363d;
  --soft: #9aa4af; --bad: #ffa657; --new: #79c0ff; --warn: #4a3c00; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
  margin: 0 auto; padding: 1rem; max-width: 75rem; overflow-wrap: break-word; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; min-width: 60%; }
th, td { text-align: left; padding: .3rem .7rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td.n, th.n { text-align: right; } th, td.n, td:first-child { white-space: nowrap; }
.soft { color: var(--soft); } .bad { color: var(--bad); font-weight: 600; }
.appeared { color: var(--new); font-weight: 600; } .vanished, .slower, .longer { color: var(--bad);
  font-weight: 600; }
.note { background: var(--warn); padding: .4rem .7rem; margin: .3rem 0; }
code { font-size: .9em; }
</style></head><body>
)";

// A call path with its names folded; what it is in full as a tooltip.
std::string folded(const std::string& path) {
  const std::string text = text::display().fold_markup ? reader::folded_name(path) : path;
  if (text == path) return text::escaped(path);
  return fmt::format("<span title=\"{}\">{}</span>", text::escaped(path), text::escaped(text));
}

std::string totals_html(DiffRows& rows) {
  std::string out =
      "<h2>Totals</h2>\n<div class=\"wide\"><table><tr><th></th><th class=\"n\">before</th>"
      "<th class=\"n\">after</th><th>change</th></tr>\n";
  for (const TotalRow& row : rows.totals())
    out += fmt::format(
        "<tr><th>{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
        text::escaped(row.name), text::escaped(row.before), text::escaped(row.after),
        text::escaped(row.change));
  return out + "</table></div>\n";
}

std::string verdicts_html(const DiffView& view) {
  if (view.verdicts.empty()) return "";
  std::string out = "<h2>Thresholds</h2>\n<div class=\"wide\"><table>\n";
  for (const auto& v : view.verdicts)
    out +=
        fmt::format("<tr><td class=\"{}\">{}</td><td>{}</td></tr>\n", v.is_crossed ? "bad" : "soft",
                    v.is_crossed ? "failed" : "good", text::escaped(verdict_text(v)));
  return out + "</table></div>\n";
}

std::string section(const std::string& title, const std::string& look,
                    const std::vector<DiffFinding>& findings, size_t top) {
  if (findings.empty()) return "";
  std::string out =
      fmt::format("<h2>{}</h2>\n<p class=\"soft\">{}</p>\n<div class=\"wide\"><table>\n",
                  text::escaped(title), text::escaped(look));
  const auto add = [&out](const DiffFinding& f) {
    out += fmt::format("<tr><td class=\"{0}\">{0}</td><td><b>{1}</b>", text::escaped(f.change),
                       text::escaped(f.title));
    if (!f.where.empty()) out += ' ', out += folded(f.where);
    if (!f.path.empty() && f.path != f.where)
      out += "<br><span class=\"soft\">" + folded(f.path) + "</span>";
    out += "</td><td>" + text::escaped(f.numbers);
    for (const std::string& detail : f.details)
      out += "<br><code>" + text::escaped(detail) + "</code>";
    out += "</td></tr>\n";
  };
  const size_t shown = top == 0 ? findings.size() : std::min(top, findings.size());
  for (size_t i = 0; i < shown; ++i) add(findings[i]);
  if (shown < findings.size()) add(other_findings(findings, shown));
  out += "</table></div>\n";
  if (shown < findings.size())
    out += fmt::format("<p>and {} more (--top 0 shows all)</p>\n", findings.size() - shown);
  return out;
}

}  // namespace

std::string diff_html(const DiffView& view) {
  DiffRows rows(view);
  std::string out(kHead);
  out += fmt::format("<h1>{} &rarr; {}</h1>\n<p>{}</p>\n", text::escaped(view.before.name()),
                     text::escaped(view.after.name()), text::escaped(rows.headline()));
  for (const std::string& note : rows.notes())
    out += "<p class=\"note\">" + text::escaped(note) + "</p>\n";
  out += verdicts_html(view) + totals_html(rows);
  out += section("Calls", "By call path, the largest part of all calls, bytes or messages first.",
                 rows.calls(), view.top);
  out += section("Loops", "How often they go round each time that they are entered.", rows.loops(),
                 view.top);
  out += section("Partners", "Messages and one-sided transfers from one rank to another.",
                 rows.partners(), view.top);
  out += section("Time in MPI", "Call paths whose time changed by more than the noise.",
                 rows.times(), view.top);
  if (const size_t n = rows.times_in_noise(); n > 0)
    out += fmt::format("<p>The time of {} changed within the noise.</p>\n",
                       text::counted_text(n, "call path"));
  out += section("Waits", "Patterns whose time changed by more than the noise.", rows.waits(),
                 view.top);
  return out + "</body></html>\n";
}

}  // namespace refrain::report
