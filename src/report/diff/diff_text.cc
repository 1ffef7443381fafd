// What changed, for people.

#include <fmt/format.h>

#include <functional>

#include "report/diff/diff_rows.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::report {
namespace {

constexpr size_t kBeforeTitle = 12;  // columns
constexpr size_t kLeastPlace = 24;   // that a place gets, also where they are not there

// A line of its own, `indent` columns from the left.
std::string line_of(const std::string& text, size_t indent) {
  return text::paragraph(std::string(indent, ' ') + text + "\n", indent + 2);
}

// A place that begins `before` columns from the left.
std::string fitted(const std::string& place, size_t before) {
  const size_t columns = text::display().columns;
  if (columns == 0) return place;
  return text::shortened(place, columns > before + kLeastPlace ? columns - before : kLeastPlace);
}

std::string section(const std::string& title, const std::vector<DiffFinding>& findings,
                    size_t top) {
  if (findings.empty()) return "";
  std::string out = "\n" + text::heading(title) + "\n";
  const auto add = [&out](const DiffFinding& f) {
    const std::string change = fmt::format("{:8}", f.change);
    const bool is_worse = f.change == "slower" || f.change == "longer" || f.change == "vanished";
    out += "  " + (is_worse               ? text::bad(change)
                   : f.change == "faster" ? text::good(change)
                                          : change);
    out += "  " + f.title;
    if (!f.where.empty())
      out += "  " + fitted(f.where, text::text_width(f.title) + kBeforeTitle + 2);
    out += "\n";
    if (!f.numbers.empty()) out += line_of(f.numbers, kBeforeTitle);
    for (const std::string& detail : f.details) out += line_of(detail, kBeforeTitle);
  };
  const size_t shown = top == 0 ? findings.size() : std::min(top, findings.size());
  for (size_t i = 0; i < shown; ++i) add(findings[i]);
  if (shown < findings.size()) add(other_findings(findings, shown));
  return out + text::more_text(findings.size() - shown);
}

std::string verdicts_text(const DiffView& view) {
  if (view.verdicts.empty()) return "";
  std::string out = "\nThresholds\n";
  for (const auto& v : view.verdicts)
    out += fmt::format("  {}  {}\n", v.is_crossed ? text::bad("FAILED") : text::good("good  "),
                       verdict_text(v));
  return out;
}

}  // namespace

std::string diff_text(const DiffView& view) {
  DiffRows rows(view);
  std::string out = text::printable(view.before.name()) + " -> " +
                    text::printable(view.after.name()) + "\n" + line_of(rows.headline(), 2);
  for (const std::string& note : rows.notes()) out += line_of(note, 2);
  text::Table table({"<", "before", "after", "<change"});
  for (const TotalRow& row : rows.totals())
    table.add({row.name, row.before, row.after, row.change});
  out += "\n";  // by itself: g++ 12 warns of the sum
  out += table.text();
  out += section("Calls by call path, worst first", rows.calls(), view.top);
  out += section("Loops", rows.loops(), view.top);
  out += section("Partners", rows.partners(), view.top);
  out += section("Time in MPI, past the noise", rows.times(), view.top);
  if (const size_t n = rows.times_in_noise(); n > 0)
    out +=
        fmt::format("\nTime in MPI of {}: within the noise\n", text::counted_text(n, "call path"));
  out += section("Waits, past the noise", rows.waits(), view.top);
  return out + verdicts_text(view);
}

}  // namespace refrain::report
