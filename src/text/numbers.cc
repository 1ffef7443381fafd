#include "text/numbers.h"

#include <fmt/format.h>

#include <array>

namespace refrain::text {
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

std::string signed_text(double v, int digits) {
  std::string text = fmt::format("{:+.{}f}", v, digits);
  if (text.find_first_of("123456789infa") == std::string::npos) text[0] = '+';
  return text;
}

std::string rank_list_text(const base::RunList& ranks, size_t max_runs) {
  std::string text;
  size_t shown = 0;
  for (const base::RunList::Run& run : ranks.runs()) {
    if (!text.empty()) text += ", ";
    if (shown++ == max_runs) return text + "...";
    text += std::to_string(run.start);
    if (run.count == 1) continue;
    const bool is_pair = run.count == 2 && run.step != 1;
    text += fmt::format("{}{}", is_pair ? ", " : "-", ranks.at(run.before + run.count - 1));
    if (is_pair) continue;
    if (run.step != 1) text += fmt::format(":{}", run.step);
  }
  return text;
}

std::string ratio_text(double v) {
  return v < 999.5 ? fmt::format("{:.3g}", v) : count_text(rounded(v));
}

std::string duration_text(uint64_t ns) {
  const auto v = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  // What rounds to 1000 is 1 of the next unit.
  if (ns < 999'500) return fmt::format("{:.3g} us", v / 1e3);
  if (ns < 999'500'000) return fmt::format("{:.3g} ms", v / 1e6);
  return fmt::format("{:.2f} s", v / 1e9);
}

std::string time_text(double ns) { return duration_text(rounded(ns)); }

}  // namespace refrain::text
