// Numbers of two runs beside each other.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/diff/diff_rows.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

using namespace analysis::diff;  // NOLINT: everything here is about it

std::string ratio(double before, double after) {
  if (!(before > 0)) return "new";
  const double percent = 100 * (after - before) / before;
  return std::abs(percent) < 0.1 ? fmt::format("{:+.1g} %", percent)
                                 : fmt::format("{:+.1f} %", percent);
}

// Messages that a receive takes.
double two_sided(const Amounts& a) { return a.messages - a.one_sided; }

// Of calls that only one of the runs makes.
std::string numbers_of(const Amounts& a) {
  std::string out = "calls " + amount_text(a.calls + a.polls);
  if (a.bytes > 0) out += ", bytes " + amount_text(a.bytes, "bytes");
  if (two_sided(a) > 0) out += ", messages " + amount_text(two_sided(a));
  if (a.one_sided > 0) out += ", one-sided transfers " + amount_text(a.one_sided);
  return a.failed > 0 ? out + ", failed " + amount_text(a.failed) : out;
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

void add_number(std::string& out, std::string_view name, double before, double after,
                std::string_view unit) {
  if (change_text(before, after) == "=") return;
  out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, arrow_text(before, after, unit));
}

std::string numbers_of(const CallChange& c) {
  if (c.change != Change::kChanged) return numbers_of(c.is_after ? c.after : c.before);
  std::string out;
  add_number(out, "calls", c.before.calls, c.after.calls, "");
  add_number(out, "bytes", c.before.bytes, c.after.bytes, "bytes");
  add_number(out, "messages", two_sided(c.before), two_sided(c.after), "");
  add_number(out, "one-sided transfers", c.before.one_sided, c.after.one_sided, "");
  add_number(out, "failed", c.before.failed, c.after.failed, "");
  return out.empty() ? "calls " + amount_text(c.after.calls) + ", other parameters" : out;
}

std::vector<DiffAmount> amounts_of(const Amounts& before, const Amounts& after) {
  return {{"calls", before.calls + before.polls, after.calls + after.polls, ""},
          {"bytes", before.bytes, after.bytes, "bytes"},
          {"messages", two_sided(before), two_sided(after), ""},
          {"one-sided transfers", before.one_sided, after.one_sided, ""},
          {"failed", before.failed, after.failed, ""}};
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
