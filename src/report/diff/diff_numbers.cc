// Numbers of two runs beside each other.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/diff/diff_rows.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

std::string ratio(double before, double after) {
  if (!(before > 0)) return "new";
  const double percent = 100 * (after - before) / before;
  return std::abs(percent) < 0.1 ? fmt::format("{:+.1g} %", percent)
                                 : fmt::format("{:+.1f} %", percent);
}

}  // namespace

std::string amount_text(double v) {
  if (std::abs(v - std::round(v)) < 1e-6 || std::abs(v) >= 1e6)
    return text::count_text(text::rounded(v));
  return fmt::format("{:.2f}", v);
}

std::string amount_text(double v, std::string_view unit) {
  if (unit == "bytes") return text::bytes_text(text::rounded(v));
  if (unit == "ns") return text::duration_text(text::rounded(v));
  return amount_text(v);
}

std::string change_text(double before, double after) {
  if (std::abs(after - before) <= 1e-9 * std::max(std::abs(before), std::abs(after))) return "=";
  if (before == 0) return "new";
  if (after == 0) return "gone";
  return ratio(before, after);
}

std::string arrow_text(double before, double after, std::string_view unit) {
  return fmt::format("{} -> {} ({})", amount_text(before, unit), amount_text(after, unit),
                     change_text(before, after));
}

DiffFinding other_findings(const std::vector<DiffFinding>& findings, size_t first) {
  DiffFinding out;
  out.change = "others";
  out.title = fmt::format("({})", findings.size() - first);
  for (size_t i = first; i < findings.size(); ++i)
    for (const DiffAmount& amount : findings[i].amounts) {
      const auto known = std::find_if(out.amounts.begin(), out.amounts.end(),
                                      [&](const DiffAmount& a) { return a.name == amount.name; });
      DiffAmount& sum = known != out.amounts.end()
                            ? *known
                            : out.amounts.emplace_back(DiffAmount{amount.name, 0, 0, amount.unit});
      sum.before += amount.before;
      sum.after += amount.after;
    }
  for (const DiffAmount& sum : out.amounts)
    if (sum.before > 0 || sum.after > 0)
      out.numbers += fmt::format("{}{} {}", out.numbers.empty() ? "" : ", ", sum.name,
                                 arrow_text(sum.before, sum.after, sum.unit));
  return out;
}

}  // namespace refrain::report
