// One line of a text report: a label, and what belongs to it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "text/display.h"
#include "text/escape.h"

namespace refrain::report {

// Columns of a label; a space stands before its value.
inline constexpr int kLabel = 10, kLongLabel = 12;

// Appends "  method     signatures\n".
inline void add_line(std::string& out, std::string_view label, std::string_view value,
                     int width = kLabel) {
  out += fmt::format("  {:<{}} {}\n", label, width, text::printable(value));
}

// Such lines, broken where display() is too narrow: what goes on begins where values do.
inline std::string fitted_lines(std::string_view lines, int width = kLabel) {
  return text::paragraph(lines, 2 + static_cast<size_t>(width) + 1);
}

}  // namespace refrain::report
