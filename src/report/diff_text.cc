// What changed, for people.

#include <fmt/format.h>

#include <functional>

#include "report/diff_rows.h"
#include "report/info_text.h"
#include "report/json_text.h"
#include "report/table.h"

namespace refrain::report {
namespace {

std::string section(const std::string& title, const std::vector<DiffFinding>& findings,
                    size_t top) {
  if (findings.empty()) return "";
  std::string out = "\n" + title + "\n";
  const auto add = [&out](const DiffFinding& f) {
    out += fmt::format("  {:8}  {}{}{}\n", f.change, f.title, f.where.empty() ? "" : "  ", f.where);
    if (!f.numbers.empty()) out += "            " + f.numbers + "\n";
    for (const std::string& detail : f.details) out += "            " + detail + "\n";
  };
  const size_t shown = top == 0 ? findings.size() : std::min(top, findings.size());
  for (size_t i = 0; i < shown; ++i) add(findings[i]);
  if (shown < findings.size()) add(other_findings(findings, shown));
  if (shown < findings.size())
    out += fmt::format("  ... and {} more (--top 0 shows all)\n", findings.size() - shown);
  return out;
}

std::string verdicts_text(const DiffView& view) {
  if (view.verdicts.empty()) return "";
  std::string out = "\nThresholds\n";
  for (const auto& v : view.verdicts)
    out += fmt::format("  {:6}  {}\n", v.is_crossed ? "FAILED" : "good", verdict_text(v));
  return out;
}

}  // namespace

std::string diff_text(const DiffView& view) {
  DiffRows rows(view);
  std::string out = printable(view.before.name()) + " -> " + printable(view.after.name()) + "\n  " +
                    rows.headline() + "\n";
  for (const std::string& note : rows.notes()) out += "  " + note + "\n";
  Table table({"<", "before", "after", "<change"});
  for (const TotalRow& row : rows.totals())
    table.add({row.name, row.before, row.after, row.change});
  out += "\n";  // by itself: g++ 12 warns of the sum
  out += table.text();
  out += section("Calls by call path, worst first", rows.calls(), view.top);
  out += section("Loops", rows.loops(), view.top);
  out += section("Partners", rows.partners(), view.top);
  out += section("Time in MPI, past the noise", rows.times(), view.top);
  if (const size_t n = rows.times_in_noise(); n > 0)
    out += fmt::format("\nTime in MPI of {}: within the noise\n", counted_text(n, "call path"));
  out += section("Waits, past the noise", rows.waits(), view.top);
  return out + verdicts_text(view);
}

}  // namespace refrain::report
