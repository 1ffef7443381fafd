// Numbers of two runs beside each other.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/diff_rows.h"
#include "report/info_text.h"
#include "report/units.h"

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
  if (std::abs(v - std::round(v)) < 1e-6 || std::abs(v) >= 1e6) return count_text(rounded(v));
  return fmt::format("{:.2f}", v);
}

std::string amount_text(double v, std::string_view unit) {
  if (unit == "bytes") return bytes_text(rounded(v));
  if (unit == "ns") return duration_text(rounded(v));
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

}  // namespace refrain::report
