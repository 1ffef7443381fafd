#include "report/units.h"

#include <fmt/format.h>

#include <array>

namespace refrain::report {
namespace {

// Three significant digits.
std::string short_number(double v) {
  if (v >= 100) return fmt::format("{:.0f}", v);
  return v >= 10 ? fmt::format("{:.1f}", v) : fmt::format("{:.2f}", v);
}

}  // namespace

uint64_t rounded(double v) {
  if (!(v > 0)) return 0;
  constexpr double kEnd = 0x1p64;
  return v + 0.5 < kEnd ? static_cast<uint64_t>(v + 0.5) : UINT64_MAX;
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double v = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; v >= 999.5 && unit + 1 < kUnits.size(); ++unit) v /= 1024;
  return short_number(v) + " " + kUnits[unit];
}

std::string percent_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

}  // namespace refrain::report
